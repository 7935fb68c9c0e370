"""Transforms of a random walk on a half line, against its matrix."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tcpstream.stationary.random_walk import HalfLine, next_fast


def test_lengths_of_transforms():
    """Even, products of 2s and one of 1, 3, 5, 9: the next of them."""
    fast = sorted(factor << k for factor in (1, 3, 5, 9) for k in range(1, 14))
    for points in range(1, 5000):
        assert next_fast(points) == next(length for length in fast if length >= points)


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_half_line(seed):
    """A walk with drift to 0, against its matrix."""
    rng = np.random.default_rng(seed)
    n, points, tilt = 60, 4096, 0.02
    jumps = np.arange(-8, 6)
    law = rng.random(len(jumps))
    law[:8] *= 5
    law /= law.sum()
    waves = tilt + 2j * np.pi / points * np.arange(points // 2 + 1)
    walk = HalfLine(np.exp(np.outer(waves, jumps)) @ law, tilt)
    walk.cut(n)
    far = 400
    moves = sum(weight * np.eye(far, k=jump) for jump, weight in zip(jumps, law))
    start = rng.random(n)
    visits = np.linalg.solve(np.eye(far) - moves.T, np.pad(start, (0, far - n)))
    # mass that is above n only on the way counts: the walk is not cut there
    np.testing.assert_allclose(walk.visits(start), visits[:n], rtol=1e-9)
    waiting = moves.copy()
    waiting[:, 0] += 1 - moves.sum(axis=1)
    waiting[-8:, 0] = 1 - waiting[-8:, 1:].sum(axis=1)
    balance = np.eye(far) - waiting.T
    balance[-1] = 1
    expected = np.linalg.solve(balance, np.eye(far)[-1])
    np.testing.assert_allclose(walk.stationary()[:n], expected[:n], rtol=1e-6, atol=1e-13)
