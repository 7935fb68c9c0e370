"""Mass that moves from rows to rows by short pmfs: the coarse chain is nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import kept
from .rows import reach

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@part(nogil=True, fastmath={"contract"})
def convolve(mass: Floats, taps: Floats, sink: Floats) -> None:
    """Add the convolution of a row with taps to another one."""
    n = len(mass)
    j = 0
    while j + 4 <= len(taps) and n >= 4:
        a, b, c, d = taps[j], taps[j + 1], taps[j + 2], taps[j + 3]
        part = sink[j : j + n + 3]
        part[0] += a * mass[0]
        part[1] += a * mass[1] + b * mass[0]
        part[2] += a * mass[2] + b * mass[1] + c * mass[0]
        inner, zero, one, two, three = part[3:n], mass[3:n], mass[2 : n - 1], mass[1 : n - 2], mass[0 : n - 3]
        for k in range(n - 3):
            inner[k] += a * zero[k] + b * one[k] + c * two[k] + d * three[k]
        part[n] += b * mass[n - 1] + c * mass[n - 2] + d * mass[n - 3]
        part[n + 1] += c * mass[n - 1] + d * mass[n - 2]
        part[n + 2] += d * mass[n - 1]
        j += 4
    while j < len(taps):
        a = taps[j]
        part = sink[j : j + n]
        for k in range(n):
            part[k] += a * mass[k]
        j += 1


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
        first = low[s] + offset + shifts[i]
        t = targets[i]
        part = pmfs[starts[i] : starts[i + 1]]
        convolve(x[s, low[s] : high[s]], part, new[t, first : first + size + taps - 1])
        reach(new_low, new_high, t, first, first + size + taps - 1)
