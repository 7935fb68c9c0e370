"""A ladder of lattices of the backlog, whose quanta grow with it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..kernels.backlog_moves import transfer
from ..numerics.weights import lagrange
from .ways import Ways

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CELLS = 144
"""Positions up to which a lattice is used."""

FACTOR = 4
"""Between the quanta of neighbouring lattices."""

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

    def allocate(self, entries: int, width: int) -> None:
        """Make its rows: what is there, what comes, and what is there with all that lies lower."""
        self.width = width
        self.rows, self.new, self.all = (np.zeros((entries, width)) for _ in range(3))
        self.backlogs = (np.arange(width) - self.base) * self.quantum + self.above[:, np.newaxis]

    def places(self, backlogs: Floats) -> tuple[Ints, Floats]:
        """Return the four positions that stand for backlogs, by row, and their weights."""
        x = (backlogs - self.above[:, np.newaxis]) / self.quantum + self.base
        first = np.clip(np.floor(x).astype(np.int64) - 1, 0, self.width - 4)
        nodes: Floats = np.arange(4.0) - 1
        weights = lagrange(np.broadcast_to(nodes, (x.size, 4)), (x - first - 1).ravel())
        return first, weights.reshape(*x.shape, 4)


class Ladder:
    """Levels, finest first; a vector holds the probability at rest of each entry, then the levels' own positions."""

    def __init__(self, ways: Ways, quantum: float, depth: float) -> None:
        self.entries = ways.steps.entries
        wide = 4 * math.sqrt(max(float(ways.variance.max()), float(ways.after_variance.max())))
        self.levels: list[Level] = []
        first = 0
        while True:
            end = min(CELLS, math.ceil(depth / quantum))
            self.levels.append(Level(ways, quantum, first, end, wide))
            if end * quantum >= depth:
                break
            quantum, first = quantum * FACTOR, CELLS // FACTOR
        self.size = self.entries * (1 + sum(one.end - one.first for one in self.levels))
        self.rest = np.zeros(self.entries)

    def allocate(self, ups: list[int]) -> None:
        """Make rows with room for so many positions above those of each level."""
        for level, up in zip(self.levels, ups):
            level.allocate(self.entries, level.end + up + MARGIN)
        self._up = [high.places(low.backlogs) for low, high in zip(self.levels, self.levels[1:])]
        self._down = [low.places(high.backlogs) for low, high in zip(self.levels, self.levels[1:])]

    def load(self, vector: Floats) -> None:
        """Take what a vector holds, and clear what comes."""
        self.rest[:] = vector[: self.entries]
        at = self.entries
        for one in self.levels:
            one.rows[:] = 0.0
            one.new[:] = 0.0
            size = one.end - one.first
            one.rows[:, one.first : one.end] = vector[at : at + self.entries * size].reshape(self.entries, size)
            at += self.entries * size
            one.all[:] = one.rows
        for low, high, (at_up, weights) in zip(self.levels, self.levels[1:], self._up):
            transfer(low.all, high.all, 0, low.end, at_up, weights)

    def store(self, rest: Floats) -> Floats:
        """Return what has come as a vector; what lies on no own position passes to the neighbouring level."""
        for low, high, (at, weights) in zip(self.levels, self.levels[1:], self._up):
            transfer(low.new, high.new, low.end, low.width, at, weights)
            low.new[:, low.end :] = 0.0
        last = self.levels[-1]
        last.new[:, last.end - 1] += last.new[:, last.end :].sum(axis=1)
        for low, high, (at, weights) in zip(self.levels[-2::-1], self.levels[:0:-1], self._down[::-1]):
            transfer(high.new, low.new, 0, high.first, at, weights)
        return np.concatenate([rest, *(one.new[:, one.first : one.end].ravel() for one in self.levels)])
