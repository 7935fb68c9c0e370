"""Distributions with a mean and a variance as moves on a lattice."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import kept
from .doubled import doubled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EXACT = 1e-9
"""Distance from a point at which it is met [quanta]."""

WIDE = 8.0
"""Variance from which a distribution is a normal one [quanta^2]."""

REACH = 4.0
"""Standard deviations to which it is followed then."""

ANYWHERE = 1 << 60
"""Quanta that no move has."""


@part(nogil=True)
def spread(mean: float, variance: float, weight: float, taps: Floats, base: int, most: int) -> tuple[int, int]:
    """Add a distribution with a mean and a variance [quanta], times `weight`, to taps that begin at `base`.

    What lies above `most` is put there. Returns the first position and the one after the last.
    """
    centre = math.floor(mean + 0.5)
    a = mean - centre
    if variance <= 0.5:
        if variance < EXACT and abs(a) < EXACT:
            taps[min(centre, most) - base] += weight
            return min(centre, most), min(centre, most) + 1
        first = math.floor(mean)  # the four nearest points keep three moments
        b = mean - first
        two = b * b + variance
        three = b * (b * b + 3 * variance)
        taps[min(first - 1, most) - base] += weight * (-three + 3 * two - 2 * b) / 6
        taps[min(first, most) - base] += weight * (three - 2 * two - b + 2) / 2
        taps[min(first + 1, most) - base] += weight * (-three + two + 2 * b) / 2
        taps[min(first + 2, most) - base] += weight * (three - b) / 6
        return min(first - 1, most), min(first + 2, most) + 1
    if variance > WIDE:
        half = math.ceil(REACH * math.sqrt(variance))
        bell = np.empty(2 * half + 1)
        bell[half] = math.exp(-0.5 * a * a / variance)
        ratio = math.exp(-1.0 / variance)  # of the ratios of neighbours
        for sign in (-1, 1):
            factor = math.exp(-(0.5 - sign * a) / variance)
            for k in range(1, half + 1):
                bell[half + sign * k] = bell[half + sign * (k - 1)] * factor
                factor *= ratio
        scale = weight / bell.sum()
        for k in range(2 * half + 1):
            taps[min(centre - half + k, most) - base] += scale * bell[k]
        return min(centre - half, most), min(centre + half, most) + 1
    times = math.ceil(2 * variance)
    part = variance / times
    x = np.zeros(2 * times + 1)
    x[times] = 1 - part - a * a
    x[times - 1] = (part + a * a - a) / 2
    x[times + 1] = (part + a * a + a) / 2
    for _ in range(1, times):
        before = 0.0
        for k in range(2 * times + 1):
            here, after = x[k], x[k + 1] if k < 2 * times else 0.0
            x[k] = (1 - part) * here + part / 2 * before + part / 2 * after
            before = here
    for k in range(2 * times + 1):
        taps[min(centre - times + k, most) - base] += weight * x[k]
    return min(centre - times, most), min(centre + times, most) + 1


@kept(nogil=True)
def on_lattice(
    source: Ints,
    target: Ints,
    weight: Floats,
    mean: Floats,
    variance: Floats,
    quantum: float,
    targets: int,
    most: int = ANYWHERE,
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
    most : int
        Quanta to which moves are cut: beyond, all positions are alike.

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
            low = min(low, x - wide, most)
            high = max(high, min(x + wide, most) + 1)
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
            first, last = spread(mean[k] / quantum, variance[k] / quantum**2, weight[k], dense[row], low, most)
            firsts[row] = min(firsts[row], first)
            lasts[row] = max(lasts[row], last)
        for row in range(rows):
            place[reached[row]] = -1
            size = lasts[row] - firsts[row]
            if count == len(sources):
                sources = doubled(sources)
                to = doubled(to)
                shifts = doubled(shifts)
                starts = doubled(starts)
            while used + size > len(taps):
                taps = doubled(taps)
            sources[count] = s
            to[count] = reached[row]
            shifts[count] = firsts[row]
            for k in range(size):
                taps[used + k] = dense[row, firsts[row] - low + k]
            used += size
            count += 1
            starts[count] = used
        i = end
    return sources[:count], to[:count], shifts[:count], starts[: count + 1], taps[:used]
