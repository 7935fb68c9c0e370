"""Searches on curves whose answers are known."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream import AccuracyError
from tcpstream.numerics.curves import smallest_delay, smallest_meeting

TOLERANCES = st.sampled_from([1e-6, 1e-3, 0.1])


@given(answer=st.floats(0.5, 1000), power=st.floats(0.2, 5), step=st.floats(0.3, 3), tolerance=TOLERANCES)
def test_smallest_delay(answer, power, step, tolerance):
    """For f = exp(-c x^power) with f = 1e-3 at the answer: not too short, and too long by no more than it says."""

    def curve(x):
        return math.exp(math.log(1e-3) * (x / answer) ** power)

    found = smallest_delay(curve, 1e-3, step, tolerance=tolerance)
    assert curve(found) <= 1e-3
    assert curve(found - 2.01 * tolerance) > 1e-3


def test_where_the_search_starts():
    calls = []
    assert smallest_delay(lambda x: calls.append(x) or 0.5, 0.5, 3.0, low=2.0) == 2.0
    assert calls == [2.0]


def test_a_target_that_is_never_met():
    tried = []

    def curve(x):
        tried.append(x)
        assert len(tried) < 50
        return 1.0

    with pytest.raises(AccuracyError, match=r"no startup delay below 1e\+09 s meets the target of 0\.1"):
        smallest_delay(curve, 0.1, 1.0)
    assert 0.5e9 < max(tried) <= 1e9


@given(answer=st.floats(0.01, 100), tolerance=TOLERANCES)
def test_smallest_meeting(answer, tolerance):
    found = smallest_meeting(lambda x: x >= answer, 0.0, 100.0, tolerance)
    assert answer <= found <= answer + tolerance
