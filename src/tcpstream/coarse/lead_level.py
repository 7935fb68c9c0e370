"""Values over leads on one lattice, and what one step back in time makes of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.back_in_time import back_at_edges, back_several_rounds, extrapolate
from ..kernels.bells import reaches, spacings
from ..numerics.weights import lagrange
from .lattice_moves import Floored, Moves, floored, offsets
from .merged import numbered
from .smoothed import Smoothed
from .steps import Steps

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EXTRAPOLATED = 2
"""Positions below 0 at which values are continued, for what is interpolated above."""

ENDLESS = 2**40
"""Steps after which no wait ends."""

LOST = 1e-13
"""Probability that is none."""


MOST = 8.0
"""GiB that a lattice may take."""

MORE = 8
"""Positions that have values beyond those that moves reach, for what is interpolated there."""


class Places(NamedTuple):
    """Where values are interpolated: of entry s those from ``starts[s]`` on, each from four positions from `at` on."""

    starts: Ints
    at: Ints
    weights: Floats

    def of(self, rows: slice) -> Places:
        """Return those of some entries, or of all."""
        if rows == slice(None):
            return self
        return Places(self.starts[rows.start : rows.stop + 1], self.at, self.weights)


class Part(NamedTuple):
    """Entries that follow each other, and the moves from them that are taken on a lattice, with their edges."""

    rows: slice
    near: slice
    near_edges: slice
    wide: slice
    wide_edges: slice


class Level:
    """Leads from 0 to `points` quanta.

    Parameters
    ----------
    steps : Steps
    near, wide : array of bool
        Moves that are taken on this lattice for itself only, and for the finer ones as well: see `NeverLate`.
    first : Steps
        From the start.
    quantum, due : float
        Of the lattice, and packets due per round [packets].
    points, parts : int
        Positions, and parts of a quantum at which the start is looked at.
    top : float
        Lead from which nothing is late [packets].
    """

    def __init__(
        self, steps: Steps, near: NDArray[np.bool_], wide: NDArray[np.bool_], first: Steps, quantum: float, due: float,
        points: int, parts: int, top: float,
    ) -> None:  # fmt: skip
        self.quantum, self.points, self.parts = quantum, points, parts
        self._falls = steps.step * due / quantum
        self._near, self._wide = (floored(steps.only(which), quantum, due, top) for which in (near, wide))
        self._first = [floored(first, quantum, due, top, quantum * i / parts, averaged=False) for i in range(parts)]
        self.offsets = offsets(steps, quantum, due)
        each = [self._near.moves, self._wide.moves, self._near.edges, self._wide.edges]
        firsts = [one.moves for one in self._first]
        in_steps = self._reached(each)
        self.above_at_start = np.maximum(in_steps, self._reached(firsts))
        self.ghosts = EXTRAPOLATED
        E, lengths = steps.entries, self.ghosts + points + self.above_at_start
        width = int(lengths.max())
        keys, which = numbered(np.concatenate([one.lags * E + one.targets for one in firsts]))
        self._opened_lags, self._opened_rows = keys // E, keys % E
        parted = np.split(which, np.cumsum([len(one.lags) for one in firsts])[:-1])
        self._openings = [replace(one, targets=rows) for one, rows in zip(firsts, parted)]
        above = self.offsets / quantum
        self._smoothed = Smoothed(each, self.ghosts + points + in_steps, self.ghosts, above)
        of = self._smoothed.of
        self._near_pairs, self._wide_pairs = ((of(one.moves), of(one.edges)) for one in (self._near, self._wide))
        rows = self._opened_rows
        self._opened = Smoothed(self._openings, lengths[rows], self.ghosts, above[rows], kept=False)
        longest = np.ones(E, dtype=np.int64)
        np.maximum.at(longest, self._opened_rows, self._opened_lags)
        self.targets = np.flatnonzero(longest > 1)
        self.above = np.where(longest > 1, self.above_at_start, in_steps)
        self._sizes = longest[self.targets] + 1
        kept = int(self._sizes.sum())
        _check((3 * E + len(keys) + kept) * width + self._smoothed.size + self._opened.size)
        self.old, self.new, self.shared = np.ones((E, width)), np.ones((E, width)), np.zeros((E, width))
        self.old[:, : self.ghosts] = 0.0
        self.new[:, : self.ghosts] = 0.0
        self._smoothed.fill(self.old, -1)
        self._ring_of = np.full(E, -1)
        self._ring_of[self.targets] = np.arange(len(self.targets))
        self._ring_first = np.append(0, np.cumsum(self._sizes))[:-1].astype(np.int64)
        self._ring = np.ones((kept, width))
        self._ring[:, : self.ghosts] = 0.0
        self.lost = self._endless = False

    @property
    def inside(self) -> slice:
        """Where the positions are in its rows."""
        return slice(self.ghosts, self.ghosts + self.points)

    @property
    def is_shared(self) -> bool:
        """Whether it has moves that finer lattices share."""
        return len(self._wide.moves.taps) > 0

    def parted(self, bounds: Ints) -> list[Part]:
        """Return the entries between each two bounds as a part."""
        columns = [[slice(a, b) for a, b in pairwise(bounds.tolist())]]
        for one in (self._near, self._wide):
            for sources in (one.moves.sources, one.at[one.edges.sources, 0]):
                columns.append([slice(a, b) for a, b in pairwise(np.searchsorted(sources, bounds).tolist())])
        return [Part(*one) for one in zip(*columns)]

    def begin(self, number: int | None, part: Part) -> None:
        """Begin a step with the moves that finer lattices share; without a number, what comes later comes at once."""
        self.new[part.rows, self.inside] = 0.0
        self._back(self._wide, self._wide_pairs, number, part.wide, part.wide_edges)

    def end(self, number: int | None, part: Part, shared: bool) -> None:
        """End a step with its own moves; what finer lattices share is kept before."""
        if shared:
            self.shared[part.rows, self.inside] = self.new[part.rows, self.inside]
        self._back(self._near, self._near_pairs, number, part.near, part.near_edges)

    def smooth(self, number: int | None, rows: slice) -> None:
        """Smooth what moves take of some rows."""
        self._smoothed.fill(self.old, (ENDLESS if number is None else number) - 1, rows)

    def _back(
        self, one: Floored, pairs: tuple[Ints, Ints], number: int | None, moves: slice, edges: slice
    ) -> None:  # fmt: skip
        taken = self._smoothed.arrays(self.old)
        now = ENDLESS if number is None else number
        if moves.start < moves.stop:
            m = one.moves.part(moves)
            lags = m.lags if number is not None else np.ones_like(m.lags)
            back_several_rounds(
                *taken, self.new, self.ghosts, self.points, m.sources, pairs[0][moves], m.shifts, m.starts, m.taps,
                one.floors[moves], lags, now, self._falls,
            )  # fmt: skip
        if edges.start < edges.stop:
            e = one.edges.part(edges)
            lags = e.lags if number is not None else np.ones_like(e.lags)
            back_at_edges(
                *taken, self.new, self.ghosts, self.points, one.at, e.sources, pairs[1][edges], e.shifts, e.starts,
                e.taps, lags, now, self._falls,
            )  # fmt: skip

    def settle(self) -> None:
        """Take the values that there are for those of all steps to come."""
        extrapolate(self.old, self.ghosts, EXTRAPOLATED)
        self._ring[:] = np.repeat(self.old[self.targets], self._sizes, axis=0)
        self._endless = True

    def opened(self, number: int) -> Floats:
        """Return the values of the start in front of the last steps, at leads of 0, 1 / parts, ... quanta."""
        now, row = ENDLESS if self._endless else number + 1, self._opened_rows
        taken = self.old[row]
        late = self._opened_lags > 1
        u = self._ring_of[row[late]]
        taken[late] = self._ring[self._ring_first[u] + (now - self._opened_lags[late]) % self._sizes[u]]
        self._opened.fill(taken, 0)
        rows = np.zeros((self.parts, self.old.shape[1]))
        for i, (m, one) in enumerate(zip(self._openings, self._first)):
            back_several_rounds(
                *self._opened.arrays(taken), rows[i : i + 1], self.ghosts, self.points, m.sources, self._opened.of(m),
                m.shifts, m.starts, m.taps, one.floors, m.lags, now, self._falls,
            )  # fmt: skip
        return rows[:, self.inside].T.ravel()

    def close(self, number: int) -> None:
        """Keep what the step has made; where all is lost, as with a low throughput at small leads, it stays so."""
        if self.lost:
            return
        if number % 32 == 0 and self.new[:, self.inside].max() < LOST:
            self.lost = True
            for values in (self.old, self.new, self.shared, self._ring):
                values[:, : self.inside.stop] = 0.0
        extrapolate(self.new, self.ghosts, EXTRAPOLATED)
        self.old, self.new = self.new, self.old
        slots = self._ring_first + number % np.maximum(self._sizes, 1)
        self._ring[slots] = self.old[self.targets]

    def leads(self, first: int, end: int) -> Floats:
        """Return the leads at some positions, by entry."""
        return np.asarray(self.offsets[:, np.newaxis] + np.arange(first, end) * self.quantum)

    def places(self, other: Level, first: int, counts: Ints, end: int) -> Places:
        """Return where values at positions of another lattice, so many of each entry, are before `end` on this one."""
        starts = np.append(0, np.cumsum(counts))
        entry = np.repeat(np.arange(len(counts)), counts)
        leads = other.offsets[entry] + (first + np.arange(len(entry)) - starts[entry]) * other.quantum
        return Places(starts, *between(leads - self.offsets[entry], self.quantum, self.ghosts, end))

    def _reached(self, every: list[Moves]) -> Ints:
        """Return the positions above the lattice that have values, by entry.

        The last waits fall less than their moves, as they are judged until the end.
        """
        above, bells = np.zeros(len(self.offsets), dtype=np.int64), 1 + max(int(m.bells.max(initial=0)) for m in every)
        reach, apart = reaches(bells), spacings(bells)
        for one in every:
            spared = np.ceil((one.lags - 1) * self._falls).astype(np.int64)
            last = one.shifts + spared + (np.diff(one.starts) - 1) * apart[one.bells] + reach[one.bells]
            np.maximum.at(above, one.targets, last)
        return above + 1 + MORE


def _check(values: int) -> None:
    """Raise `AccuracyError` where so many values take too much memory."""
    gib = 8 * values / 2**30
    if gib > MOST:
        raise AccuracyError(
            f"the probability of no late packet would take about {gib:.2g} GiB of memory on coarse lattices, more than "
            f"the limit of {MOST:g}: give accuracy=exact"
        )


def between(leads: Floats, quantum: float, ghosts: int, end: int) -> tuple[Ints, Floats]:
    """Return the first of four positions between which leads lie on a lattice, and their weights."""
    x: Floats = np.minimum(leads / quantum + ghosts, end - 2.0)
    first = np.clip(np.floor(x).astype(np.int64) - 1, ghosts, end - 4)
    nodes: Floats = np.arange(4.0) - 1
    weights = lagrange(np.broadcast_to(nodes, (x.size, 4)), (x - first - 1.0).ravel())
    return first, weights.reshape(*x.shape, 4)
