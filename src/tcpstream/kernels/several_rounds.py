"""One step of rows that moves carry from each to others."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .rows import ends, reach

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@numba.njit(nogil=True, fastmath={"contract", "reassoc"})
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


@kept(nogil=True)
def several_rounds(
    x: Floats, low: Ints, high: Ints, sources: Ints, targets: Ints, shifts: Ints, starts: Ints, taps: Floats,
    new: Floats, new_low: Ints, new_high: Ints, delayed: Ints, ring: Floats, ring_low: Ints, ring_high: Ints,
    ring_of: Ints, ring_target: Ints, ring_first: Ints, ring_size: Ints, number: int, waiting: Floats,
    limit: int, negligible: float,
) -> tuple[float, float]:  # fmt: skip
    """Make one step.

    Moves whose ``delayed`` is 1 go to a row of `new`, others to the ring `ring_of` of their target, in the slot of the
    step after so many; what lies in the slot of this step joins `new`. `waiting` holds the sum of the ring.

    Returns
    -------
    above, dropped : float
        Mass removed at or above `limit`, and as negligible.
    """
    for s in range(len(new)):
        row = new[s, new_low[s] : new_high[s]]
        for k in range(len(row)):
            row[k] = 0.0
        new_low[s] = 0
        new_high[s] = 0
    for i in range(len(sources)):
        s = sources[i]
        n = high[s] - low[s]
        if n <= 0:
            continue
        part = taps[starts[i] : starts[i + 1]]
        first = low[s] + shifts[i]
        last = first + n + len(part) - 1
        if delayed[i] == 1:
            t = targets[i]
            convolve(x[s, low[s] : high[s]], part, new[t, first:last])
            reach(new_low, new_high, t, first, last)
        else:
            u = ring_of[targets[i]]
            slot = ring_first[u] + (number + delayed[i]) % ring_size[u]
            convolve(x[s, low[s] : high[s]], part, ring[slot, first:last])
            convolve(x[s, low[s] : high[s]], part, waiting[first:last])
            reach(ring_low, ring_high, slot, first, last)
    for u in range(len(ring_target)):
        slot = ring_first[u] + (number + 1) % ring_size[u]
        t = ring_target[u]
        if ring_low[slot] < ring_high[slot]:
            for k in range(ring_low[slot], ring_high[slot]):
                new[t, k] += ring[slot, k]
                waiting[k] -= ring[slot, k]
                ring[slot, k] = 0.0
            reach(new_low, new_high, t, ring_low[slot], ring_high[slot])
            ring_low[slot] = 0
            ring_high[slot] = 0
    above = 0.0
    dropped = 0.0
    for s in range(len(new)):
        row = new[s]
        first, last = new_low[s], new_high[s]
        while last > first and last > limit:
            last -= 1
            above += row[last]
            row[last] = 0.0
        start, end, before, behind = ends(row, first, last, 1.0, negligible, True)
        for k in range(first, start):
            row[k] = 0.0
        for k in range(end, last):
            row[k] = 0.0
        new_low[s] = start
        new_high[s] = end
        dropped += abs(before) + abs(behind)
    return above, dropped


@kept(nogil=True)
def collected(
    x: Floats, low: Ints, high: Ints, sources: Ints, shifts: Ints, starts: Ints, taps: Floats, row: Floats
) -> None:
    """Add all rows of `x`, each moved by its taps, to one row."""
    for i in range(len(sources)):
        s = sources[i]
        n = high[s] - low[s]
        if n > 0:
            part = taps[starts[i] : starts[i + 1]]
            first = low[s] + shifts[i]
            convolve(x[s, low[s] : high[s]], part, row[first : first + n + len(part) - 1])
