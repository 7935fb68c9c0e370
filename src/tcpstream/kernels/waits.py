"""Mass that enters a wait and comes out of it."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def cut(mass: Floats, limit: int, negligible: float) -> tuple[int, int, float, float]:
    """Return where to cut a row: at `limit`, and so that each end dropped holds at most `negligible`.

    Parameters
    ----------
    mass : (n,) array
    limit : int
        What lies here or beyond is not wanted.
    negligible : float

    Returns
    -------
    first, last : int
        The rest is ``mass[first:last]``; empty if all of it is negligible.
    above, dropped : float
        Mass beyond the limit, and at the ends.
    """
    last = max(0, min(len(mass), limit))
    above = 0.0
    for k in range(last, len(mass)):
        above += mass[k]
    first = 0
    below = 0.0
    while first < last and abs(below + mass[first]) <= negligible:
        below += mass[first]
        first += 1
    end = 0.0
    while last > first and abs(end + mass[last - 1]) <= negligible:
        end += mass[last - 1]
        last -= 1
    return first, last, above, abs(below) + abs(end)


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def add(mass: Floats, weight: float, target: Floats, start: int) -> None:
    """Add ``weight * mass`` to `target` from index `start` on."""
    sink = target[start : start + len(mass)]
    for k in range(len(mass)):
        sink[k] += weight * mass[k]


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def move(mass: Floats, weight: float, target: Floats, start: int, origin: Floats, origin_start: int) -> None:
    """Add ``weight * mass`` to `target` from index `start` on; subtract it from `origin`."""
    sink = target[start : start + len(mass)]
    for k in range(len(mass)):
        sink[k] += weight * mass[k]
    spring = origin[origin_start : origin_start + len(mass)]
    for k in range(len(mass)):
        spring[k] -= weight * mass[k]
