"""Anderson mixing, on maps whose fixed point is known."""

from __future__ import annotations

import numpy as np
import pytest

from tcpstream.stationary.mixing import MEMORY, Mixing


def distance(slow: np.ndarray, steps: int, mixing: Mixing | None) -> float:
    """Return how far from its fixed point, 1, an iteration is that leaves so much of each error."""
    rng = np.random.default_rng(4)
    turn = np.linalg.qr(rng.standard_normal((len(slow), len(slow))))[0]
    x = rng.standard_normal(len(slow))
    for _ in range(steps):
        image = 1 + turn @ (slow * (turn.T @ (x - 1)))
        x = mixing.next(x, image) if mixing else image
    return float(np.abs(x - 1).max())


def test_slow_waves_are_gone_after_a_step_each():
    slow = np.array([0.99, 0.9, 0.8, -0.95, 0.5])
    assert distance(slow, 60, None) > 0.1
    assert distance(slow, 12, Mixing()) < 1e-6


@pytest.mark.parametrize("many", [3 * MEMORY, 10 * MEMORY])
def test_more_waves_than_are_remembered(many):
    slow = np.linspace(0, 0.95, many)
    assert distance(slow, 80, Mixing()) < distance(slow, 80, None) / 100


def test_what_a_map_keeps_stays():
    """Images whose sums are 1 are mixed to a sum of 1."""
    rng = np.random.default_rng(5)
    mixing = Mixing()
    for _ in range(2 * MEMORY):
        place, image = rng.random(20), rng.random(20)
        assert mixing.next(place, image / image.sum()).sum() == pytest.approx(1, abs=1e-10)
