"""Places that are not followed: of a source whose starvation is known in closed form, as in `test_sessions`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_sessions import EVERY, arrivals, filled, starved

from tcpstream.playout.leaps import PATTERNS, followed
from tcpstream.playout.measures import measures
from tcpstream.playout.player_moves import PlayerMoves
from tcpstream.playout.sessions import sessions

PACKETS, START, RESUME, TOP, STEADY = 4000, 12, 8, 500.0, 12.0

FADING = np.linspace(0, 1, 1001)


def multiplied(pattern, fading):
    """What a pattern makes of something that fades by a factor in each stretch."""
    return np.prod([(1 + leap) * fading - leap for leap in pattern], axis=0)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_should_fade_does(pattern):
    covered = len(pattern) + sum(pattern)
    assert np.abs(multiplied(pattern, FADING) - FADING**covered).max() <= 0.25
    assert np.abs(multiplied(pattern, 0.25 * np.exp(1j * np.pi * FADING))).max() <= 0.25


def seen(rho, steady):
    on = replace(EVERY, sparse=16)
    moves = PlayerMoves(arrivals(rho), on, measures(2, np.array([0.999]), 1, 1))
    return sessions(moves, PACKETS, [START], RESUME, TOP, 10, steady=steady)


@pytest.mark.parametrize("rho", [0.99, 1.0, 1.02])
def test_leaps_change_little(rho):
    """P(no stall) is that of the ballot theorem, and numbers of stalls are those of all places followed."""
    assert followed(PACKETS, 16, STEADY) < 0.7 * PACKETS
    leapt, all_places = (seen(rho, steady) for steady in (STEADY, np.inf))
    unstalled = sum(chance * (1 - starved(held, rho, PACKETS).sum()) for held, chance in enumerate(filled(START, rho)))
    assert leapt.seen[-1, 0, 0] != all_places.seen[-1, 0, 0]
    assert leapt.seen[-1, 0, 0] == pytest.approx(unstalled, rel=1e-2)
    np.testing.assert_allclose(leapt.seen[-1, 0], all_places.seen[-1, 0], rtol=1e-2)
