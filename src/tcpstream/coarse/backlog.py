"""One step of the backlog of a live stream: a linear map of vectors of a `Ladder`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.backlog_moves import Landings, Shifts, move_on, resting_below
from ..kernels.on_lattice import on_lattice
from .entries import Entries
from .ladder import REACH, Ladder
from .ways import Ways

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BELOW = 4
"""Positions below an empty backlog that are used: what lies between two stands on four."""

WIDE = 8.0
"""Standard deviations of a way within reach on the level on which it is taken: wide ones need no fine lattice."""


class Backlog:
    """The map that a step makes of the probabilities of entries and backlogs; all ways end with it, however long.

    A turn goes on until a move turns back in the order of entries. It is a map of what just turned back: a vector of
    the entries that moves turn back to alone, flat.

    Parameters
    ----------
    ways : Ways
    quantum, depth : float
        Of the finest lattice, and backlog that is followed [packets].

    Attributes
    ----------
    ladder : Ladder
    entries : Entries
    """

    def __init__(self, ways: Ways, quantum: float, depth: float) -> None:
        self.ways, self.ladder, self.entries = ways, Ladder(ways, quantum, depth), Entries.of(ways)
        levels = self.ladder.levels
        self._taken = self.level(np.abs(ways.change) + WIDE * np.sqrt(ways.variance))
        self._floors = np.zeros(len(ways.source), dtype=np.int64)
        for i, level in enumerate(levels):
            here = self._taken == i
            self._floors[here] = np.minimum(self._first(i)[here], level.end)
        self._shifts, ups = self._moves()
        self._landings, landing_ups = self._ends()
        self._lattices = self.ladder.lattices([max(pair) for pair in zip(ups, landing_ups)])

    def step(self, vector: Floats) -> Floats:
        """Return what a step makes of a vector."""
        return move_on(vector, self.entries.order, False, self._lattices, self._shifts, self._landings)

    def turn(self, turned: Floats) -> Floats:
        """Return what turns back next."""
        return self.turned(self.until_turns(self._whole(turned))[1])

    def all_steps(self, turned: Floats, others: Floats | float = 0.0) -> Floats:
        """Return all steps of a turn together, as a vector, of what turned back and others."""
        return self.until_turns(self._whole(turned) + others)[0]

    def until_turns(self, vector: Floats) -> tuple[Floats, Floats]:
        """Return all steps of a vector together until they turn back, and what does, as vectors."""
        vector = vector.copy()
        back = move_on(vector, self.entries.order, True, self._lattices, self._shifts, self._landings)
        return vector, back

    def turned(self, vector: Floats) -> Floats:
        """Return the part of a vector to which moves turn back, flat."""
        return np.asarray(vector[self.entries.turns].ravel())

    def _whole(self, turned: Floats) -> Floats:
        vector = np.zeros((self.ladder.entries, self.ladder.size))
        vector[self.entries.turns] = turned.reshape(-1, self.ladder.size)
        return vector

    def silence(self, vector: Floats, lower: list[Floats]) -> float:
        """Return the mean rounds of silence in a step, of a vector and its levels with what is lower."""
        ways = self.ways
        part = vector[ways.source, 0]
        fall = np.maximum(ways.floor - ways.rest[ways.source], 1e-9 * ways.due)
        for i, (level, rows) in enumerate(zip(self.ladder.levels, lower)):
            here = self._taken == i
            part[here] += resting_below(
                rows, ways.source[here], self._floors[here], ways.floor[here], fall[here], level.quantum, level.above,
                level.base,
            )  # fmt: skip
        return float((part * ways.weight * ways.silent).sum())

    def level(self, size: Floats) -> Ints:
        """Return the finest level on which a distance [packets] is within reach."""
        within = REACH * np.array([one.quantum for one in self.ladder.levels[:-1]])
        return np.searchsorted(within, size).astype(np.int64)

    def _first(self, i: int) -> Ints:
        """Return the first position of a level at the floor of each way or above, not far below an empty backlog."""
        level, ways = self.ladder.levels[i], self.ways
        first: Floats = np.ceil((ways.floor - level.above[ways.source]) / level.quantum - 1e-9) + level.base
        return np.maximum(first, level.base - BELOW).astype(np.int64)

    def _moves(self) -> tuple[Shifts, list[int]]:
        """Return moves above the floors, and how many positions they move up at most on each level.

        Moves on a level with the same ends and floors are one.
        """
        ways, found, ups = self.ways, _Taps(), []
        for i, level in enumerate(self.ladder.levels):
            up = 0
            for lower in (False, True):
                mine = np.flatnonzero(self._taken == i if lower else self._taken < i)
                floors = self._floors[mine] if lower else np.zeros(len(mine), dtype=np.int64)
                source, target = ways.source[mine], ways.target[mine]
                F = int(floors.max(initial=0)) + 1
                keys, key = np.unique(target * F + floors, return_inverse=True)
                change = ways.change[mine] + level.above[source] - level.above[target]
                sources, to, shifts, starts, taps = on_lattice(
                    source,
                    key.ravel(),
                    ways.weight[mine],
                    change,
                    ways.variance[mine],
                    level.quantum,
                    max(len(keys), 1),
                )
                ends = keys[to]
                found.add(starts, taps, sources, i, lower, ends % F, ends // F, shifts)
                up = max(up, int((shifts + np.diff(starts)).max(initial=0)))
            ups.append(up)
        begins, (levels, lower_too, floors, targets, shifts, first, last) = found.ordered(self.ladder.entries)
        return Shifts(begins, levels, lower_too == 1, floors, targets, shifts, first, last, found.taps), ups

    def _ends(self) -> tuple[Landings, list[int]]:
        """Return where ways from rest end, and the positions above the own ones that they reach on each level."""
        ways, E, found, ups = self.ways, self.ladder.entries, _Taps(), []
        levels = self.ladder.levels
        F = int(self._floors.max(initial=0)) + 1
        keys, key = np.unique((ways.source * len(levels) + self._taken) * F + self._floors, return_inverse=True)
        key = key.ravel()
        ends = np.array([one.end - one.base for one in levels]) * np.array([one.quantum for one in levels])
        spread = 4 * np.sqrt(ways.after_variance)
        landing = np.maximum(np.searchsorted(ends[:-1], ways.after + spread), self.level(spread))
        for i, level in enumerate(levels):
            mine = np.flatnonzero((landing == i) & ~ways.to_rest)
            mine = mine[np.argsort(key[mine], kind="stable")]
            target = ways.target[mine]
            which, targets, shifts, starts, taps = on_lattice(
                key[mine], target, ways.weight[mine], ways.after[mine] - level.above[target],
                ways.after_variance[mine], level.quantum, E,
            )  # fmt: skip
            found.add(starts, taps, which, i, targets, shifts + level.base)
            ups.append(int((shifts + level.base + np.diff(starts)).max(initial=0)) - level.end)
        starts, (to_levels, to, shifts, first, last) = found.ordered(len(keys))
        resting, pair = np.unique((key * E + ways.target)[ways.to_rest], return_inverse=True)
        weights = np.bincount(pair.ravel(), ways.weight[ways.to_rest], len(resting)).astype(np.float64)
        begins = np.searchsorted(keys // (len(levels) * F), np.arange(E + 1))
        rest_starts = np.searchsorted(resting // E, np.arange(len(keys) + 1))
        return Landings(
            begins, keys // F % len(levels), keys % F, starts, to_levels, to, shifts, first, last, found.taps,
            rest_starts, resting % E, weights,
        ), ups  # fmt: skip


class _Taps:
    """Taps one behind the other, with columns that say what they are for."""

    def __init__(self) -> None:
        self._parts: list[Floats] = []
        self._columns: list[list[Ints]] = []
        self._count = 0

    @property
    def taps(self) -> Floats:
        return np.concatenate(self._parts)

    def add(self, starts: Ints, taps: Floats, *columns: Ints | int) -> None:
        """Add taps that begin at `starts`, with the same number of values in each column, or one for all."""
        values = [np.broadcast_to(np.asarray(one, dtype=np.int64), len(starts) - 1) for one in columns]
        self._columns.append([*values, starts[:-1] + self._count, starts[1:] + self._count])
        self._parts.append(taps)
        self._count += len(taps)

    def ordered(self, most: int) -> tuple[Ints, list[Ints]]:
        """Return the columns in the order of the first one: where each value of it below `most` begins, and others."""
        first, *others = (np.concatenate(one) for one in zip(*self._columns))
        order = np.argsort(first, kind="stable")
        return np.searchsorted(first[order], np.arange(most + 1)), [one[order] for one in others]
