"""Rows of mass by state, each followed only where it holds something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.rows import span
from ..kernels.waits import add
from .measure import Measure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


MARGIN = 8
"""Zeros behind what is followed: what moves may read a little beyond it."""

MOST = 32.0
"""GiB of one array, far more than is ever forecast: windows too large for the path make it so."""


@dataclass
class Rows:
    """Mass by state (row) and position; each row is followed from `low` to `high` (indices) and is zero elsewhere."""

    origin: int
    mass: Floats
    low: Ints
    high: Ints

    @classmethod
    def empty(cls, states: int) -> Rows:
        """Return rows that hold nothing."""
        return cls(0, np.zeros((states, 0)), np.zeros(states, dtype=np.int64), np.zeros(states, dtype=np.int64))

    def __deepcopy__(self, memo: dict[int, Any]) -> Rows:
        """Return rows with the same content, and little room behind it."""
        _, end = span(self.low, self.high)
        return Rows(self.origin, self.mass[:, : end + MARGIN].copy(), self.low.copy(), self.high.copy())

    @property
    def span(self) -> tuple[int, int] | None:
        """Positions from the first to after the last one followed, None if there are none."""
        first, end = span(self.low, self.high)
        return (self.origin + first, self.origin + end) if first < end else None

    def at(self, origin: int, size: int) -> Rows:
        """Prepare for new contents from position `origin` on; the old ones stay where they were until overwritten."""
        if self.mass.shape[1] < size:
            states, width = len(self.low), size + size // 2
            _check(states * width)
            self.mass = np.zeros((states, width))
            self.low[:] = self.high[:] = 0
        self.origin = origin
        return self

    def reached(self, row: int, first: int, end: int) -> None:
        """Follow a row at least in positions `first` to `end`."""
        low, high = first - self.origin, end - self.origin
        if self.low[row] < self.high[row]:
            low, high = min(low, int(self.low[row])), max(high, int(self.high[row]))
        self.low[row], self.high[row] = low, high

    def add(self, row: int, measure: Measure, weight: float = 1.0) -> None:
        """Add a measure to a row, in the room that `at` has made."""
        add(measure.mass, weight, self.mass[row], measure.origin - self.origin)
        self.reached(row, measure.origin, measure.end)


def _check(values: int) -> None:
    """Raise `AccuracyError` where so many values take more memory than a computer is likely to have."""
    gib = 8 * values / 2**30
    if gib > MOST:
        raise AccuracyError(
            f"this solve would take {gib:.3g} GiB of memory at once, more than the limit of {MOST:g}: give a smaller "
            "max_window"
        )


def row_of(measure: Measure) -> Rows:
    """Return a measure as the only row."""
    return Rows(measure.origin, measure.mass[np.newaxis], np.zeros(1, dtype=np.int64), np.array([len(measure.mass)]))
