"""How far a backlog exceeds a level, against the sum over its levels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream.numerics.lattices import Lattice
from tcpstream.numerics.stop_loss import Excess

LAWS = st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=8)


@given(
    law=LAWS,
    steps_per_packet=st.integers(1, 3),
    trace=st.sampled_from([0, 1]),
    y=st.floats(0, 10),
    more=st.floats(0, 10),
)
def test_by_its_definition(law, steps_per_packet, trace, y, more):
    """With a trace, level k holds a trace more than k - 1 steps."""
    excess = Excess.of(np.array(law), Lattice(1, steps_per_packet, trace))
    backlog = (np.arange(len(law)) - trace) / steps_per_packet
    z = y + more
    assert excess.over(y) == pytest.approx(law @ np.maximum(backlog - y, 0), rel=1e-9, abs=1e-12)
    assert excess.between(y, z) == pytest.approx(law @ np.clip(backlog - y, 0, z - y), rel=1e-9, abs=1e-12)


def test_by_hand():
    """An empty backlog, half a packet, a packet: 1/2, 1/4, 1/4."""
    excess = Excess.of(np.array([0.5, 0.25, 0.25]), Lattice(1, 2))
    assert [excess.over(y) for y in (0.0, 0.25, 0.5, 1.0, 7.0)] == [0.375, 0.25, 0.125, 0.0, 0.0]
    assert excess.between(0.25, 0.5) == 0.125
