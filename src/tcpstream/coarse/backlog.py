"""One step of the backlog of a live stream: a linear map of vectors of a `Ladder`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.backlog_moves import below_floors, free_moves, land, resting_below
from ..kernels.on_lattice import on_lattice
from .ladder import REACH, Ladder
from .ways import Ways

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BELOW = 4
"""Positions below an empty backlog that are used: what lies between two stands on four."""


@dataclass(frozen=True)
class _Moves:
    sources: Ints
    targets: Ints
    shifts: Ints
    starts: Ints
    taps: Floats
    floors: Ints

    @property
    def up(self) -> int:
        """Positions that they move up at most."""
        return int((self.shifts + np.diff(self.starts)).max(initial=0))


@dataclass(frozen=True)
class _Landings:
    """Where ways from rest end, on one level."""

    which: Ints
    targets: Ints
    shifts: Ints
    starts: Ints
    taps: Floats


class Backlog:
    """The map that a step makes of the probabilities of entries and backlogs; all ways end with it, however long.

    Parameters
    ----------
    ways : Ways
    quantum, depth : float
        Of the finest lattice, and backlog that is followed [packets].
    """

    def __init__(self, ways: Ways, quantum: float, depth: float) -> None:
        self.ways, self.ladder = ways, Ladder(ways, quantum, depth)
        levels = self.ladder.levels
        taken = self._level(np.abs(ways.change) + 4 * np.sqrt(ways.variance))
        self._own = [self._moves(i, taken < i, floored=False) for i in range(len(levels))]
        self._all = [self._moves(i, taken == i, floored=True) for i in range(len(levels))]
        self._floored = [np.flatnonzero(taken == i) for i in range(len(levels))]
        self._sources = [ways.source[which] for which in self._floored]
        self._floors = [
            np.minimum(self._first(i)[which], levels[i].end) for i, which in enumerate(self._floored)
        ]  # fmt: skip
        ends = np.array([one.end - one.base for one in levels]) * np.array([one.quantum for one in levels])
        spread = 4 * np.sqrt(ways.after_variance)
        landing = np.maximum(np.searchsorted(ends[:-1], ways.after + spread), self._level(spread))
        self._landings = [self._ends(i, (landing == i) & ~ways.to_rest) for i in range(len(levels))]
        ups = [max(own.up, every.up) for own, every in zip(self._own, self._all)]
        for i, one in enumerate(self._landings):
            most = int((one.shifts + np.diff(one.starts)).max(initial=0))
            ups[i] = max(ups[i], most - levels[i].end)
        self.ladder.allocate(ups)

    def step(self, vector: Floats) -> Floats:
        """Return what a step makes of a vector."""
        ways, ladder = self.ways, self.ladder
        ladder.load(vector)
        mass = self.from_rest()
        for i, level in enumerate(ladder.levels):
            own, every = self._own[i], self._all[i]
            free_moves(
                level.rows, level.first, level.end, level.new, own.sources, own.targets, own.shifts, own.starts,
                own.taps, own.floors,
            )  # fmt: skip
            free_moves(
                level.all, 0, level.end, level.new, every.sources, every.targets, every.shifts, every.starts,
                every.taps, every.floors,
            )  # fmt: skip
            one = self._landings[i]
            land(level.new, one.which, mass, one.targets, one.shifts, one.starts, one.taps)
        chance = np.where(ways.to_rest, mass * ways.weight, 0.0)
        return ladder.store(np.bincount(ways.target, chance, ladder.entries).astype(np.float64))

    def from_rest(self) -> Floats:
        """Return the probability of what goes each way as from rest, of the vector that was loaded last."""
        mass = self.ladder.rest[self.ways.source]
        for level, which, sources, floors in zip(self.ladder.levels, self._floored, self._sources, self._floors):
            mass[which] += below_floors(level.all, sources, floors)
        return mass

    def mass_below(self, entries: Ints, highest: Floats) -> Floats:
        """Return the probability of entries with backlogs below some values, of the vector that was loaded last."""
        mass = self.ladder.rest[entries]
        for level in self.ladder.levels:
            own = level.rows[:, level.first : level.end]
            below = np.append(np.zeros((len(own), 1)), np.cumsum(own, axis=1), axis=1)
            count = np.ceil((highest - level.backlogs[entries, level.first]) / level.quantum)
            mass += below[entries, np.clip(count, 0, own.shape[1]).astype(np.int64)]
        return mass

    def silence(self) -> float:
        """Return the mean rounds of silence in a step, of the vector that was loaded last."""
        ways = self.ways
        part = self.ladder.rest[ways.source]
        fall = np.maximum(ways.floor - ways.rest[ways.source], 1e-9 * ways.due)
        for level, which, sources, floors in zip(self.ladder.levels, self._floored, self._sources, self._floors):
            part[which] += resting_below(
                level.all, sources, floors, ways.floor[which], fall[which], level.quantum, level.above, level.base
            )
        return float((part * ways.weight * ways.silent).sum())

    def _level(self, size: Floats) -> Ints:
        """Return the finest level on which a distance [packets] is within reach."""
        within = REACH * np.array([one.quantum for one in self.ladder.levels[:-1]])
        return np.searchsorted(within, size).astype(np.int64)

    def _first(self, i: int) -> Ints:
        """Return the first position of a level at the floor of each way or above, not far below an empty backlog."""
        level, ways = self.ladder.levels[i], self.ways
        first: Floats = np.ceil((ways.floor - level.above[ways.source]) / level.quantum - 1e-9) + level.base
        return np.maximum(first, level.base - BELOW).astype(np.int64)

    def _moves(self, i: int, used: NDArray[np.bool_], floored: bool) -> _Moves:
        """Return moves on a level for some ways, those with the same ends and floors together."""
        level, ways, mine = self.ladder.levels[i], self.ways, np.flatnonzero(used)
        floors = self._first(i)[mine] if floored else np.zeros(len(mine), dtype=np.int64)
        source, target = ways.source[mine], ways.target[mine]
        F = int(floors.max(initial=0)) + 1
        keys, key = np.unique(target * F + floors, return_inverse=True)
        change = ways.change[mine] + level.above[source] - level.above[target]
        sources, targets, shifts, starts, taps = on_lattice(
            source, key.ravel(), ways.weight[mine], change, ways.variance[mine], level.quantum, max(len(keys), 1)
        )
        ends = keys[targets]
        return _Moves(sources, ends // F, shifts, starts, taps, ends % F)

    def _ends(self, i: int, used: NDArray[np.bool_]) -> _Landings:
        """Return where some ways end from rest, on a level."""
        level, ways, mine = self.ladder.levels[i], self.ways, np.flatnonzero(used)
        target = ways.target[mine]
        which, targets, shifts, starts, taps = on_lattice(
            np.arange(len(mine)), target, ways.weight[mine], ways.after[mine] - level.above[target],
            ways.after_variance[mine], level.quantum, self.ladder.entries,
        )  # fmt: skip
        return _Landings(mine[which], targets, shifts + level.base, starts, taps)
