"""A ladder of lattices of the backlog, whose quanta grow with it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.backlog_moves import Lattices, spread_out
from .resolution import COARSER_BY
from .ways import Ways

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CELLS = 144
"""Positions up to which a lattice is used."""

REACH = 48
"""Positions that a way may change the backlog by on a level: longer ones are taken on coarser levels."""

MARGIN = 8
"""Positions to spare."""


class Level:
    """One lattice: rows of entries, at positions from `base`; its own are ``first .. end - 1``."""

    def __init__(self, ways: Ways, quantum: float, first: int, end: int, wide: float) -> None:
        steps = ways.steps
        self.quantum = quantum
        self.above = np.asarray((ways.due * steps.grid.ages - steps.grid.sent) % quantum)[steps.points]
        self.base = MARGIN + math.ceil(min(wide / quantum, REACH))
        self.first, self.end = self.base + first if first else 0, self.base + end
        self.width = self.end

    @property
    def own(self) -> slice:
        """Its own positions."""
        return slice(self.first, self.end)

    @property
    def backlogs(self) -> Floats:
        """Of its positions, for each entry [packets]."""
        return (np.arange(self.width) - self.base) * self.quantum + self.above[:, np.newaxis]


class Held(NamedTuple):
    """What entries hold on all positions of each level: on the level itself, and with all that lies lower."""

    rows: list[Floats]
    lower: list[Floats]


class Ladder:
    """Levels, finest first.

    A vector has a row for each entry: the probability at rest, then the levels' own positions.
    """

    def __init__(self, ways: Ways, quantum: float, depth: float) -> None:
        self.entries = ways.steps.entries
        variances = ways.variance, ways.from_rest.variance, ways.from_empty.variance
        wide = 4 * math.sqrt(max(float(one.max()) for one in variances))
        self.levels: list[Level] = []
        first = 0
        while True:
            end = min(CELLS, math.ceil(depth / quantum))
            self.levels.append(Level(ways, quantum, first, end, wide))
            if end * quantum >= depth:
                break
            quantum, first = quantum * COARSER_BY, CELLS // COARSER_BY
        self.size = 1 + sum(one.end - one.first for one in self.levels)

    def lattices(self, ups: list[int]) -> Lattices:
        """Return the levels with room for so many positions above those of each; they are as wide from now on."""
        levels = self.levels
        width = 0
        for one, up in zip(levels, ups):
            one.width = max(one.end + up, one.base + math.ceil(width / COARSER_BY)) + MARGIN
            width = one.width
        columns = [(one.base, one.first, one.end, one.width) for one in levels]
        bases, firsts, ends, widths = (np.array(column, dtype=np.int64) for column in zip(*columns))
        own, at = 1 + np.cumsum(ends - firsts) - (ends - firsts), np.cumsum(widths) - widths
        quanta, above = np.array([one.quantum for one in levels]), np.array([one.above for one in levels])
        self._lattices = Lattices(quanta, bases, firsts, ends, widths, own, at, above)
        return self._lattices

    def one_round(self, entries: Floats, due: float) -> Floats:
        """Return a vector with a backlog of the packets of a round, for probabilities of entries."""
        vector, finest = np.zeros((self.entries, self.size)), self.levels[0]
        vector[:, 1 + finest.base - finest.first + round(due / finest.quantum)] = entries
        return vector

    def spread_out(self, vector: Floats) -> Held:
        """Return what a vector holds on all positions."""
        at = self._lattices.at[1:]
        rows, lower = spread_out(vector, self._lattices)
        return Held(np.split(rows, at, axis=1), np.split(lower, at, axis=1))
