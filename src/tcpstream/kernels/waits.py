"""Mass that enters a wait and comes out of it."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def enter(
    x: Floats,
    low: Ints,
    high: Ints,
    origin: int,
    limit: int,
    negligible: float,
    rows: Ints,
    mass: Floats,
    firsts: Ints,
    sizes: Ints,
    waiting: Floats,
    waiting_origin: int,
) -> tuple[float, float]:
    """Put measures aside.

    Parameters
    ----------
    x : (E, n) array
        Measures at positions from `origin` on, each from ``low`` to ``high``, exclusive.
    low, high : (E,) arrays
    origin : int
    limit : int
        Positions from here on are not wanted.
    negligible : float
        Mass left out at most at each end.
    rows : (E,) array
        Row of `mass` that takes each.
    mass : (D, m) array
        Rows are overwritten from their start; m at least as much as is followed of any row of `x`.
    firsts, sizes : (D,) arrays
        Overwritten in `rows`: position of the first value, and how many there are.
    waiting : array
        All that waits, from position `waiting_origin` on; added to.
    waiting_origin : int

    Returns
    -------
    above, dropped : float
        Mass beyond the limit, and at the ends.
    """
    above = 0.0
    dropped = 0.0
    for e in range(len(x)):
        row = rows[e]
        out = _enter(
            x[e, low[e] : high[e]], origin + low[e], limit, negligible, mass[row], waiting, waiting_origin
        )  # fmt: skip
        firsts[row] = out[0]
        sizes[row] = out[1]
        above += out[2]
        dropped += out[3]
    return above, dropped


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _enter(
    mass: Floats, origin: int, limit: int, negligible: float, row: Floats, waiting: Floats, waiting_origin: int
) -> tuple[int, int, float, float]:
    """Put one measure aside; return where it starts, its size, and what lies beyond the limit and at the ends."""
    last = max(0, min(len(mass), limit - origin))
    above = 0.0
    for k in range(last, len(mass)):
        above += mass[k]
    start = 0
    below = 0.0
    while start < last and abs(below + mass[start]) <= negligible:
        below += mass[start]
        start += 1
    end = 0.0
    while last > start and abs(end + mass[last - 1]) <= negligible:
        end += mass[last - 1]
        last -= 1
    kept = mass[start:last]
    together = waiting[origin + start - waiting_origin : origin + last - waiting_origin]
    for k in range(len(kept)):
        row[k] = kept[k]
        together[k] += kept[k]
    return origin + start, len(kept), above, abs(below) + abs(end)


@numba.njit(cache=True, nogil=True)
def leaving(
    number: int, rounds: Ints, weights: Floats, starts: Ints, depths: Ints, firsts: Ints, sizes: Ints
) -> tuple[int, int]:
    """Return the first position of what leaves at the end of a round, and the one after the last; as for `leave`."""
    low = 2**62
    high = -(2**62)
    for kind in range(len(rounds)):
        for way in range(2):
            then = number + 1 - rounds[kind, way]
            row = starts[kind] + then % depths[kind]
            if then >= 0 and weights[kind, way] != 0.0 and sizes[row] > 0:
                low = min(low, firsts[row])
                high = max(high, firsts[row] + sizes[row])
    return low, high


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def leave(
    number: int,
    rounds: Ints,
    weights: Floats,
    levels: Ints,
    starts: Ints,
    depths: Ints,
    mass: Floats,
    firsts: Ints,
    sizes: Ints,
    new: Floats,
    low: Ints,
    high: Ints,
    origin: int,
    waiting: Floats,
    waiting_origin: int,
) -> None:
    """Move what leaves at the end of a round to the rows of its back-off levels.

    Parameters
    ----------
    number : int
        The round.
    rounds, weights : (K, 2) arrays
        The lengths that each kind of wait can have [rounds], increasing, and their probabilities.
    levels : (K,) array
        Row of `new` that each kind leaves to.
    starts, depths : (K,) arrays
        First row of `mass` of each kind, and how many it uses in turn.
    mass : (D, m) array
        What entered in each round.
    firsts, sizes : (D,) arrays
        Position of the first value of each row, and how many there are; none any more when all have left.
    new : (L, n) array
        Accumulated into, from position `origin` on, with `low` and `high`.
    low, high : (L,) arrays
    origin : int
    waiting : array
        All that waits, from position `waiting_origin` on; subtracted from.
    waiting_origin : int
    """
    for kind in range(len(rounds)):
        for way in range(2):
            then = number + 1 - rounds[kind, way]
            weight = weights[kind, way]
            row = starts[kind] + then % depths[kind]
            size = sizes[row]
            if then < 0 or weight == 0.0 or size == 0:
                continue
            level = levels[kind]
            start = firsts[row] - origin
            source = mass[row, :size]
            sink = new[level, start : start + size]
            spring = waiting[firsts[row] - waiting_origin : firsts[row] - waiting_origin + size]
            for k in range(size):
                sink[k] += weight * source[k]
                spring[k] -= weight * source[k]
            if low[level] < high[level]:
                low[level] = min(low[level], start)
                high[level] = max(high[level], start + size)
            else:
                low[level] = start
                high[level] = start + size
            if rounds[kind, way] == depths[kind]:
                sizes[row] = 0


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def add(mass: Floats, weight: float, target: Floats, start: int) -> None:
    """Add ``weight * mass`` to `target` from index `start` on."""
    sink = target[start : start + len(mass)]
    for k in range(len(mass)):
        sink[k] += weight * mass[k]
