"""Reading E[(y - A)+] from rows that hold it at the points of a lattice."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kept(nogil=True)
def shortfalls(
    table: Floats, origins: Ints, starts: Ints, slopes: Floats, quantum: float, rows: Ints, at: Floats, result: Floats
) -> None:
    """Read rows between their points by the cubic through the four nearest.

    Parameters
    ----------
    table : array
        E[(y - A)+] at y = quantum (origin + k), row after row; convex, 0 before each row.
    origins, starts : (n,), (n + 1,) int arrays
    slopes : (n,) array
        P(A < y) behind each row.
    quantum : float
    rows, at : (k,) arrays
        Which row is read, and where [packets].
    result : (k,) array
    """
    for i in range(len(rows)):
        r = rows[i]
        first, end = starts[r], starts[r + 1]
        size = end - first
        x = at[i] / quantum - origins[r]
        if size == 0 or x <= 0:
            result[i] = 0.0
            continue
        if x >= size - 1:
            result[i] = table[end - 1] + slopes[r] * (x - (size - 1)) * quantum
            continue
        k = math.floor(x)
        b = x - k
        one, two = table[first + k], table[first + k + 1]
        linear = one + b * (two - one)
        if k < 1 or k + 2 >= size:
            result[i] = linear
            continue
        zero, three = table[first + k - 1], table[first + k + 2]
        cubic = (
            -b * (b - 1) * (b - 2) / 6 * zero + (b + 1) * (b - 1) * (b - 2) / 2 * one
            - (b + 1) * b * (b - 2) / 2 * two + (b + 1) * b * (b - 1) / 6 * three
        )  # fmt: skip
        result[i] = min(max(cubic, one), linear) if one <= linear else linear
