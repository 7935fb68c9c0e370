"""The moves of a chain in steps, transformed over the packets that they deliver."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.transformed import transformed
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
        self._holding, self._held, self._entries = steps.holding, steps.held, steps.entries

    def moved(self, theta: complex) -> tuple[Complexes, Complexes]:
        """Return E exp(-theta A) of each group, times its probability, and the slope of that over theta."""
        return transformed(theta, self._group, *self._moves, len(self.lag))

    def ends(self, theta: complex, z: complex, moved: Complexes) -> Complexes:
        """Return what a visit to each entry counts, for the sum of z^n E exp(-theta A_n) over the ends of steps n.

        Waits that it begins count until they end, and what is not in order yet at the end of its step does not count.
        """
        found = 1 + summed(self.source, moved * until(z, self.lag), self._entries)
        chance, packets, variance, missing = self._held.T
        kept = chance * np.exp(-theta * packets + theta**2 * variance / 2) * (np.exp(theta * missing) - 1)
        return found + z * summed(self._holding, kept, self._entries)


class Factored:
    """M - 1, for a matrix M."""

    def __init__(self, rows: Ints, columns: Ints, values: Complexes, n: int) -> None:
        rows, columns = np.append(rows, np.arange(n)), np.append(columns, np.arange(n))
        values = np.append(values, np.full(n, -1.0))
        self._inverse: Complexes | None = None
        if n <= DENSE:
            self._inverse = np.asarray(np.linalg.inv(summed(rows * n + columns, values, n * n).reshape(n, n)))
        else:
            from scipy import sparse
            from scipy.sparse.linalg import splu

            self._factors: Any = splu(sparse.coo_array((values, (rows, columns)), shape=(n, n)).tocsc())

    def solve(self, right: Complexes, transposed: str) -> Complexes:
        """Solve with the matrix or its transpose."""
        if self._inverse is not None:
            return self._inverse @ right if transposed == "N" else right @ self._inverse
        return np.asarray(self._factors.solve(right, transposed))


def until(z: complex, lag: Floats) -> Complexes:
    """Return the sums of z^i for i = 1 .. `lag` - 1."""
    found = (z**lag - z) / (z - 1) if abs(z - 1) > 1e-12 else lag - 1.0
    return np.asarray(found, dtype=np.complex128)


def summed(where: Ints, values: NDArray[np.number], n: int) -> Complexes:
    """Return the sums of values by where they belong, of n places."""
    return np.bincount(where, values.real, n) + 1j * np.bincount(where, values.imag, n)
