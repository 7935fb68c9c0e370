"""Mass that moves from rows to rows by short pmfs: the coarse chain is nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .rows import reach

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kept(nogil=True, fastmath={"contract"})
def apply(
    x: Floats,
    low: Ints,
    high: Ints,
    sources: Ints,
    targets: Ints,
    shifts: Ints,
    starts: Ints,
    pmfs: Floats,
    offset: int,
    new: Floats,
    new_low: Ints,
    new_high: Ints,
) -> None:
    """Add to each target row the convolution of a source row with a pmf.

    Parameters
    ----------
    x : (S, n) array
        Each row is followed from ``low`` to ``high``, exclusive, and holds zeros elsewhere.
    low, high : (S,) arrays
    sources, targets, shifts : (M,) arrays
        Row of `x`, row of `new`, and the index that the first value of the pmf moves by.
    starts : (M + 1,) array
        Index of the first value of each pmf in `pmfs`, and of the end.
    pmfs : array
        One behind the other.
    offset : int
        Index in `new` of index 0 of `x`.
    new : (T, m) array
        Accumulated into, with `new_low` and `new_high`; wide enough for all that moves.
    """
    for i in range(len(sources)):
        s = sources[i]
        size = high[s] - low[s]
        if size <= 0:
            continue
        taps = starts[i + 1] - starts[i]
        mass = x[s, low[s] : high[s]]
        first = low[s] + offset + shifts[i]
        t = targets[i]
        j = 0
        while j + 4 <= taps and size >= 4:  # four at a time, where all of them reach
            a = pmfs[starts[i] + j]
            b = pmfs[starts[i] + j + 1]
            c = pmfs[starts[i] + j + 2]
            d = pmfs[starts[i] + j + 3]
            sink = new[t, first + j : first + j + size + 3]
            sink[0] += a * mass[0]
            sink[1] += a * mass[1] + b * mass[0]
            sink[2] += a * mass[2] + b * mass[1] + c * mass[0]
            inner = sink[3:size]
            zero = mass[3:size]
            one = mass[2 : size - 1]
            two = mass[1 : size - 2]
            three = mass[0 : size - 3]
            for k in range(size - 3):
                inner[k] += a * zero[k] + b * one[k] + c * two[k] + d * three[k]
            sink[size] += b * mass[size - 1] + c * mass[size - 2] + d * mass[size - 3]
            sink[size + 1] += c * mass[size - 1] + d * mass[size - 2]
            sink[size + 2] += d * mass[size - 1]
            j += 4
        while j < taps:
            a = pmfs[starts[i] + j]
            sink = new[t, first + j : first + j + size]
            for k in range(size):
                sink[k] += a * mass[k]
            j += 1
        reach(new_low, new_high, t, first, first + size + taps - 1)
