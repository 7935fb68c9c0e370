"""Rows of values as moves take them: smoothed by their bells, and as they were some steps ago."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..kernels.bells import fill, reaches, spacings
from .lattice_moves import Moves

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Smoothed:
    """What some moves take of rows.

    Parameters
    ----------
    every : sequence of Moves
        To the rows.
    lengths : (n,) int array
        Of the rows.
    kept : bool
        Whether rows are kept for as many steps as moves lag. Else those that lag have rows of their own.

    Attributes
    ----------
    size : int
        Values of all rows.
    """

    def __init__(self, every: Sequence[Moves], lengths: Ints, kept: bool = True) -> None:
        rows = np.concatenate([one.targets for one in every])
        bells = np.concatenate([one.bells for one in every])
        lags = np.concatenate([one.lags for one in every])
        count = int(bells.max(initial=0)) + 1
        self._lengths, self._reaches = lengths, reaches(count)
        self._pairs = np.full((len(lengths), count), -1)
        used = np.zeros_like(self._pairs, dtype=np.bool_)
        used[rows, bells] = True
        self._pairs[used] = np.arange(int(used.sum()))
        row, bell = np.nonzero(used)
        self._slots = np.ones(len(row), dtype=np.int64)
        if kept:
            np.maximum.at(self._slots, self._pairs[rows, bells], lags)
        self._pads, self._steps = self._reaches[bell], spacings(count)[bell]
        self._sizes = lengths[row] + self._pads
        ends = np.cumsum(self._sizes * self._slots)
        self._firsts = ends - self._sizes * self._slots
        self.size = int(ends[-1]) if len(ends) else 0

    @cached_property
    def values(self) -> Floats:
        """Rows of all pairs, one behind the other, and of each step that is kept."""
        return np.zeros(self.size)

    def of(self, moves: Moves) -> Ints:
        """Return which pairs of row and bell moves take."""
        return self._pairs[moves.targets, moves.bells]

    @property
    def arrays(self) -> tuple[Floats, Ints, Ints, Ints, Ints, Ints]:
        """What `kernels.back_in_time` reads."""
        return self.values, self._firsts, self._sizes, self._slots, self._pads, self._steps

    def fill(self, rows: Floats, number: int) -> None:
        """Smooth the rows after so many steps."""
        fill(
            rows, self._lengths, self._pairs, self._reaches, self._firsts, self._sizes, self._slots, number,
            self.values,
        )  # fmt: skip

    def begin(self, rows: Floats) -> None:
        """Smooth the rows as they have been for as long as any move lags."""
        for number in range(int(self._slots.max(initial=1))):
            self.fill(rows, number)
