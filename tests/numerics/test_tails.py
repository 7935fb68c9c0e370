"""Means from tails: the bracket holds the mean."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream import AccuracyError
from tcpstream.numerics.tails import Tail


def exactly(tail):
    return lambda x: (tail(x), np.zeros_like(x))


@given(st.floats(0.01, 100), st.floats(0, 5), st.floats(0.01, 1))
def test_an_exponential(mean, begin, step):
    found, error = Tail(exactly(lambda x: np.exp(-x / mean)), step).mean(begin, lambda y: y, 0.01)
    expected = mean * math.exp(-begin / mean)
    assert abs(found - expected) <= error <= 0.012 * expected


def test_a_staircase():
    values = np.array([0.5, 2.0, 7.0])
    tail = Tail(exactly(lambda x: (values > x[:, np.newaxis]).mean(axis=1)), 0.1)
    found, error = tail.mean(0.0, lambda y: y / (y + 10), 0.01)
    assert abs(found - (values / (values + 10)).mean()) <= error + 1e-12 < 0.01


def test_what_is_not_known_of_the_tail_counts():
    tail = Tail(lambda x: (np.exp(-x), np.full_like(x, 1e-3)), 0.1)
    found, error = tail.mean(0.0, lambda y: y, 0.01)
    assert abs(found - 1) + 5e-3 < error


def test_values_are_asked_for_once():
    asked = []

    def curve(x):
        asked.extend(x.tolist())
        return np.exp(-x), np.zeros_like(x)

    tail = Tail(curve, 0.1)
    assert tail.mean(0.0, lambda y: y, 0.01)[0] == tail.mean(0.0, lambda y: y, 0.01)[0]
    assert len(asked) == len(set(asked))


def test_nothing_is_late():
    assert Tail(exactly(np.zeros_like), 0.1).mean(0.0, lambda y: y, 0.01) == (0, 0)


def test_a_tail_without_end_is_refused():
    with pytest.raises(AccuracyError, match="does not end"):
        Tail(exactly(np.ones_like), 0.1).mean(0.0, lambda y: y, 0.01)
