"""Rows of mass, each followed only from ``low`` to ``high``, exclusive: they hold zeros elsewhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import kept

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kept(nogil=True, fastmath={"contract"})
def clear(x: Floats, low: Ints, high: Ints) -> None:
    """Empty all rows: they hold zeros again and are followed nowhere."""
    for s in range(len(x)):
        row = x[s, low[s] : high[s]]
        for k in range(len(row)):
            row[k] = 0.0
        low[s] = 0
        high[s] = 0


@kept(nogil=True)
def span(low: Ints, high: Ints) -> tuple[int, int]:
    """Return the first index that any row is followed at, and the one after the last; equal if there are none."""
    first = -1
    end = -1
    for s in range(len(low)):
        if low[s] < high[s]:
            if first < 0 or low[s] < first:
                first = low[s]
            end = max(end, high[s])
    return first, end


@part(nogil=True, fastmath={"contract"})
def reach(low: Ints, high: Ints, row: int, start: int, end: int) -> None:
    """Follow a row at least from `start` to `end`."""
    if low[row] < high[row]:
        start = min(start, low[row])
        end = max(end, high[row])
    low[row] = start
    high[row] = end


@part(nogil=True)
def renew(x: Floats, low: Ints, high: Ints, s: int, start: int, end: int) -> None:
    """Follow a row from `start` to `end`, where it is to be overwritten, and empty the rest of it."""
    row = x[s]
    for k in range(low[s], min(start, high[s])):
        row[k] = 0.0
    for k in range(max(low[s], end), high[s]):
        row[k] = 0.0
    low[s] = start
    high[s] = end


@part(nogil=True, fastmath={"contract"})
def add_to(mass: Floats, weight: float, row: int, start: int, new: Floats, low: Ints, high: Ints) -> None:
    """Add ``weight * mass`` to a row from index `start` on, and follow it there."""
    if len(mass) == 0:
        return
    sink = new[row, start : start + len(mass)]
    for k in range(len(mass)):
        sink[k] += weight * mass[k]
    reach(low, high, row, start, start + len(mass))


@kept(nogil=True, fastmath={"contract"})
def ends(
    row: Floats, first: int, last: int, weight: float, negligible: float, signed: bool
) -> tuple[int, int, float, float]:
    """Return where to cut ``weight * row[first:last]`` so that each end dropped holds at most `negligible`.

    Parameters
    ----------
    row : (n,) array
        Contiguous.
    first, last : int
    weight, negligible : float
    signed : bool
        Whether what is below 0 is mass, as of three-point weights, and is judged by its size. Else it is rounding, and
        is always negligible.

    Returns
    -------
    first, last : int
        The rest is ``row[first:last]``; empty if all of it is negligible.
    before, behind : float
        What the ends hold.
    """
    before = 0.0
    while first < last:
        more = before + weight * row[first]
        if more > negligible or (signed and -more > negligible):
            break
        before = more
        first += 1
    behind = 0.0
    while last > first:
        more = behind + weight * row[last - 1]
        if more > negligible or (signed and -more > negligible):
            break
        behind = more
        last -= 1
    return first, last, before, behind


@part(nogil=True, fastmath={"contract"})
def trim_row(
    x: Floats,
    low: Ints,
    high: Ints,
    s: int,
    floor: int,
    share: float,
    limit: int,
    negligible: float,
    below: float,
    above: float,
    dropped: float,
) -> tuple[float, float, float]:
    """Drop what is followed no longer at both ends of a row, as `trim`; add what goes to the last three."""
    row = x[s]
    first = low[s]
    last = high[s]
    while first < last and first < floor:
        below += row[first]
        row[first] = 0.0
        first += 1
    if first == floor and first < last:
        below += (1.0 - share) * row[first]
        row[first] *= share
    while last > first and last > limit:
        last -= 1
        above += row[last]
        row[last] = 0.0
    start, end, before, behind = ends(row, first, last, 1.0, negligible, True)
    for k in range(first, start):
        row[k] = 0.0
    for k in range(end, last):
        row[k] = 0.0
    low[s] = start
    high[s] = end
    return below, above, dropped + abs(before) + abs(behind)


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
        below, above, dropped = trim_row(
            x, low, high, s, floors[s], shares[s], limits[s], negligible, below, above, dropped
        )
    return below, above, dropped
