"""Waits of a real length, in whole rounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream.tcp.silences import mean_wait, wait


def test_by_hand():
    assert wait(3) == ((3, 1.0),)
    assert wait(2.25) == ((2, 0.75), (3, 0.25))
    assert wait(3 * (1 + 1e-12)) == ((3, 1.0),)  # noise of a quotient of times
    assert mean_wait(((2, 0.75), (3, 0.25))) == 2.25


@given(st.floats(1, 500))
def test_neighbours_keep_the_mean(rounds):
    found = wait(rounds)
    assert sum(share for _, share in found) == pytest.approx(1, rel=1e-15)
    assert mean_wait(found) == pytest.approx(rounds, rel=1e-9)
    assert all(0 < share <= 1 and abs(d - rounds) < 1 for d, share in found)
