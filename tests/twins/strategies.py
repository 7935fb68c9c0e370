"""Random paths and videos, small enough for the explicit chain."""

from hypothesis import strategies as st

from tcpstream import Path, Varying
from tcpstream.errors import unremarked

RTT = 0.125
"""A power of two, so that m = mu R is exact."""


@st.composite
def paths(draw, largest_loss=0.4, largest_window=9, largest_ratio=4.0, smallest_loss=0.01):
    """Both halvings and back-offs, b = 1 and 2, windows from 1, whole and fractional timeout ratios from 1."""
    with unremarked():
        return Path(
            sender="classic",
            loss=draw(st.floats(smallest_loss, largest_loss)),
            rtt=RTT,
            timeout_ratio=draw(st.one_of(st.integers(1, int(largest_ratio)), st.floats(1, largest_ratio))),
            max_window=draw(st.integers(1, largest_window)),
            rounds_per_increase=draw(st.sampled_from([1, 2])),
            backoff=draw(st.sampled_from(["rfc6298", "paper"])),
            halving=draw(st.sampled_from(["floor", "ceil"])),
        )


@st.composite
def varying_paths(draw, largest_window=6):
    """One to three regimes of Reno or CUBIC with SACK, with and without bottlenecks, small windows and short stays."""
    k = draw(st.integers(1, 3))
    tcp = draw(st.sampled_from(["reno-sack", "cubic"]))
    sender = {"tcp": tcp, "rto": draw(st.sampled_from([0.125, 0.3, 0.5]))}
    sender |= {"initial_window": draw(st.sampled_from([None, 2]))}
    narrow = draw(st.booleans())
    if not narrow:
        sender["max_window"] = draw(st.integers(2, largest_window))
        sender["rounds_per_increase"] = draw(st.sampled_from([1, 2])) if tcp == "reno-sack" else 1
    with unremarked():
        regimes = [
            Path(
                loss=draw(st.floats(0.02, 0.3)),
                rtt=RTT,
                **sender,
                **({"bottleneck": draw(st.integers(2, 4)) / RTT, "buffer": draw(st.integers(0, 2))} if narrow else {}),
            )
            for _ in range(k)
        ]
    stays = [draw(st.floats(0.2, 5.0)) for _ in range(k)]
    return Varying(regimes, stays, start=draw(st.sampled_from([None, *range(k)])))
