"""Weights of lattice points for what lies between them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream.numerics.weights import cubic, lagrange

VALUES = st.lists(st.floats(-10, 10), min_size=4, max_size=4)


@given(VALUES, st.floats(-2, 3))
def test_the_cubic_at_one_place_is_that_at_many(values, x):
    weights = lagrange(np.array([[-1.0, 0.0, 1.0, 2.0]]), np.array([x]))[0]
    assert cubic(values, x) == pytest.approx(float(weights @ values), rel=1e-12, abs=1e-11)
