"""Levels of media held that are followed when a segment is asked for.

They lie on grids. Where the buffer is large, levels are a step apart near zero, where stalls are, and some steps apart
where more is held; near a full buffer, where idle times begin, they are closer again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..numerics.weights import lagrange

Floats = NDArray[np.float64]

FACTOR = 4
"""Between the steps of neighbouring grids."""

CUBIC = 4
"""Levels between which interpolation is cubic."""


class Grid(NamedTuple):
    """Levels at equal distances: the lowest one, their distance, and how many. All in steps."""

    low: float
    apart: int
    size: int

    @property
    def high(self) -> float:
        """Highest level."""
        return self.low + self.apart * (self.size - 1)


class Reach(NamedTuple):
    """How far levels some distance apart reach, from zero or from the room down. In segments."""

    apart: float
    far: float
    from_top: bool = False


def reaches(room: float, many: int, most: int) -> list[Reach]:
    """Return how far levels reach, the closest ones first.

    Parameters
    ----------
    room : float
        Media held up to which there is room for another segment [segments].
    many : int
        Levels in a segment, near zero.
    most : int
        Levels of the last grid, which reaches from zero to the room; others have half as many.
    """
    found, apart = [], 1 / many
    while room / apart > most:
        found.append(Reach(apart, apart * (most // 2)))
        apart *= FACTOR
    tops = [Reach(one.apart, one.far / FACTOR, True) for one in found[1:]]
    return [*found, Reach(apart, room), *tops]


def grids_of(asked: list[Reach], room: float, many: int, coarser: float) -> list[Grid]:
    """Return grids, the closest levels first; those that are not a step apart are so many times further apart.

    Parameters
    ----------
    asked : list of Reach
    room : float
        [steps]
    many : int
        Steps of a segment.
    coarser : float
    """
    found = []
    for k, one in enumerate(asked):
        apart = 1 if k == 0 else math.ceil(one.apart * many * coarser - 1e-9)
        if one.from_top:
            size = math.ceil(one.far * many / apart) + CUBIC
            size = min(size, math.floor(room / apart) + 1)
            found.append(Grid(room - apart * (size - 1), apart, size))
        else:
            size = math.floor(min(one.far * many, room) / apart) + 2  # the room lies between the last two
            found.append(Grid(0.0, apart, max(size, CUBIC) if apart > 1 else size))
    return sorted(found, key=lambda grid: (grid.apart, grid.low))


class Levels:
    """All levels of some grids, one grid after the other."""

    def __init__(self, grids: list[Grid]) -> None:
        self.grids = grids
        self._begins = np.cumsum([0, *(grid.size for grid in grids)])
        self.size = int(self._begins[-1])

    def of(self, number: int) -> slice:
        """Return where the levels of a grid are."""
        return slice(int(self._begins[number]), int(self._begins[number + 1]))

    def read(self, media: Iterable[float]) -> sparse.csr_array:
        """Return weights of all levels, (positions, levels), that interpolate at some media held [steps].

        Linearly between levels a step apart, and else by cubic polynomials.
        """
        at = np.atleast_1d(np.asarray(media, dtype=np.float64))
        rows, columns, weights = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
        for row, x in enumerate(at.tolist()):
            number = self._closest(x)
            grid = self.grids[number]
            place = (x - grid.low) / grid.apart
            near, shares = between(place, CUBIC if grid.apart > 1 else 2, grid.size)
            kept = shares != 0
            rows.append(np.full(int(kept.sum()), row))
            columns.append(self._begins[number] + near + np.flatnonzero(kept))
            weights.append(shares[kept])
        where = np.concatenate(rows), np.concatenate(columns)
        return sparse.csr_array((np.concatenate(weights), where), (len(at), self.size))

    def _closest(self, x: float) -> int:
        """Return the grid whose levels are closest to each other where so much is held."""
        for number, grid in enumerate(self.grids):
            margin = grid.apart if grid.low > 0 else 0.0
            if grid.low + margin <= x + 1e-9 and x <= grid.high + 1e-9:
                return number
        return len(self.grids) - 1


def between(place: float, points: int, size: int) -> tuple[int, Floats]:
    """Return the first of some neighbouring places of 0, 1, ..., size - 1, and the weights that interpolate there."""
    whole = round(place)
    if abs(place - whole) < 1e-9:
        place = float(whole)
    first = min(max(math.floor(place) + 1 - points // 2, 0), size - points)
    nodes = np.arange(float(points))
    return first, lagrange(nodes[np.newaxis], np.array([place - first]))[0]


def on_coarse_steps(chance: Floats, steps: float) -> Floats:
    """Return the weights of the times -1, 0, 1, ..., (times, n, n), of downloads of 1, 2, ... rounds of so many steps.

    What lies between two times is shared by four, which keep three moments: a smooth function has the same mean.
    """
    last = math.floor(len(chance) * steps + 1e-9)
    found = np.zeros((last + CUBIC, *chance.shape[1:]))
    for k, one in enumerate(chance):
        at = (k + 1) * steps
        low, shares = between(at + 1, CUBIC, len(found))
        for m, share in enumerate(shares.tolist()):
            if share:
                found[low + m] += share * one
    return found
