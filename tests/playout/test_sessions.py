"""Sessions of a source whose starvation is known in closed form: a Poisson number of packets arrives in each round.

Hold x packets, and play one in each round. Nothing is left first after k packets with probability x / k times that of
k - x arrivals in k rounds: the ballot theorem (L. Takacs, Combinatorial Methods in the Theory of Stochastic Processes,
1967; for players Xu et al., arXiv:1108.0187).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import poisson

from tcpstream.playout.deliveries import Deliveries
from tcpstream.playout.fineness import Fineness
from tcpstream.playout.measures import measures
from tcpstream.playout.player_moves import PlayerMoves, quanta_of
from tcpstream.playout.sessions import join_times, sessions

MOST = 60
"""Packets in a round; more have less than 1e-60."""

EVERY = Fineness(due=1.0, quanta=1, exact=True, sparse=1000, step=1, ratio=1.0, nodes=MOST + 1)
"""Nothing is interpolated, and no arrivals stand for others."""


def arrivals(rho):
    counts = np.arange(MOST + 1)
    none = np.zeros_like(counts)
    chance = poisson.pmf(counts, rho)
    return Deliveries(1, 0, none, none, none + 1, counts, none, none, none > 0, chance / chance.sum())


def starved(held, rho, packets):
    """Probability that nothing is left first after k packets, by k below `packets`."""
    k = np.arange(1, packets)
    return np.append(0.0, held / k * poisson.pmf(k - held, rho * k))


def filled(goal, rho):
    """Law of what is held once it is `goal`, from nothing, with what arrives in a round at a time."""
    at, law, step = np.zeros(goal), np.zeros(goal + MOST), poisson.pmf(np.arange(MOST + 1), rho)
    at[0] = 1.0
    while at.sum() > 1e-18:
        after = np.convolve(at, step)
        law += np.append(np.zeros(goal), after[goal:])[: len(law)]
        at = after[:goal]
    return law


def stalls(rho, packets, start, resume, most):
    """Law of the number of stalls, 0 .. most - 1: what each stall leaves over is a video of its own."""
    found = np.zeros((most, packets + 1, 2))
    for left in range(packets + 1):
        for which, goal in enumerate((resume, start)):
            goal = min(goal, left)
            for held, chance in enumerate(filled(goal, rho) if goal else [1.0]):
                if held >= left:
                    found[0, left, which] += chance
                    continue
                first = starved(held, rho, left)
                found[0, left, which] += chance * (1 - first.sum())
                for k in range(1, left):
                    found[1:, left, which] += chance * first[k] * found[:-1, left - k, 0]
    return found[:, packets, 1]


@pytest.mark.parametrize(("rho", "packets", "start", "resume"), [(1.2, 40, 5, 3), (0.9, 30, 2, 1), (1.0, 25, 8, 12)])
def test_starvation_is_that_of_the_ballot_theorem(rho, packets, start, resume):
    asked = measures(4, np.array([0.5]), 1, 1)
    moves = PlayerMoves(arrivals(rho), EVERY, asked)
    found = sessions(moves, packets, [start], resume, packets + 2.0, packets)
    np.testing.assert_allclose(found.seen[-1, 0, :4], stalls(rho, packets, start, resume, 4), rtol=0, atol=1e-12)
    for length, seen in zip(found.lengths, found.seen[:, 0]):
        if length >= start:  # shorter ones start with less
            first = sum(c * starved(h, rho, int(length)).sum() for h, c in enumerate(filled(start, rho)) if h < length)
            assert 1 - seen[0] == pytest.approx(first, abs=1e-12)


def test_the_join_time_is_a_first_passage():
    law = join_times(quanta_of(arrivals(0.9), EVERY), 0, EVERY, 30, [6])[0]
    past = 1 - poisson.cdf(5, 0.9 * np.arange(1, len(law) + 1))  # six have arrived
    np.testing.assert_allclose(np.cumsum(law), past, rtol=0, atol=1e-11)


def test_kernels_stay_within_their_arrays():
    """Not compiled, an index out of bounds is an error: what hardly ever comes is in none of the totals."""
    case = f"{__file__}::test_starvation_is_that_of_the_ballot_theorem[1.0-25-8-12]"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", case]
    done = subprocess.run(
        command,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]
