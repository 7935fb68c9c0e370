"""P(no packet is late) over the startup delay: one pass back in time, in leads over playback."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.back_in_time import add_resampled, extrapolate, resample
from ..numerics.weights import cubic
from ..tcp.chain import Chain
from .first_steps import behind, opening
from .lattice_moves import unfloored
from .lead_level import EXTRAPOLATED, Level, Part, Places
from .steps import Steps

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PARTS = 8
"""Of the finest quantum, at which the start of a video is looked at."""

OPENING, LIMITED, AHEAD, OPENING_ROUNDS = 6, 12, 12, 96
"""Steps from the start that are followed as one: what happens in them is known to the packet; the same where the
largest window limits steps. They are more where they would end less than so many rounds after playback is furthest
ahead of a path without losses; and up to so many rounds. On a path that varies, on which they are many more to tell
apart, they are as few rounds: more take all memory."""

GROWS = 0.5
"""Rounds of a step at most, over the packets of the largest round: in as many a window grows again after a loss, and
one that cannot grow any more does not tell how long ago it was lost."""

COARSER = 4.0
"""Times the quantum of a lattice is that of the next one."""

WIDE = 2.0
"""Quanta in the standard deviation of a move that is taken on a lattice for the finer ones as well."""


class _Link(NamedTuple):
    """Where a lattice and the next coarser one take values from each other.

    Above the finer one, in each step and where the start takes values, at `lower` positions of the coarser one that lie
    in the finer one, and at all of the finer one.
    """

    above: Places
    at_start: Places
    low: Places
    every: Places
    lower: int


class NeverLate:
    """g(entry, lead), the probability that nothing is late in the steps to come.

    Leads have a ladder of lattices. A move that is wide, and never late on its way, is taken on the coarsest lattice
    that shows it, and what comes of it is passed on to the finer ones.

    Parameters
    ----------
    steps : Steps
    due, finest, safe : float
        m, the quantum of the finest lattice, and the lead from which nothing is late [packets].
    points : int
        Of a lattice.
    """

    def __init__(self, steps: Steps, due: float, finest: float, safe: float, points: int) -> None:
        self.steps, self.due = steps, due
        self.opening = _opening(steps)
        first, self.lossless = opening(steps, self.opening, finest)
        sizes: list[tuple[float, int]] = []
        size = finest
        while not sizes or sizes[-1][0] * sizes[-1][1] < safe:
            sizes.append((size, min(points, max(16, int(np.ceil(safe / size))))))
            size *= COARSER
        spread = np.where(unfloored(steps, finest, due), np.sqrt(steps.variance), 0.0)
        shows = np.searchsorted([WIDE * size for size, _ in sizes[1:]], spread, "right")
        self.levels = [
            Level(steps, shows < i, shows == i, first, size, due, number, 2 if i else PARTS, safe)
            for i, (size, number) in enumerate(sizes)
        ]
        self.number = 0
        self._whole = self.parted(np.array([0, steps.entries]))[0]
        self._links = [_link(fine, coarse) for fine, coarse in pairwise(self.levels)]

    def step(self) -> None:
        """Go one step back in time."""
        self.number += 1
        for level in self.levels:
            if not level.lost:
                level.smooth(self.number, slice(None))
        self._back(self.number, self._whole)
        self._exchange([level.new for level in self.levels])
        for level in self.levels:
            level.close(self.number)

    def parted(self, bounds: Ints) -> list[list[Part]]:
        """Return the entries between each two bounds, with their moves on each level."""
        return [list(one) for one in zip(*(level.parted(bounds) for level in self.levels))]

    def close(self, rows: slice) -> None:
        """Prepare some entries for moves to them, from values within all levels and above the last."""
        self._exchange([level.old for level in self.levels], rows)
        for level in self.levels:
            extrapolate(level.old[rows], level.ghosts, EXTRAPOLATED)
            level.smooth(None, rows)

    def stepped(self, part: list[Part]) -> None:
        """Make a step from some entries, in which all that comes later comes at once."""
        self._back(None, part)
        for level in self.levels:
            level.old[part[0].rows, level.inside] = level.new[part[0].rows, level.inside]

    def settle(self) -> None:
        """Take the values within all levels for those of all steps to come."""
        self._exchange([level.old for level in self.levels], at_start=True)
        for level in self.levels:
            level.settle()

    def _back(self, number: int | None, part: list[Part]) -> None:
        shared: Level | None = None
        for i in reversed(range(len(self.levels))):
            level = self.levels[i]
            if level.lost:
                break
            rows = part[i].rows
            level.begin(number, part[i])
            if shared is not None:
                every = self._links[i].every.of(rows)
                add_resampled(shared.shared[rows], level.new[rows], *every, level.ghosts)
            shared = level if shared is not None or level.is_shared else None
            level.end(number, part[i], shared is not None and i > 0)

    def _exchange(self, values: list[Floats], rows: slice = slice(None), at_start: bool = False) -> None:
        """Put values of each level where its neighbours, or the start, need them, of all entries or of some."""
        both = list(zip(self.levels, self.levels[1:], pairwise([one[rows] for one in values]), self._links))
        for fine, coarse, (low, high), link in both:
            if fine.lost:
                high[:, coarse.ghosts : coarse.ghosts + link.lower] = 0.0
            else:
                resample(low, high, *link.low.of(rows), coarse.ghosts)
        for fine, _, (low, high), link in reversed(both):
            if not fine.lost:
                resample(high, low, *(link.at_start if at_start else link.above).of(rows), fine.inside.stop)

    def of_the_finer(self) -> list[int]:
        """Return how many positions of each level have the values of the finer one."""
        return [0, *(link.lower for link in self._links)]

    def start_row(self) -> list[tuple[Floats, Floats]]:
        """Return what `read` needs of now: of the start of a video that lasts `opening` - 1 steps more, by level."""
        self._exchange([level.old for level in self.levels], at_start=True)
        return [(level.opened(self.number), level.old[self.lossless.targets]) for level in self.levels]

    def read(self, rows: list[tuple[Floats, Floats]], lead: float, more: float = 0.0) -> float:
        """Return g of the start from `start_row`, at a lead [packets] below that of the last level.

        Values are those of a lead that is `more` packets larger; whether anything is late on the path on which nothing
        is lost is seen at the lead itself.
        """
        alone, mean = self.lossless, max(lead + more, 0.0)
        tops = [(one.points - 1) * one.quantum for one in self.levels[:-1]]
        place = int(np.searchsorted(tops, mean, "right"))
        row, level = rows[place][0], self.levels[place]
        value = _at(row, mean, level.quantum / level.parts, 0, len(row))
        if lead + alone.least >= -1e-9:
            for i, (target, weight) in enumerate(zip(alone.targets, alone.weights)):
                value += alone.chance * weight * self._read([row[1][i] for row in rows], mean + alone.lead, int(target))
        return value

    def _read(self, row: list[Floats], lead: float, entry: int) -> float:
        for level, values in zip(self.levels, row):
            if lead < level.points * level.quantum or level is self.levels[-1]:
                offset, end = level.offsets[entry], len(values)
                return _at(values, lead - offset, level.quantum, level.ghosts, end)
        raise AssertionError


def _at(row: Floats, lead: float, quantum: float, ghosts: int, end: int) -> float:
    """Return a value between those of a row, which grow with the lead, by a cubic where that does not overshoot."""
    place = min(lead / quantum + ghosts, end - 2.0)
    first = min(max(math.floor(place) - 1, ghosts), end - 4)
    below = min(max(int(lead / quantum) + ghosts, first), first + 2)
    value = cubic(row[first : first + 4].tolist(), place - first - 1.0)
    low, high = sorted(row[below : below + 2].tolist())
    return float(min(max(value, low), high))


def most_rounds(chain: Chain) -> int:
    """Return the rounds of a step at most, in which leads are followed."""
    return max(1, int(GROWS * chain.largest_round))


def quantum(finest: float, points: int, lead: float) -> float:
    """Return the quantum of the lattice on which a lead is looked at [packets]."""
    size = finest
    while lead >= (points - 1) * size:
        size *= COARSER
    return size


def _opening(steps: Steps) -> int:
    """Return how many steps from the start are followed as one."""
    if steps.chain.varies:
        return max(1, OPENING // steps.step)
    late = (behind(steps, OPENING_ROUNDS) + AHEAD) // steps.step
    least = LIMITED if steps.step == most_rounds(steps.chain) else OPENING
    return max(1, min(max(least, late), OPENING_ROUNDS // steps.step))


def _link(fine: Level, coarse: Level) -> _Link:
    """Return where two neighbouring levels take values from each other."""
    end, inside = coarse.old.shape[1], coarse.inside.stop
    count, all_ = int(fine.points * fine.quantum / coarse.quantum) - 2, np.ones(len(fine.offsets), dtype=np.int64)
    return _Link(
        coarse.places(fine, fine.points, fine.above, end),
        coarse.places(fine, fine.points, fine.above_at_start, end),
        fine.places(coarse, 0, count * all_, fine.inside.stop),
        coarse.places(fine, 0, fine.points * all_, inside),
        count,
    )
