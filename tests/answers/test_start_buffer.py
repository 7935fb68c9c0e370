"""The smallest start buffer that meets a target, of functions whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream import AccuracyError
from tcpstream.answers.start_buffer import FINE, smallest_start_buffer

MOST = 5000.0


def falling(decay, off=0.0):
    """exp(-buffer / decay) up to the largest buffer, with an error."""
    return lambda buffers: (np.exp(-buffers / decay), np.full(len(buffers), off))


@given(st.floats(0.5, 400), st.floats(1e-6, 0.999), st.floats(1, MOST))
def test_meets_the_target_and_little_less_does_not(decay, wanted, first):
    found = smallest_start_buffer(falling(decay), wanted, first, MOST)
    least = min(max(math.ceil(-decay * math.log(wanted)), 1), MOST)
    assert found == round(found)
    assert least <= found <= max(least + 1, FINE * least + 1)


def test_begins_again_with_smaller_and_with_larger_buffers():
    assert smallest_start_buffer(falling(2.0), 0.5, 3000.0, MOST) == 2
    assert smallest_start_buffer(falling(1e6), 0.5, 1.0, MOST) == MOST


def test_a_target_below_the_error_is_refused():
    assert smallest_start_buffer(falling(10.0, 0.009), 0.01, 20.0, MOST) == 70  # exp(-7) and the error
    with pytest.raises(AccuracyError, match=r"finer than the solve: .* may be off by 0\.02"):
        smallest_start_buffer(falling(10.0, 0.02), 0.01, 20.0, MOST)
