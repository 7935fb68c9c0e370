"""P(no packet is late) over the startup delay: one pass back in time, in leads over playback."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..kernels.back_in_time import back_at_edges, back_several_rounds, extrapolate, resample
from ..numerics.weights import lagrange
from .first_steps import opening
from .lattice_moves import Floored, floored, offsets
from .steps import Steps

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EXTRAPOLATED = 2
"""Positions below 0 at which values are continued, for what is interpolated above."""

POINTS = 256
"""Of a lattice of leads."""

LOST = 1e-13
"""Probability that is none."""

PARTS = 8
"""Of the finest quantum, at which the start of a video is looked at."""

OPENING, OPENING_ROUNDS = 6, 96
"""Steps from the start that are followed as one, up to so many rounds: what happens in them is known to the packet."""


class _Level:
    """Leads from 0 to `points` quanta."""

    def __init__(self, steps: Steps, first: Steps, quantum: float, due: float, points: int, parts: int) -> None:
        self.quantum, self.points, self.parts = quantum, points, parts
        self.moves = floored(steps, quantum, due)
        self.first_moves = [floored(first, quantum, due, quantum * i / parts) for i in range(parts)]
        self.offsets = offsets(steps, quantum, due)
        m = self.moves.moves
        both = (m, *(one.moves for one in self.first_moves))
        self.reach = max(int((one.shifts + np.diff(one.starts)).max()) for one in both) + 4
        self.ghosts = max(int(np.diff(one.starts).max()) for one in both) + 4
        E, width = steps.entries, self.ghosts + points + self.reach + 8
        self.old, self.new = np.ones((E, width)), np.ones((E, width))
        self.old[:, : self.ghosts] = 0.0
        self.new[:, : self.ghosts] = 0.0
        late = m.lags > 1
        targets = np.unique(m.targets[late])
        f = self.first_moves[0].moves
        late_f = f.lags > 1
        targets = np.unique(np.append(targets, f.targets[late_f]))
        self.sizes = np.array(
            [
                max(m.lags[late & (m.targets == t)].max(initial=1), f.lags[late_f & (f.targets == t)].max(initial=1))
                + 1
                for t in targets
            ],
            dtype=np.int64,
        )
        self.ring_of = np.full(E, -1)
        self.ring_of[targets] = np.arange(len(targets))
        self.targets = targets
        self.first = np.append(0, np.cumsum(self.sizes))[:-1].astype(np.int64)
        self.ring = np.ones((int(self.sizes.sum()), width))
        self.ring[:, : self.ghosts] = 0.0
        self.lost = False

    def step(self, number: int) -> None:
        if self.lost:
            return
        self._back(self.moves, self.new, number)

    def _back(self, one: Floored, new: Floats, number: int) -> None:
        m, e = one.moves, one.edges
        ring = self.ring, self.ring_of, self.first, self.sizes, number
        back_several_rounds(
            self.old, new, self.ghosts, self.points, m.sources, m.targets, m.shifts, m.starts, m.taps, one.floors,
            m.lags, *ring,
        )  # fmt: skip
        back_at_edges(
            self.old, new, self.ghosts, self.points, one.at, e.sources, e.targets, e.shifts, e.starts, e.taps,
            e.lags, *ring,
        )  # fmt: skip

    def applied(self) -> None:
        """Make a step in which all that comes later comes at once."""
        one, m, e = self.moves, self.moves.moves, self.moves.edges
        nothing = np.zeros((1, 1)), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
        extrapolate(self.old, self.ghosts, EXTRAPOLATED)
        back_several_rounds(
            self.old, self.new, self.ghosts, self.points, m.sources, m.targets, m.shifts, m.starts, m.taps, one.floors,
            np.ones_like(m.lags), *nothing, 0,
        )  # fmt: skip
        back_at_edges(
            self.old, self.new, self.ghosts, self.points, one.at, e.sources, e.targets, e.shifts, e.starts, e.taps,
            np.ones_like(e.lags), *nothing, 0,
        )  # fmt: skip

    def settle(self) -> None:
        """Take the values that there are for those of all steps to come."""
        extrapolate(self.old, self.ghosts, EXTRAPOLATED)
        self.ring[:] = np.repeat(self.old[self.targets], self.sizes, axis=0)

    def opened(self, number: int) -> Floats:
        """Return the values of the start in front of the last steps, at leads of 0, 1 / parts, ... quanta."""
        rows = np.zeros((self.parts, self.old.shape[1]))
        for i, one in enumerate(self.first_moves):
            self._back(one, rows[i : i + 1], number + 1)
        return rows[:, self.ghosts : self.ghosts + self.points].T.ravel()

    def close(self, number: int) -> None:
        """Keep what the step has made; where all is lost, as with a low throughput at small leads, it stays so."""
        if self.lost:
            return
        if number % 32 == 0 and self.new[:, self.ghosts : self.ghosts + self.points].max() < LOST:
            self.lost = True
            for values in (self.old, self.new, self.ring):
                values[:, : self.ghosts + self.points] = 0.0
        extrapolate(self.new, self.ghosts, EXTRAPOLATED)
        self.old, self.new = self.new, self.old
        slots = self.first + number % np.maximum(self.sizes, 1)
        self.ring[slots] = self.old[self.targets]

    def at(self, leads: Floats, entry: int) -> tuple[Ints, Floats]:
        return _weights(leads, self.offsets[entry], self.quantum, self.ghosts, self.old.shape[1])


def _weights(leads: Floats, offset: float, quantum: float, ghosts: int, end: int) -> tuple[Ints, Floats]:
    x: Floats = np.minimum((leads - offset) / quantum + ghosts, end - 2.0)
    first = np.clip(np.floor(x).astype(np.int64) - 1, ghosts, end - 4)
    nodes: Floats = np.arange(4.0) - 1
    return first, lagrange(np.broadcast_to(nodes, (len(x), 4)), x - first - 1.0)


class NeverLate:
    """g(entry, lead), the probability that nothing is late in the steps to come."""

    def __init__(self, steps: Steps, due: float, finest: float, safe: float) -> None:
        self.steps, self.due = steps, due
        self.levels: list[_Level] = []
        quantum = finest
        self.opening = max(1, min(OPENING, OPENING_ROUNDS // steps.step))
        first, self.lossless = opening(steps, self.opening, finest)
        while True:
            count = POINTS if quantum * POINTS < safe else max(16, int(np.ceil(safe / quantum)))
            self.levels.append(_Level(steps, first, quantum, due, count, 2 if self.levels else PARTS))
            if quantum * count >= safe:
                break
            quantum *= 4
        self.number = 0
        self._links = []
        for fine, coarse in zip(self.levels, self.levels[1:]):
            E = steps.entries
            top = fine.ghosts + fine.points + np.arange(fine.reach + 8)
            up = [_weights(fine.offsets[e] + (top - fine.ghosts) * fine.quantum, coarse.offsets[e], coarse.quantum,
                           coarse.ghosts, coarse.old.shape[1]) for e in range(E)]  # fmt: skip
            n = int(fine.points * fine.quantum / coarse.quantum) - 2
            low = np.arange(n) * coarse.quantum
            down = [_weights(coarse.offsets[e] + low, fine.offsets[e], fine.quantum, fine.ghosts,
                             fine.ghosts + fine.points) for e in range(E)]  # fmt: skip
            self._links.append(tuple(np.array([one[i] for one in both]) for both in (up, down) for i in (0, 1)))

    def step(self) -> None:
        """Go one step back in time."""
        self.number += 1
        for level in self.levels:
            level.step(self.number)
        self.exchange([level.new for level in self.levels])
        for level in self.levels:
            level.close(self.number)

    def exchange(self, rows: list[Floats]) -> None:
        """Put values of each level where its neighbours need them."""
        both = list(zip(zip(self.levels, self.levels[1:]), pairwise(rows), self._links))
        for (_, coarse), (low, high), (_, _, at, weights) in both:
            resample(low, high, at, weights, coarse.ghosts)
        for (fine, _), (low, high), (at, weights, _, _) in reversed(both):
            resample(high, low, at, weights, fine.ghosts + fine.points)

    def shared(self) -> list[int]:
        """Return how many positions of each level have the values of the finer one."""
        return [0, *(link[2].shape[1] for link in self._links)]

    def start_row(self) -> list[tuple[Floats, Floats]]:
        """Return what `read` needs of now: of the start of a video that lasts `opening` - 1 steps more, by level."""
        return [(level.opened(self.number), level.old[self.lossless.targets]) for level in self.levels]

    def read(self, rows: list[tuple[Floats, Floats]], lead: float) -> float:
        """Return g of the start from `start_row`, at a lead [packets] below that of the last level."""
        alone = self.lossless
        tops = [(one.points - 1) * one.quantum for one in self.levels[:-1]]
        place = int(np.searchsorted(tops, lead, "right"))
        row, level = rows[place][0], self.levels[place]
        at, weights = _weights(np.array([lead]), 0.0, level.quantum / level.parts, 0, len(row))
        value = float(weights[0] @ row[at[0] : at[0] + 4])
        if lead + alone.least >= -1e-9:
            for i, (target, weight) in enumerate(zip(alone.targets, alone.weights)):
                value += alone.chance * weight * self._read([row[1][i] for row in rows], lead + alone.lead, int(target))
        return value

    def _read(self, row: list[Floats], lead: float, entry: int) -> float:
        for level, values in zip(self.levels, row):
            if lead < level.points * level.quantum or level is self.levels[-1]:
                at, weights = level.at(np.array([lead]), entry)
                return float(weights[0] @ values[at[0] : at[0] + 4])
        raise AssertionError
