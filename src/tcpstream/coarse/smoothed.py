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
    ghosts : int
        Values of a row before position 0, where all is lost: for what is interpolated, not for what is smoothed.
    above : (n,) array
        What the positions of rows lie above those from which all is lost [quanta].
    kept : bool
        Whether rows are kept for as many steps as moves lag. Else those that lag have rows of their own.

    Attributes
    ----------
    size : int
        Values of all rows.
    """

    def __init__(
        self, every: Sequence[Moves], lengths: Ints, ghosts: int, above: Floats, kept: bool = True
    ) -> None:  # fmt: skip
        rows = np.concatenate([one.targets for one in every])
        bells = np.concatenate([one.bells for one in every])
        lags = np.concatenate([one.lags for one in every])
        count = int(bells.max(initial=0)) + 1
        self._ghosts, self._edges = ghosts, 0.5 + above  # the trapezoid rule, from where all is lost
        self._lengths, self._reaches = lengths, reaches(count)
        self._pairs = np.full((len(lengths), count), -1)
        used = np.zeros_like(self._pairs, dtype=np.bool_)
        used[rows, bells] = True
        self._pairs[used] = np.arange(int(used.sum()))
        row, bell = np.nonzero(used)
        self._slots = np.ones(len(row), dtype=np.int64)
        if kept:
            np.maximum.at(self._slots, self._pairs[rows, bells], lags)
        plain = (bell == 0) & (self._slots == 1)
        self._plain = np.where(plain, row, -1)
        self._filled = self._pairs.copy()
        self._filled[row[plain], bell[plain]] = -1
        self._pads, self._steps = self._reaches[bell], spacings(count)[bell]
        self._sizes: Ints = (lengths[row] + self._pads) * ~plain
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

    def arrays(self, rows: Floats) -> tuple[Floats, Ints, Floats, Ints, Ints, Ints, Ints, Ints]:
        """Return what `kernels.back_in_time` reads: rows as they are, and as they were when smoothed."""
        return rows, self._plain, self.values, self._firsts, self._sizes, self._slots, self._pads, self._steps

    def fill(self, rows: Floats, number: int, some: slice = slice(None)) -> None:
        """Smooth rows, all of them or some, after so many steps.

        If that is negative, as they have been for as long as any move lags.
        """
        fill(
            rows[some], self._lengths[some], self._ghosts, self._edges[some], self._filled[some], self._reaches,
            self._firsts, self._sizes, self._slots, number, self.values,
        )  # fmt: skip
