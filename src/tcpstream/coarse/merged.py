"""Moves with the same key as one move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST = 2**62
"""Of the numbers that stand for keys."""

SPARSE = 8
"""Numbers up to so many times as many as there are of them are told apart by a table, larger ones by sorting."""


def numbered(keys: Ints) -> tuple[Ints, Ints]:
    """Return the different ones of some numbers >= 0, increasing, and which of these each is."""
    size = int(keys.max(initial=0)) + 1
    if size > SPARSE * len(keys):
        found, which = np.unique(keys, return_inverse=True)
        return found, which.ravel()
    place = np.zeros(size, dtype=np.int64)
    place[keys] = 1
    found = np.flatnonzero(place)
    place[found] = np.arange(len(found))
    return found, place[keys]


class Merged:
    """One move for all with the same key.

    Parameters
    ----------
    keys : (n, c) int array
    weight : (n,) array
        Of moves with the same key all have the same sign.

    Attributes
    ----------
    keys : (k, c) int array
        Increasing.
    weight : (k,) array
        Their sums.
    which : (n,) int array
        Of `keys` each move has.
    """

    def __init__(self, keys: Ints, weight: Floats) -> None:
        numbers, size = np.zeros(len(keys), dtype=np.int64), 1
        for column in keys.T:
            low = column.min(initial=0)
            width = int(column.max(initial=0) - low) + 1
            if size * width > LARGEST:
                found, numbers = np.unique(numbers, return_inverse=True)
                numbers, size = numbers.ravel(), len(found)
            numbers, size = numbers * width + (column - low), size * width
        _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
        self.which, self._each = which.ravel(), weight
        self.keys = keys[first]
        self.weight = np.bincount(self.which, weight).astype(np.float64)

    def mean(self, values: Floats) -> Floats:
        """Return the mean of values of the moves that were given."""
        return np.asarray(np.bincount(self.which, self._each * values) / self.weight)

    def variance(self, values: Floats, variance: Floats) -> Floats:
        """Return the variance, where each has one of its own as well."""
        mean = self.mean(values)
        return np.maximum(self.mean(variance + (values - mean[self.which]) ** 2), 0.0)
