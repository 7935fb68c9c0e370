"""Crossings of zero."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream.numerics.roots import crossing

CURVES = {
    "line": lambda x: x,
    "flat then steep": lambda x: math.expm1(40 * x) + 1e-3 * x,
    "root of order three": lambda x: x**3,
    "bend": lambda x: x if x < 0 else 1e6 * x,
    "steps": lambda x: math.floor(8 * x) + 0.5,
}


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
@given(low=st.floats(-3, -1e-3), high=st.floats(1e-3, 3), sign=st.sampled_from([1, -1]))
def test_crossing(curve, low, high, sign):
    calls = []

    def gap(x):
        calls.append(x)
        return sign * curve(x)

    found = crossing(gap, low, high, 1e-9)
    assert abs(found) <= 1e-9 or gap(found) == 0
    assert len(calls) < 110  # three for each halving at most


def test_an_end_may_be_the_root():
    assert crossing(lambda x: x, 0, 1, 1e-9) == 0
    assert crossing(lambda x: x - 1, 0, 1, 1e-9) == 1


@pytest.mark.parametrize(
    ("curve", "low", "high", "most"),
    [
        (lambda x: 3 * x - 1, 0, 100, 4),
        (lambda x: math.sin(x + 0.2), -1, 2, 14),
        (lambda x: math.log(x + 1), 3, -0.5, 14),
    ],
)
def test_smooth_curves_take_few_steps(curve, low, high, most):
    """Halving alone takes 33 and more."""
    calls = []
    found = crossing(lambda x: calls.append(x) or curve(x), low, high, 1e-9)
    assert abs(curve(found)) < 1e-8
    assert len(calls) <= most


@pytest.mark.parametrize("scale", [1, 0.1, -1])
def test_no_crossing_is_an_error(scale):
    with pytest.raises(ValueError, match="no crossing between 1 and 2"):
        crossing(lambda x: scale * x, 1, 2, 1e-9)
