"""Moves transformed over the packets that they deliver."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Ints = NDArray[np.int64]


@kept(nogil=True)
def transformed(
    theta: complex, group: Ints, weight: Floats, mean: Floats, variance: Floats, count: int
) -> tuple[Complexes, Complexes]:
    """Return the sums of w exp(-theta m + theta^2 v / 2) over the moves of each of `count` groups, and their slopes."""
    first = np.zeros(count, dtype=np.complex128)
    slope = np.zeros(count, dtype=np.complex128)
    half = theta * theta / 2
    for i in range(len(group)):
        each = weight[i] * np.exp(half * variance[i] - theta * mean[i])
        first[group[i]] += each
        slope[group[i]] += each * (theta * variance[i] - mean[i])
    return first, slope
