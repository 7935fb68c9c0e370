"""P(no packet is late) over the startup delay: one pass back in time, in leads over playback."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.lattice_moves import back_several_rounds, extrapolate, resample
from .steps import Steps

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EXTRAPOLATED = 2
POINTS = 256

LOST = 1e-13
"""Probability that is none."""

OPENING = 6
"""Steps from the start that are followed as one: what happens in them is known to the packet."""


class _Level:
    """Leads from 0 to `points` quanta."""

    def __init__(self, steps: Steps, opening: Steps, quantum: float, due: float, points: int) -> None:
        self.quantum, self.points = quantum, points
        self.moves, self.floors = steps.floored(quantum, due)
        self.first_moves, self.first_floors = opening.floored(quantum, due)
        self.offsets = steps.offsets(quantum, due)
        m = self.moves
        both = (m, self.first_moves)
        self.reach = max(int((one.shifts + np.diff(one.starts)).max()) for one in both) + 4
        self.ghosts = max(int(np.diff(one.starts).max()) for one in both) + 4
        E, width = steps.entries, self.ghosts + points + self.reach + 8
        self.old, self.new = np.ones((E, width)), np.ones((E, width))
        self.old[:, : self.ghosts] = 0.0
        self.new[:, : self.ghosts] = 0.0
        late = m.lags > 1
        targets = np.unique(m.targets[late])
        f = self.first_moves
        late_f = f.lags > 1
        targets = np.unique(np.append(targets, f.targets[late_f]))
        self.sizes = np.array(
            [
                max(m.lags[late & (m.targets == t)].max(initial=1), f.lags[late_f & (f.targets == t)].max(initial=1)) + 1
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
        m = self.moves
        back_several_rounds(
            self.old, self.new, self.ghosts, self.points, m.sources, m.targets, m.shifts, m.starts, m.taps,
            self.floors, m.lags, self.ring, self.ring_of, self.first, self.sizes, number,
        )  # fmt: skip

    def opened(self, number: int, start: int, alone: float) -> Floats:
        """Return the values of the start after all moves of the opening, in front of the last steps."""
        m = self.first_moves
        row = np.zeros((1, self.old.shape[1]))
        sources = np.zeros_like(m.sources)
        back_several_rounds(
            self.old, row, self.ghosts, self.points, sources, m.targets, m.shifts, m.starts, m.taps,
            self.first_floors, m.lags, self.ring, self.ring_of, self.first, self.sizes, number + 1,
        )  # fmt: skip
        row[0, self.ghosts + self.points :] = (1 - alone) * self.old[start, self.ghosts + self.points :]
        return row[0]

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
    x = np.minimum((leads - offset) / quantum + ghosts, end - 2.0)
    first = np.clip(np.floor(x).astype(np.int64) - 1, ghosts, end - 4)
    b = x - first - 1.0  # between the second and the third
    weights = np.stack([
        -b * (b - 1) * (b - 2) / 6, (b + 1) * (b - 1) * (b - 2) / 2, -(b + 1) * b * (b - 2) / 2, (b + 1) * b * (b - 1) / 6,
    ], axis=-1)  # fmt: skip
    return first, weights


class NeverLate:
    """g(entry, lead), the probability that nothing is late in the steps to come."""

    def __init__(self, steps: Steps, due: float, finest: float, safe: float, points: int = POINTS) -> None:
        self.steps, self.due = steps, due
        self.levels: list[_Level] = []
        quantum = finest
        opening, self.lossless = steps.opening(OPENING, finest)
        while True:
            count = points if quantum * points < safe else max(16, int(np.ceil(safe / quantum)))
            self.levels.append(_Level(steps, opening, quantum, due, count))
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
        self.number += 1
        for level in self.levels:
            level.step(self.number)
        for i in range(len(self.levels) - 1):
            fine, coarse = self.levels[i], self.levels[i + 1]
            _, _, at, weights = self._links[i]
            resample(fine.new, coarse.new, at, weights, coarse.ghosts)
        for i in reversed(range(len(self.levels) - 1)):
            fine, coarse = self.levels[i], self.levels[i + 1]
            at, weights, _, _ = self._links[i]
            resample(coarse.new, fine.new, at, weights, fine.ghosts + fine.points)
        for level in self.levels:
            level.close(self.number)

    def start_row(self) -> list[Floats]:
        """Return what `read` needs of now: of the start of a video that lasts `OPENING` - 1 steps more, by level."""
        at = self.lossless.targets
        return [np.vstack([level.opened(self.number, self.steps.start, self.lossless.chance), level.old[at]]) for level in self.levels]

    def read(self, rows: list[Floats], lead: float) -> float:
        """Return g of the start from `start_row`, at a lead [packets], at most that of the last level."""
        alone = self.lossless
        value = self._read([row[0] for row in rows], lead, self.steps.start)
        if lead + alone.least >= -1e-9:
            for i, (target, weight) in enumerate(zip(alone.targets, alone.weights), 1):
                value += alone.chance * weight * self._read([row[i] for row in rows], lead + alone.lead, int(target))
        return value

    def _read(self, row: list[Floats], lead: float, entry: int) -> float:
        for level, values in zip(self.levels, row):
            if lead < level.points * level.quantum or level is self.levels[-1]:
                at, weights = level.at(np.array([lead]), entry)
                return float(weights[0] @ values[at[0] : at[0] + 4])
        raise AssertionError

    def at(self, leads: Floats) -> Floats:
        """Return g of the start at leads [packets]."""
        row = self.start_row()
        return np.array([self.read(row, float(lead)) for lead in leads])
