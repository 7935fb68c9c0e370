"""One step of the backlog of a live stream: a linear map of vectors of a `Ladder`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.backlog_moves import Landings, Shifts, resting_below, step
from ..kernels.backlog_paths import EMPTY
from ..kernels.backlog_turns import growth, until_turns
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

LEFT, MOST = 1e-3, 500
"""Share of what an entry holds that may lead back to itself after all steps of a turn, and such steps at most."""

TRIED = 400
"""Steps in which it is seen how long what an entry holds lasts."""


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
        self._shifts, ups = self._moves(ways.weight)
        self._landings, landing_ups = self._ends(ways.from_rest.weight, ways.from_empty.weight)
        self._lattices = on = self.ladder.lattices([max(pair) for pair in zip(ups, landing_ups)])
        self._turns = np.flatnonzero(self.entries.turns)
        self._room = np.zeros((self.ladder.entries, on.at[-1] + on.widths[-1]))
        self._again = self._repeated()

    def step(self, vector: Floats) -> Floats:
        """Return what a step makes of a vector."""
        return step(vector, self._lattices, self._shifts, self._landings)

    def at_any_time(self, vector: Floats) -> Floats:
        """Return what a step makes of a vector, each way weighted with the rounds that it takes; it sums to 1."""
        ways = self.ways
        rounds = ways.lag * ways.steps.step
        shifts, _ = self._moves(ways.weight * rounds)
        ends = (one.weight * (rounds[one.way] + one.silent) for one in (ways.from_rest, ways.from_empty))
        landings, _ = self._ends(*ends)
        found = step(vector, self._lattices, shifts, landings)
        return np.asarray(found / found.sum())

    def turn(self, turned: Floats) -> Floats:
        """Return what turns back next."""
        return self._until_turns(turned.reshape(-1, self.ladder.size), self._turns, np.zeros((0, 0))).ravel()

    def all_steps(self, turned: Floats, others: Floats | float = 0.0) -> Floats:
        """Return all steps of a turn together, as a vector, of what turned back and others."""
        vector = np.zeros((self.ladder.entries, self.ladder.size)) + others
        vector[self._turns] += turned.reshape(-1, self.ladder.size)
        return self.until_turns(vector)[0]

    def until_turns(self, vector: Floats) -> tuple[Floats, Floats]:
        """Return all steps of a vector together until they turn back, and what does, flat."""
        steps = np.zeros_like(vector)
        back = self._until_turns(vector, np.arange(len(vector)), steps)
        return steps, back.ravel()

    def turned(self, vector: Floats) -> Floats:
        """Return the part of a vector to which moves turn back, flat."""
        return np.asarray(vector[self._turns].ravel())

    def _until_turns(self, given: Floats, entries: Ints, steps: Floats) -> Floats:
        return until_turns(
            given, entries, self._turns, self.entries.order, self._again, self._lattices, self._shifts,
            self._landings, self._room, steps,
        )  # fmt: skip

    def _repeated(self) -> Ints:
        """Return how often entries that lead back to themselves are followed in a turn, to be left with little.

        Not where rounding to the lattice makes what they hold last longer than it does.
        """
        ways = self.ways
        same = ways.source == ways.target
        stay = np.bincount(ways.source[same], ways.weight[same], self.ladder.entries)
        loops = np.flatnonzero(stay > LEFT)
        finest = self.ladder.levels[0]
        held = np.zeros(self.ladder.size)
        held[1 : 1 + finest.end - finest.first] = np.random.default_rng(1).normal(size=finest.end - finest.first)
        found = growth(held, loops, TRIED, self._lattices, self._shifts, self._landings, self._room)
        again = np.zeros(self.ladder.entries, dtype=np.int64)
        factor = np.clip(np.maximum(found, stay[loops]), LEFT, 1.0)
        lasting = factor < 1 - (1 - stay[loops]) / 2
        again[loops[lasting]] = np.minimum(np.ceil(np.log(LEFT) / np.log(factor[lasting])), MOST)
        return again

    def silence(self, vector: Floats, lower: list[Floats]) -> float:
        """Return the mean rounds of silence in a step, of a vector and its levels with what is lower."""
        ways = self.ways
        below = np.zeros(len(ways.source))
        fall = np.maximum(ways.floor, 1e-9 * ways.due)
        highest = ways.floor + np.maximum(ways.due, ways.floor / ways.steps.step)
        for i, (level, rows) in enumerate(zip(self.ladder.levels, lower)):
            here = self._taken == i
            below[here] = resting_below(
                rows, ways.source[here], self._floors[here], highest[here], fall[here], level.quantum, level.above,
                level.base,
            )  # fmt: skip
        both = (ways.from_rest, vector[ways.source, 0]), (ways.from_empty, below)
        return sum(float((mass[ends.way] * ends.silent * ends.weight).sum()) for ends, mass in both)

    def level(self, size: Floats) -> Ints:
        """Return the finest level on which a distance [packets] is within reach."""
        within = REACH * np.array([one.quantum for one in self.ladder.levels[:-1]])
        return np.searchsorted(within, size).astype(np.int64)

    def _first(self, i: int) -> Ints:
        """Return the first position of a level above the floor of each way, not far below an empty backlog."""
        level, ways = self.ladder.levels[i], self.ways
        floor = ways.floor + EMPTY * ways.due
        first: Floats = np.floor((floor - level.above[ways.source]) / level.quantum) + 1 + level.base
        return np.maximum(first, level.base - BELOW).astype(np.int64)

    def _moves(self, weight: Floats) -> tuple[Shifts, list[int]]:
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
                    weight[mine],
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

    def _ends(self, rest_weight: Floats, empty_weight: Floats) -> tuple[Landings, list[int]]:
        """Return where ways from rest and from an empty backlog end, and the positions above the own ones they reach.

        The floor of ways from rest is -1.
        """
        ways, E, found, ups = self.ways, self.ladder.entries, _Taps(), []
        levels = self.ladder.levels
        rested = ways.rest[ways.source[ways.from_rest.way]] > 0
        both = zip(ways.from_rest.only(rested), ways.from_empty)
        mean, variance, _, resting, way, target, _ = (np.append(*pair) for pair in both)
        weight = np.append(rest_weight[rested], empty_weight)
        at_rest = np.arange(len(way)) < int(rested.sum())
        F = int(self._floors.max(initial=0)) + 2
        taken, floors = (np.where(at_rest, none, one[way]) for none, one in ((0, self._taken), (-1, self._floors)))
        keys, key = np.unique((ways.source[way] * len(levels) + taken) * F + floors + 1, return_inverse=True)
        key = key.ravel()
        ends = np.array([one.end - one.base for one in levels]) * np.array([one.quantum for one in levels])
        spread = 4 * np.sqrt(variance)
        landing = np.maximum(np.searchsorted(ends[:-1], mean + spread), self.level(spread))
        for i, level in enumerate(levels):
            mine = np.flatnonzero((landing == i) & ~resting)
            mine = mine[np.argsort(key[mine], kind="stable")]
            to = target[mine]
            which, targets, shifts, starts, taps = on_lattice(
                key[mine], to, weight[mine], mean[mine] - level.above[to], variance[mine],
                level.quantum, E,
            )  # fmt: skip
            found.add(starts, taps, which, i, targets, shifts + level.base)
            ups.append(int((shifts + level.base + np.diff(starts)).max(initial=0)) - level.end)
        starts, (to_levels, to, shifts, first, last) = found.ordered(len(keys))
        rests, pair = np.unique((key * E + target)[resting], return_inverse=True)
        weights = np.bincount(pair.ravel(), weight[resting], len(rests)).astype(np.float64)
        begins = np.searchsorted(keys // (len(levels) * F), np.arange(E + 1))
        rest_starts = np.searchsorted(rests // E, np.arange(len(keys) + 1))
        return Landings(
            begins, keys // F % len(levels), keys % F - 1, starts, to_levels, to, shifts, first, last, found.taps,
            rest_starts, rests % E, weights,
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
