"""What is slow in a backlog: long waves, as a chain of a few dozen hats moves them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..numerics import linear
from .backlog import Backlog

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FINEST, WIDER = 12, 1.2
"""Positions from hat to hat at least, and how much wider each is than the one before."""

SMALLEST = 1e-10
"""Of the singular values of the chain of hats, relative to the largest: less is none."""


class Hats:
    """A correction for long waves, which steps hardly move.

    A wave is long in D + g, with the g of the entry for which the mean change of D + g in a step is the same everywhere
    (Poisson's equation): steps of it are uncorrelated, so that one step tells how waves spread.

    Parameters
    ----------
    backlog : Backlog
    """

    def __init__(self, backlog: Backlog) -> None:
        ways, ladder = backlog.ways, backlog.ladder
        moves = _matrix(backlog)
        stationary = _stationary(*moves, ladder.entries)
        further = _poisson(backlog, *moves, stationary)
        columns = [(ways.rest + further, stationary * (ways.rest > 0) * ladder.levels[0].quantum)]
        for level in ladder.levels:
            own = level.backlogs[:, level.first : level.end] + further[:, np.newaxis]
            columns.append((own.ravel(), np.repeat(stationary * level.quantum, own.shape[1])))
        mean = float(stationary @ further)
        apart = math.sqrt(float(stationary @ (further - mean) ** 2))
        width = max(FINEST * ladder.levels[0].quantum, apart / 2)  # shorter waves are forgotten in a few steps
        deepest = (ladder.levels[-1].end - ladder.levels[-1].base) * ladder.levels[-1].quantum
        knots = [-2 * width]
        while knots[-1] < deepest:
            knots.append(knots[-1] + width)
            width *= WIDER
        at = np.array(knots)
        values, self._shares = (np.concatenate(one) for one in zip(*columns))
        place = np.interp(values, at, np.arange(len(at)))
        self._low = np.minimum(place.astype(np.int64), len(at) - 2)
        self._high_share = place - self._low
        self._count = len(at)
        whole = self.restricted(self._shares)[self._low]
        self._shares = np.where(whole > 0, self._shares / np.where(whole > 0, whole, 1.0), 0.0)
        hats = [self.prolonged(row) for row in np.eye(self._count)]
        total = np.array([self.restricted(one) for one in hats]).T
        moved = np.array([self.restricted(one - backlog.step(one)) for one in hats]).T
        self._inverse = np.linalg.pinv(moved, rcond=SMALLEST) - np.linalg.pinv(total, rcond=SMALLEST)

    def restricted(self, vector: Floats) -> Floats:
        """Return the mass of a vector in each hat."""
        high = vector * self._high_share
        return np.asarray(
            np.bincount(self._low, vector - high, self._count) + np.bincount(self._low + 1, high, self._count)
        )

    def prolonged(self, hats: Floats) -> Floats:
        """Return the vector of some amount of each hat."""
        low, high = hats[self._low], hats[self._low + 1]
        return np.asarray(self._shares * (low + (high - low) * self._high_share))

    def corrected(self, vector: Floats) -> Floats:
        """Return about all later steps of a vector together: of what is long as the hats move, of the rest itself."""
        return vector + self.prolonged(self._inverse @ self.restricted(vector))


def _matrix(backlog: Backlog) -> tuple[Ints, Ints, Floats]:
    """Return the transitions between entries in a step: source, target and probability."""
    ways, E = backlog.ways, backlog.ladder.entries
    pairs, pair = np.unique(ways.source * E + ways.target, return_inverse=True)
    return pairs // E, pairs % E, np.bincount(pair.ravel(), ways.weight).astype(np.float64)


def _stationary(source: Ints, target: Ints, weight: Floats, E: int) -> Floats:
    """Return the stationary distribution of E entries."""
    states, others = np.arange(E), target < E - 1  # the last balance follows from the others
    found = linear.solve(
        np.concatenate([states[:-1], target[others], np.full(E, E - 1)]),
        np.concatenate([states[:-1], source[others], states]),
        np.concatenate([np.ones(E - 1), -weight[others], np.ones(E)]),
        np.eye(1, E, E - 1)[0],
    )
    return np.maximum(found, 0.0)


def _poisson(backlog: Backlog, source: Ints, target: Ints, weight: Floats, stationary: Floats) -> Floats:
    """Return what an entry adds to the change of the backlog later on, over the mean."""
    ways, E = backlog.ways, backlog.ladder.entries
    change = np.bincount(ways.source, ways.weight * ways.change, E).astype(np.float64)
    change = change - float(stationary @ change)
    usual = int(np.argmax(stationary))
    states, kept = np.arange(E), source != usual
    change[usual] = 0.0  # its equation follows from the others
    return np.asarray(
        linear.solve(
            np.concatenate([states, source[kept]]), np.concatenate([states, target[kept]]),
            np.concatenate([np.ones(E), -weight[kept]]), change,
        )
    )  # fmt: skip
