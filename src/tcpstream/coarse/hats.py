"""What is slow in a backlog: long waves, as a chain of a few dozen hats moves them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .backlog import Backlog

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FINEST, WIDER = 12, 1.15
"""Positions from hat to hat at least, and how much wider each is than the one before."""

SMALLEST = 1e-10
"""Of the singular values of the chain of hats, relative to the largest: less is none."""


class Hats:
    """A correction for long waves, which rounds of turns hardly move.

    A wave is long in D + g, with the outlook g of an entry: changes of it are uncorrelated from one turn to the next,
    so that one tells how waves spread. The regimes of a path that varies have hats of their own: they last, too.

    Parameters
    ----------
    backlog : Backlog
    """

    def __init__(self, backlog: Backlog) -> None:
        ladder, entries, rest = backlog.ladder, backlog.entries, backlog.ways.rest
        turns = entries.turns
        regime, share = _regimes(backlog)[turns], entries.stationary[turns]
        outlook = _within(regime, entries.outlook[turns], share)
        finest = ladder.levels[0].quantum
        columns = [((rest[turns] + outlook)[:, np.newaxis], (rest[turns] > 0)[:, np.newaxis] * finest)]
        for level in ladder.levels:
            own = level.backlogs[turns, level.own] + outlook[:, np.newaxis]
            columns.append((own, np.full(own.shape, level.quantum)))
        values, sizes = (np.concatenate(one, axis=1) for one in zip(*columns))
        mean = float(share @ outlook)
        apart = math.sqrt(float(share @ (outlook - mean) ** 2))
        width = max(FINEST * finest, apart / 2)  # shorter waves are forgotten in a few turns
        deepest = (ladder.levels[-1].end - ladder.levels[-1].base) * ladder.levels[-1].quantum
        knots = [-2 * width]
        while knots[-1] < deepest:
            knots.append(knots[-1] + width)
            width *= WIDER
        at = np.array(knots)
        place = np.interp(values, at, np.arange(len(at))).ravel()
        self._shares = (share[:, np.newaxis] * sizes).ravel()
        low = np.minimum(place.astype(np.int64), len(at) - 2)
        self._high_share = place - low
        self._low = np.repeat(regime * len(at), values.shape[1]) + low
        self._count = len(at) * (int(regime.max()) + 1)
        whole = self.restricted(self._shares)[self._low]
        self._shares = np.where(whole > 0, self._shares / np.where(whole > 0, whole, 1.0), 0.0)
        hats = [self.prolonged(row) for row in np.eye(self._count)]
        total = np.array([self.restricted(one) for one in hats]).T
        moved = np.array([self.restricted(one - backlog.turn(one)) for one in hats]).T
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
        """Return about all later turns of a vector together: of what is long as the hats move, of the rest itself."""
        return vector + self.prolonged(self._inverse @ self.restricted(vector))


def _regimes(backlog: Backlog) -> Ints:
    """Return the number of the regime of each entry, 0 where a path does not vary and before one is known."""
    steps = backlog.ways.steps
    return steps.chain.regime_of(steps.grid.states[steps.points])


def _within(regime: Ints, outlook: Floats, share: Floats) -> Floats:
    """Return the outlook of entries less what tells regimes apart."""
    regimes = int(regime.max()) + 1
    if regimes == 1:
        return outlook
    whole = np.bincount(regime, share, regimes)
    means = np.bincount(regime, share * outlook, regimes) / np.where(whole > 0, whole, 1.0)
    return np.asarray(outlook - (means - share @ outlook)[regime])
