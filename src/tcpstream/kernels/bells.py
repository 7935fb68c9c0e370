"""Wide moves: a bell that rows are smoothed by once, and what is left of each move, at four points.

Bells have variances of 0, 1, 2, 3, 4, 8, 12, 16, 32, ... quanta squared, and the points of moves that take them lie 1,
1, 1, 1, 2, 2, 2, 4, 4, ... quanta apart. Each bell is the one before, smoothed by 1 4 6 4 1 as far apart as its points.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import kept
from .on_lattice import ANYWHERE, EXACT, REACH, WIDE, spread

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@part(nogil=True)
def apart(bell: int) -> int:
    """Return how far the points of a move with a bell lie apart [quanta]."""
    return 1 << ((bell - 1) // 3) if bell > 0 else 1


@part(nogil=True)
def bell_variance(bell: int) -> int:
    """Return the variance of a bell [quanta^2]."""
    return ((bell - 1) % 3 + 1) * apart(bell) ** 2 if bell > 0 else 0


@part(nogil=True)
def widest_bell(variance: float) -> int:
    """Return the widest bell that is no wider than a variance [quanta^2]."""
    bell = 0
    while bell_variance(bell + 1) <= variance:
        bell += 1
    return bell


@part(nogil=True)
def bell_reach(bell: int) -> int:
    """Return how far a bell reaches to each side [quanta]."""
    found = 0
    for narrower in range(bell):
        found += 2 * apart(narrower)
    return found


@kept(nogil=True)
def reaches(count: int) -> Ints:
    """Return how far bells reach to each side, of so many [quanta]."""
    return np.array([bell_reach(bell) for bell in range(count)])


@kept(nogil=True)
def spacings(count: int) -> Ints:
    """Return how far points lie apart, of so many bells [quanta]."""
    return np.array([apart(bell) for bell in range(count)])


@part(nogil=True)
def four_points(at: float, variance: float) -> tuple[float, float, float, float]:
    """Return weights of -1, 0, 1 and 2 that keep three moments of a distribution between 0 and 1."""
    two = at * at + variance
    three = at * (at * at + 3 * variance)
    return (
        (-three + 3 * two - 2 * at) / 6, (three - 2 * two - at + 2) / 2, (-three + two + 2 * at) / 2, (three - at) / 6,
    )  # fmt: skip


@part(nogil=True)
def _places(mean: float, variance: float, most: int) -> tuple[int, int, int, bool]:
    """Return bell, first and last point of a move [points], and whether it is written out, as it reaches above `most`.

    Smoothed at `most` it would be low again.
    """
    bell = widest_bell(variance)
    d = apart(bell)
    place = mean / d
    low = math.floor(place) - 1
    high = low + 3
    nearest = math.floor(place + 0.5)
    if variance - bell_variance(bell) < EXACT * d * d and abs(place - nearest) < EXACT:
        low = high = nearest
    if high * d + bell_reach(bell) <= most:
        return bell, low, high, False
    half = math.ceil(REACH * math.sqrt(variance)) if variance > WIDE else math.ceil(2 * variance)
    return 0, min(math.floor(mean) - half - 1, most), min(math.floor(mean) + half + 2, most), True


@kept(nogil=True)
def with_bells(
    source: Ints, target: Ints, weight: Floats, mean: Floats, variance: Floats, quantum: float, targets: int,
    most: int = ANYWHERE,
) -> tuple[Ints, Ints, Ints, Ints, Ints, Floats]:  # fmt: skip
    """Return moves as points with a bell, those of a source, a target and a bell together.

    Parameters
    ----------
    source .. most
        See `on_lattice.on_lattice`.

    Returns
    -------
    sources, targets, bells, shifts, starts, taps : arrays
        As `on_lattice.on_lattice`; from one tap to the next it is `apart` quanta.
    """
    n = len(source)
    bells, lows, highs = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    in_full = np.empty(n, dtype=np.bool_)
    kinds = 1
    for i in range(n):
        bells[i], lows[i], highs[i], in_full[i] = _places(mean[i] / quantum, variance[i] / quantum**2, most)
        kinds = max(kinds, bells[i] + 1)
    place = np.full(targets * kinds, -1)
    which = np.empty(n, dtype=np.int64)
    sources, to, kind = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    low, high = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    count = 0
    for i in range(n):
        key = target[i] * kinds + bells[i]
        row = place[key]
        if row < 0 or sources[row] != source[i]:
            row = place[key] = count
            sources[row], to[row], kind[row] = source[i], target[i], bells[i]
            low[row], high[row] = lows[i], highs[i]
            count += 1
        which[i] = row
        low[row], high[row] = min(low[row], lows[i]), max(high[row], highs[i])
    starts = np.zeros(count + 1, dtype=np.int64)
    for row in range(count):
        starts[row + 1] = starts[row] + high[row] - low[row] + 1
    taps = np.zeros(starts[count])
    for i in range(n):
        row = which[i]
        part, d = taps[starts[row] : starts[row + 1]], apart(bells[i])
        x, v = mean[i] / quantum, variance[i] / quantum**2
        if in_full[i]:
            spread(x, v, weight[i], part, low[row], most)
        elif lows[i] == highs[i]:
            part[lows[i] - low[row]] += weight[i]
        else:
            left = (v - bell_variance(bells[i])) / d**2
            points = four_points(x / d - math.floor(x / d), left)
            for j in range(4):
                part[lows[i] - low[row] + j] += weight[i] * points[j]
    shifts = np.empty(count, dtype=np.int64)
    for row in range(count):
        shifts[row] = low[row] * apart(kind[row])
    return sources[:count], to[:count], kind[:count], shifts, starts, taps


@part(nogil=True)
def smooth(row: Floats, wider: Floats, bell: int) -> None:
    """Smooth a row of a bell to the next one; beyond its ends it goes on as it ends."""
    d, n = apart(bell), len(row)
    for k in range(n):
        if 2 * d <= k < n - 2 * d:
            continue
        further = row[max(k - 2 * d, 0)] + row[min(k + 2 * d, n - 1)]
        wider[k] = (further + 4 * (row[max(k - d, 0)] + row[min(k + d, n - 1)]) + 6 * row[k]) / 16
    if n > 4 * d:
        a, b, c, e, f = row[: n - 4 * d], row[d : n - 3 * d], row[2 * d : n - 2 * d], row[3 * d : n - d], row[4 * d :]
        inner = wider[2 * d : n - 2 * d]
        for k in range(n - 4 * d):
            inner[k] = (a[k] + f[k] + 4 * (b[k] + e[k]) + 6 * c[k]) * 0.0625


@kept(nogil=True)
def fill(
    rows: Floats, lengths: Ints, ghosts: int, edges: Floats, pairs: Ints, widths: Ints, firsts: Ints, sizes: Ints,
    slots: Ints, number: int, values: Floats,
) -> None:  # fmt: skip
    """Smooth rows by all bells that moves take of them, into the slots of a number; into all, if that is negative.

    Below position 0 all is lost: what is smoothed there counts as 0, and the value at position 0 `edges` times.

    Parameters
    ----------
    rows : (n, m) array
        Each is used up to `lengths`; `ghosts` values come before position 0, and below there is nothing.
    edges : (n,) array
        Part of the value at position 0 that counts.
    pairs : (n, b) int array
        Of row and bell, its place in the arrays that follow; -1 where no move takes that, or it is the row itself.
    widths : (b,) int array
        How far bells reach: so many values come before those of the row.
    firsts, sizes, slots : int arrays
        Where the first slot of a pair begins in `values`, how long a slot is, and how many there are.
    """
    for i in range(len(rows)):
        top = -1
        for bell in range(pairs.shape[1]):
            if pairs[i, bell] >= 0:
                top = bell
        if top < 0:
            continue
        pad = widths[top]
        row, wider = np.zeros(pad + lengths[i]), np.empty(pad + lengths[i])
        for k in range(lengths[i]):
            row[pad + k] = rows[i, k]
        for bell in range(top + 1):
            q = pairs[i, bell]
            if q >= 0:
                every = number < 0
                for slot in range(0 if every else number % slots[q], slots[q] if every else number % slots[q] + 1):
                    begin = firsts[q] + slot * sizes[q]
                    for k in range(sizes[q]):
                        values[begin + k] = row[pad - widths[bell] + k]
            if bell == 0:
                for k in range(pad, pad + ghosts):
                    row[k] = 0.0
                row[pad + ghosts] *= edges[i]
            if bell < top:
                smooth(row, wider, bell)
                row, wider = wider, row


@part(nogil=True, fastmath={"contract"})
def convolve_apart(mass: Floats, taps: Floats, d: int, sink: Floats) -> None:
    """Add the convolution of a row with taps, so far apart, to another one."""
    n = len(mass)
    j = 0
    while j + 4 <= len(taps) and n > 3 * d:
        part = sink[j * d : (j + 3) * d + n]
        for i in range(4):
            a, begin = taps[j + i], i * d
            first, last = part[begin : 3 * d], part[n : n + begin]
            ending = mass[n - begin :]
            for k in range(len(first)):
                first[k] += a * mass[k]
            for k in range(len(last)):
                last[k] += a * ending[k]
        a, b, c, e = taps[j], taps[j + 1], taps[j + 2], taps[j + 3]
        inner, zero, one, two, three = part[3 * d : n], mass[3 * d :], mass[2 * d : n - d], mass[d : n - 2 * d], mass
        for k in range(n - 3 * d):
            inner[k] += a * zero[k] + b * one[k] + c * two[k] + e * three[k]
        j += 4
    while j < len(taps):
        a = taps[j]
        part = sink[j * d : j * d + n]
        for k in range(n):
            part[k] += a * mass[k]
        j += 1
