"""Rows of values over leads, as they are read at the start of a video."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream.coarse.lead_level import between
from tcpstream.coarse.never_late import _at


@given(st.lists(st.floats(0, 1), min_size=8, max_size=30), st.integers(0, 3), st.floats(0.3, 5), st.floats(0, 1.1))
def test_a_value_of_a_row_is_the_cubic_where_that_does_not_overshoot(values, ghosts, quantum, share):
    row, end = np.sort(values), len(values)
    lead = share * (end - ghosts) * quantum
    (first,), (weights,) = between(np.array([lead]), quantum, ghosts, end)
    below = min(max(int(lead / quantum) + ghosts, first), first + 2)
    slow = np.clip(weights @ row[first : first + 4], row[below], row[below + 1])
    assert _at(row, lead, quantum, ghosts, end) == pytest.approx(float(slow), abs=1e-12)
