"""Moves of a coarse chain on a lattice: how they are made, and one step of the rows that they move."""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .rows import ends, reach

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EXACT = 1e-9
"""Distance from a point at which it is met [quanta]."""

WIDE = 8.0
"""Variance from which a distribution is a normal one [quanta^2]."""

REACH = 4.0
"""Standard deviations to which it is followed then."""


@numba.njit(nogil=True)
def spread(mean: float, variance: float, weight: float, taps: Floats, base: int) -> tuple[int, int]:
    """Add a distribution with a mean and a variance [quanta], times `weight`, to taps that begin at `base`.

    Returns the first position and the one after the last.
    """
    centre = math.floor(mean + 0.5)
    a = mean - centre
    if variance <= 0.5:
        if variance < EXACT and abs(a) < EXACT:
            taps[centre - base] += weight
            return centre, centre + 1
        first = math.floor(mean)  # the four nearest points keep three moments
        b = mean - first
        two = b * b + variance
        three = b * (b * b + 3 * variance)
        k = first - base
        taps[k - 1] += weight * (-three + 3 * two - 2 * b) / 6
        taps[k] += weight * (three - 2 * two - b + 2) / 2
        taps[k + 1] += weight * (-three + two + 2 * b) / 2
        taps[k + 2] += weight * (three - b) / 6
        return first - 1, first + 3
    if variance > WIDE:
        half = math.ceil(REACH * math.sqrt(variance))
        total = 0.0
        for k in range(-half, half + 1):
            total += math.exp(-0.5 * (k - a) ** 2 / variance)
        for k in range(-half, half + 1):
            taps[centre + k - base] += weight * math.exp(-0.5 * (k - a) ** 2 / variance) / total
        return centre - half, centre + half + 1
    times = math.ceil(2 * variance)
    part = variance / times
    x = np.zeros(2 * times + 1)
    x[times] = 1 - part - a * a
    x[times - 1] = (part + a * a - a) / 2
    x[times + 1] = (part + a * a + a) / 2
    for i in range(1, times):
        y = (1 - part) * x
        y[1:] += part / 2 * x[:-1]
        y[:-1] += part / 2 * x[1:]
        x = y
    for k in range(2 * times + 1):
        taps[centre - times + k - base] += weight * x[k]
    return centre - times, centre + times + 1


@kept(nogil=True)
def on_lattice(
    source: Ints, target: Ints, weight: Floats, mean: Floats, variance: Floats, quantum: float, targets: int
) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Return moves as taps, those of a source and a target together.

    Parameters
    ----------
    source : (k,) int array
        Increasing.
    target : (k,) int array
    weight, mean, variance : (k,) arrays
        [1, packets, packets^2]
    quantum : float
    targets : int
        How many there may be.

    Returns
    -------
    sources, targets, shifts, starts, taps : arrays
        See `kernels.moves.apply`.
    """
    n = len(source)
    sources = np.empty(1024, dtype=np.int64)
    to = np.empty(1024, dtype=np.int64)
    shifts = np.empty(1024, dtype=np.int64)
    starts = np.zeros(1025, dtype=np.int64)
    taps = np.empty(8192)
    count, used = 0, 0
    place = np.full(targets, -1)
    i = 0
    while i < n:
        s = source[i]
        end = i
        low = 1 << 60
        high = -(1 << 60)
        while end < n and source[end] == s:
            v = variance[end] / quantum**2
            wide = math.ceil(REACH * math.sqrt(v)) + 3 if v > WIDE else math.ceil(2 * v) + 3
            x = math.floor(mean[end] / quantum + 0.5)
            low = min(low, x - wide)
            high = max(high, x + wide + 1)
            end += 1
        reached = np.empty(end - i, dtype=np.int64)
        rows = 0
        for k in range(i, end):
            if place[target[k]] < 0:
                place[target[k]] = rows
                reached[rows] = target[k]
                rows += 1
        dense = np.zeros((rows, high - low))
        firsts = np.full(rows, 1 << 60)
        lasts = np.full(rows, -(1 << 60))
        for k in range(i, end):
            row = place[target[k]]
            first, last = spread(mean[k] / quantum, variance[k] / quantum**2, weight[k], dense[row], low)
            firsts[row] = min(firsts[row], first)
            lasts[row] = max(lasts[row], last)
        for row in range(rows):
            place[reached[row]] = -1
            size = lasts[row] - firsts[row]
            if count == len(sources):
                sources = np.append(sources, np.empty_like(sources))
                to = np.append(to, np.empty_like(to))
                shifts = np.append(shifts, np.empty_like(shifts))
                starts = np.append(starts, np.zeros(len(starts) - 1, dtype=np.int64))
            while used + size > len(taps):
                taps = np.append(taps, np.empty_like(taps))
            sources[count] = s
            to[count] = reached[row]
            shifts[count] = firsts[row]
            taps[used : used + size] = dense[row, firsts[row] - low : lasts[row] - low]
            used += size
            count += 1
            starts[count] = used
        i = end
    return sources[:count], to[:count], shifts[:count], starts[: count + 1], taps[:used]


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


@kept(nogil=True)
def back_several_rounds(
    old: Floats, new: Floats, ghosts: int, size: int, sources: Ints, targets: Ints, shifts: Ints, starts: Ints,
    taps: Floats, floors: Ints, lags: Ints, ring: Floats, ring_of: Ints, ring_first: Ints, ring_size: Ints,
    number: int,
) -> None:  # fmt: skip
    """Take the mean of values over the moves of one step, back in time.

    Rows have `ghosts` values below position 0, then `size`, then a margin. A move counts from position ``floors`` on.
    Values of a target ``lags`` > 1 steps later are in the ring.
    """
    for s in range(len(new)):
        for k in range(ghosts, ghosts + size):
            new[s, k] = 0.0
    for i in range(len(sources)):
        first = max(floors[i], -ghosts - shifts[i], 0)  # further below there is nothing
        if first >= size:
            continue
        n = size - first
        sink = new[sources[i], ghosts + first : ghosts + size]
        if lags[i] == 1:
            row = old[targets[i]]
        else:
            u = ring_of[targets[i]]
            row = ring[ring_first[u] + (number - lags[i]) % ring_size[u]]
        begin = ghosts + first + shifts[i]
        j0 = starts[i]
        count = starts[i + 1] - j0
        j = 0
        while j + 4 <= count:
            a, b, c, d = taps[j0 + j], taps[j0 + j + 1], taps[j0 + j + 2], taps[j0 + j + 3]
            zero = row[begin + j : begin + j + n]
            one = row[begin + j + 1 : begin + j + 1 + n]
            two = row[begin + j + 2 : begin + j + 2 + n]
            three = row[begin + j + 3 : begin + j + 3 + n]
            for k in range(n):
                sink[k] += a * zero[k] + b * one[k] + c * two[k] + d * three[k]
            j += 4
        while j < count:
            a = taps[j0 + j]
            zero = row[begin + j : begin + j + n]
            for k in range(n):
                sink[k] += a * zero[k]
            j += 1


@kept(nogil=True)
def resample(rows: Floats, into: Floats, at: Ints, weights: Floats, first: int) -> None:
    """Interpolate rows: ``into[s, first + k] = sum_j weights[s, k, j] rows[s, at[s, k] + j]``."""
    for s in range(len(rows)):
        for k in range(at.shape[1]):
            total = 0.0
            for j in range(weights.shape[2]):
                total += weights[s, k, j] * rows[s, at[s, k] + j]
            into[s, first + k] = total


@kept(nogil=True)
def extrapolate(rows: Floats, ghosts: int, count: int) -> None:
    """Continue rows below position 0, by a straight line, not below 0."""
    for s in range(len(rows)):
        a, b = rows[s, ghosts], rows[s, ghosts + 1]
        for k in range(1, count + 1):
            rows[s, ghosts - k] = max(0.0, a - k * (b - a))


@kept(nogil=True)
def radius(source: Ints, target: Ints, weight: Floats, vector: Floats) -> float:
    """Return the largest eigenvalue of a matrix of moves, about; `vector` becomes its right eigenvector."""
    before = 0.0
    for i in range(3000):
        new = np.zeros_like(vector)
        for k in range(len(source)):
            new[source[k]] += weight[k] * vector[target[k]]
        largest = 0.0
        for k in range(len(new)):
            largest = max(largest, abs(new[k]))
        for k in range(len(new)):
            vector[k] = 0.5 * vector[k] + 0.5 * new[k] / largest  # half a step: no periods
        if i > 20 and abs(largest - before) < 1e-8 * largest:
            break
        before = largest
    return before if before > 0 else 0.0
