"""Levels of a large buffer on several grids: beside levels that are all a step apart."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tcpstream.playout.segment_clock import Clock
from tcpstream.playout.segment_downloads import Downloads
from tcpstream.playout.segment_levels import Grid, Levels, grids_of, on_coarse_steps, reaches
from tcpstream.playout.segment_sessions import ANY, FETCHING, IDLE, MEAN, STALLED, SegmentPass


@pytest.mark.parametrize("room", [640.0, 643.7])
def test_several_grids_beside_one(room):
    """Two points: from the second one, downloads take twice as long; an idle time leads to it."""
    rounds = np.arange(1, 120)
    law = rounds**2 * np.exp(-rounds / 4.5)
    slow = rounds**3 * np.exp(-rounds / 6)
    chance = np.zeros((len(rounds), 2, 2))
    chance[:, 0] = np.outer(law / law.sum(), [0.9, 0.1])
    chance[:, 1] = np.outer(slow / slow.sum(), [0.8, 0.2])
    found = Downloads(chance, [np.eye(2), np.array([[0.3, 0.7], [0.0, 1.0]])], 0, 0.0)
    clock = Clock(0.1, 16, room, 0.1, 0.4)
    grids = grids_of(reaches(room / 16, 16, 256), room, 16, 1.0)
    assert sum(grid.size for grid in grids) < room / 1.5
    one, several = (
        SegmentPass(found, clock, 2, np.array([0.001]), on).run(60, [np.array([0.6, 0.4])] * 41)
        for on in (None, grids)
    )  # fmt: skip
    for column in (ANY, MEAN, STALLED):
        assert several.seen[..., column] == pytest.approx(one.seen[..., column], rel=1e-3, abs=1e-6)
    assert several.seen[..., FETCHING] == pytest.approx(one.seen[..., FETCHING], rel=0.02)
    assert several.seen[-1, -1, IDLE] == pytest.approx(
        one.seen[-1, -1, IDLE], rel=0.15
    )  # levels are 4 steps apart there, as long as the timer


def test_cubic_polynomials_are_read_as_they_are():
    grids = [Grid(0.0, 1, 33), Grid(0.0, 4, 33), Grid(86.3, 4, 10)]
    levels = Levels(grids)
    places = np.concatenate([grid.low + grid.apart * np.arange(grid.size) for grid in grids])
    media = [0.0, 17.0, 33.1, 54.9, 86.3, 101.7, 122.3]
    assert levels.read(media) @ places**3 == pytest.approx(np.power(media, 3))


@pytest.mark.parametrize("steps", [0.23, 1.0, 3.7])
def test_coarse_steps_keep_three_moments(steps):
    chance = np.array([0.5, 0.3, 0.15, 0.05])[:, np.newaxis, np.newaxis]
    found = on_coarse_steps(chance, steps)[:, 0, 0]
    times, exact = np.arange(-1, len(found) - 1), steps * np.arange(1, 5)
    for power in range(4):
        moment = math.fsum(chance[:, 0, 0] * exact**power)
        assert found @ times.astype(float) ** power == pytest.approx(moment)
