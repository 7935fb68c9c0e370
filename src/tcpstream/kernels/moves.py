"""Mass that moves from rows to rows by short pmfs: the coarse chain is nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept

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
        end = first + size + taps - 1
        if new_low[t] < new_high[t]:
            first = min(first, new_low[t])
            end = max(end, new_high[t])
        new_low[t] = first
        new_high[t] = end


@kept(nogil=True)
def trim(
    x: Floats, low: Ints, high: Ints, floors: Ints, shares: Floats, limits: Ints, negligible: float
) -> tuple[float, float, float]:
    """Drop what is followed no longer at both ends of rows.

    Parameters
    ----------
    x : (S, n) array
        Changed in place, as are `low` and `high`.
    low, high : (S,) arrays
    floors, limits : (S,) arrays
        Only indices from ``floors`` to ``limits``, exclusive, are followed.
    shares : (S,) array
        Share of the mass at ``floors`` itself that stays.
    negligible : float
        Mass dropped at most at each end of each row.

    Returns
    -------
    below, above, dropped : float
        Mass removed below the floor, at or above the limit, and as negligible.
    """
    below = 0.0
    above = 0.0
    dropped = 0.0
    for s in range(len(x)):
        row = x[s]
        first = low[s]
        last = high[s]
        while first < last and first < floors[s]:
            below += row[first]
            row[first] = 0.0
            first += 1
        if first == floors[s] and first < last:
            below += (1.0 - shares[s]) * row[first]
            row[first] *= shares[s]
        while last > first and last > limits[s]:
            last -= 1
            above += row[last]
            row[last] = 0.0
        edge = 0.0
        while first < last and abs(edge + row[first]) <= negligible:
            edge += row[first]
            row[first] = 0.0
            first += 1
        dropped += abs(edge)
        edge = 0.0
        while last > first and abs(edge + row[last - 1]) <= negligible:
            last -= 1
            edge += row[last]
            row[last] = 0.0
        dropped += abs(edge)
        low[s] = first
        high[s] = last
    return below, above, dropped
