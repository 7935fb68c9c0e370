"""Laws that are shifted, whole and between two steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream.kernels.shifts import gather, put, scatter


@given(st.integers(-12, 12), st.integers(1, 9))
def test_put(start, length):
    mass = np.arange(1.0, length + 1)
    target, expected = np.ones(6), np.ones(6)
    put(target, mass, start, 0.5)
    for k, value in enumerate(mass):
        if k + start >= 0:
            expected[min(k + start, 5)] += 0.5 * value
    np.testing.assert_allclose(target, expected)


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=3), st.integers(1, 3))
def test_gather_and_scatter(shifts, steps_per_packet):
    """Shifts are made of multiples of the stride, and right on average away from the ends."""
    n, middle = 60, 30
    shifts = np.array(shifts)
    for h, shift in enumerate(shifts):
        rows, total = np.zeros((len(shifts), n)), np.empty(n)
        rows[h, middle] = 1.0
        gather(rows, shifts, steps_per_packet, total)
        assert total.sum() == pytest.approx(1)
        assert total @ np.arange(n) == pytest.approx(middle + shift)
        assert ((np.flatnonzero(total) - middle) % steps_per_packet == 0).all()
        back = np.zeros_like(rows)
        scatter(rows[h], np.full(len(shifts), 0.5), shifts, steps_per_packet, back)
        np.testing.assert_allclose(back[h], total / 2)
