"""Random paths and videos, small enough for the explicit chain."""

from hypothesis import strategies as st

from tcpstream import Path
from tcpstream.errors import unremarked

RTT = 0.125
"""A power of two, so that m = mu R is exact."""


@st.composite
def paths(draw, largest_loss=0.4, largest_window=9, largest_ratio=4.0, smallest_loss=0.01):
    """Both halvings and back-offs, b = 1 and 2, windows from 1, whole and fractional timeout ratios from 1."""
    with unremarked():
        return Path(
            loss=draw(st.floats(smallest_loss, largest_loss)),
            rtt=RTT,
            timeout_ratio=draw(st.one_of(st.integers(1, int(largest_ratio)), st.floats(1, largest_ratio))),
            max_window=draw(st.integers(1, largest_window)),
            rounds_per_increase=draw(st.sampled_from([1, 2])),
            backoff=draw(st.sampled_from(["rfc6298", "paper"])),
            halving=draw(st.sampled_from(["floor", "ceil"])),
        )
