"""The moves of a chain in steps, transformed over the packets that they deliver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.transformed import transformed, transformed_along
from .merged import Merged
from .steps import Steps

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Ints = NDArray[np.int64]

APART = 64.0
"""Of the packets from loss to loss: moves between the same entries are told apart if they deliver so much more."""

DENSE = 100
"""Entries up to which matrices are dense."""


class Transforms:
    """Moves in groups: those of a group have the same ends and lag.

    Parameters
    ----------
    steps : Steps

    Attributes
    ----------
    source, target, lag : (k,) arrays
        Of each group.
    """

    def __init__(self, steps: Steps) -> None:
        size = steps.chain.packets_between_losses / APART
        place = np.rint(steps.mean / size).astype(np.int64)
        merged = Merged(np.column_stack([steps.source, steps.target, steps.lag, steps.weight > 0, place]), steps.weight)
        each = merged.keys[:, :3]
        self._moves = merged.weight, merged.mean(steps.mean), merged.variance(steps.mean, steps.variance)
        new = np.append(True, np.any(each[1:] != each[:-1], axis=1))
        self._group = np.cumsum(new) - 1
        self.source, self.target, lag = np.ascontiguousarray(each[new].T)
        self.lag = lag.astype(np.float64)
        self._entries = steps.entries
        self._holding, self._held = _missing(steps, size)

    def moved(self, theta: complex) -> tuple[Complexes, Complexes]:
        """Return E exp(-theta A) of each group, times its probability, and the slope of that over theta."""
        return transformed(theta, self._group, *self._moves, len(self.lag))

    def ends(self, theta: complex, z: complex, moved: Complexes) -> Complexes:
        """Return what a visit to each entry counts, for the sum of z^n E exp(-theta A_n) over the ends of steps n.

        Waits that it begins count until they end, and what is not in order yet at the end of its step does not count.
        """
        found = 1 + summed(self.source, moved * until(z, self.lag), self._entries)
        chance, packets, variance, missing = self._held
        kept = chance * np.exp(-theta * packets + theta**2 * variance / 2) * (np.exp(theta * missing) - 1)
        return found + z * summed(self._holding, kept, self._entries)

    def along(self, which: Ints, theta: complex, gap: float, count: int, apart: Floats) -> Floats:
        """Return what `moved` does first, of some groups, at theta, theta + i gap, ..: (2, n, count) numbers in parts.

        `apart` are packets that each group is to deliver less.
        """
        place = np.full(len(self.lag), -1)
        place[which] = np.arange(len(which))
        weight, mean, variance = self._moves
        found = np.zeros((2, len(which), count))
        transformed_along(theta, gap, place[self._group], weight, mean - apart[self._group], variance, found)
        return found

    def not_in_order(self, theta: complex, gap: float, count: int, apart: float) -> tuple[Ints, Floats]:
        """Return entries, and by how much the transform of what is in order after a step from each of them differs."""
        entries, place = np.unique(self._holding, return_inverse=True)
        chance, packets, variance, missing = self._held
        found = np.zeros((2, len(entries), count))
        for sign, mean in ((1.0, packets - missing), (-1.0, packets)):
            transformed_along(theta, gap, place.ravel(), sign * chance, mean - apart, variance, found)
        return entries, found


class Eliminated:
    """M - 1 in triangular factors, for matrices M whose entries have the same places.

    Columns are eliminated in the order that was found for the first of them: finding it takes most of the time.

    Parameters
    ----------
    rows, columns : (k,) int arrays
        Places of the values; those of the same place are summed.
    n : int
        Rows, and columns.
    """

    def __init__(self, rows: Ints, columns: Ints, n: int) -> None:
        self._rows, self._columns = np.append(rows, np.arange(n)), np.append(columns, np.arange(n))
        self._n = n
        self._laid_out: _LaidOut | None = None

    def of(self, values: Complexes) -> Factored:
        """Return the factors for some values.

        Raises
        ------
        RuntimeError, LinAlgError
            Where M has an eigenvalue of 1.
        """
        n, values = self._n, np.append(values, np.full(self._n, -1.0))
        if n <= DENSE:
            return Factored(None, np.linalg.inv(summed(self._rows * n + self._columns, values, n * n).reshape(n, n)))
        from scipy.sparse.linalg import splu

        if self._laid_out is None:
            found = splu(self._lay_out(np.arange(n)).matrix(values))
            self._laid_out = self._lay_out(found.perm_c)
            return Factored(np.arange(n), found)
        kept = self._laid_out
        return Factored(kept.order, splu(kept.matrix(values), permc_spec="NATURAL"))

    def _lay_out(self, order: Ints) -> _LaidOut:
        places, slots = np.unique(order[self._columns].astype(np.int64) * self._n + self._rows, return_inverse=True)
        starts = np.searchsorted(places, np.arange(self._n + 1) * self._n)
        return _LaidOut(order, slots, (places % self._n).astype(np.int32), starts.astype(np.int32))


@dataclass(frozen=True)
class _LaidOut:
    """Values by columns, of which column i is `order`[i]."""

    order: Ints
    slots: Ints
    rows: NDArray[np.int32]
    starts: NDArray[np.int32]

    def matrix(self, values: Complexes) -> Any:
        from scipy import sparse

        data, n = summed(self.slots, values, len(self.rows)), len(self.order)
        return sparse.csc_array((data, self.rows, self.starts), shape=(n, n))


class Factored:
    """A matrix to solve with: its factors, with columns in an `order`, or its inverse, without one."""

    def __init__(self, order: Ints | None, factors: Any) -> None:
        self._order, self._factors = order, factors

    def solve(self, right: Complexes) -> Complexes:
        """Solve with the matrix."""
        if self._order is None:
            return np.asarray(self._factors @ right)
        return np.asarray(self._factors.solve(right)[self._order])

    def solve_transposed(self, right: Complexes) -> Complexes:
        """Solve with its transpose."""
        if self._order is None:
            return np.asarray(right @ self._factors)
        ordered = np.empty_like(right)
        ordered[self._order] = right
        return np.asarray(self._factors.solve(ordered, "T"))


def _missing(steps: Steps, size: float) -> tuple[Ints, tuple[Floats, ...]]:
    """Return what is not in order at the ends of steps, where it is about the same together: see `Steps.held`."""
    chance, packets, variance, missing = steps.held.T
    alike = (np.rint(one / size).astype(np.int64) for one in (packets, missing))
    merged = Merged(np.column_stack([steps.holding, *alike]), chance)
    means = merged.mean(packets), merged.variance(packets, variance), merged.mean(missing)
    return merged.keys[:, 0], (merged.weight, *means)


def until(z: complex, lag: Floats) -> Complexes:
    """Return the sums of z^i for i = 1 .. `lag` - 1."""
    found = (z**lag - z) / (z - 1) if abs(z - 1) > 1e-12 else lag - 1.0
    return np.asarray(found, dtype=np.complex128)


def summed(where: Ints, values: NDArray[np.number], n: int) -> Complexes:
    """Return the sums of values by where they belong, of n places."""
    return np.bincount(where, values.real, n) + 1j * np.bincount(where, values.imag, n)
