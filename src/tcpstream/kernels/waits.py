"""Mass that enters a wait and comes out of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .rows import ends

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kept(nogil=True, fastmath={"contract"})
def enter(
    x: Floats,
    weight: float,
    origin: int,
    limit: int,
    negligible: float,
    row: int,
    mass: Floats,
    firsts: Ints,
    sizes: Ints,
    waiting: Floats,
    waiting_origin: int,
) -> tuple[float, float]:
    """Put ``weight * x`` aside.

    Parameters
    ----------
    x : (n,) array
        A measure at positions from `origin` on.
    weight : float
    origin : int
    limit : int
        Positions from here on are not wanted.
    negligible : float
        Mass left out at most at each end.
    row : int
        Row of `mass` that takes it.
    mass : (D, m) array
        Rows are overwritten from their start; m at least n.
    firsts, sizes : (D,) arrays
        Overwritten in `row`: position of the first value, and how many there are.
    waiting : array
        All that waits, from position `waiting_origin` on; added to.
    waiting_origin : int

    Returns
    -------
    above, dropped : float
        Mass beyond the limit, and at the ends.
    """
    last = max(0, min(len(x), limit - origin))
    above = 0.0
    for k in range(last, len(x)):
        above += weight * x[k]
    start, last, before, behind = ends(x, 0, last, weight, negligible, True)
    firsts[row] = origin + start
    sizes[row] = last - start
    kept = x[start:last]
    own = mass[row, : last - start]
    together = waiting[origin + start - waiting_origin : origin + last - waiting_origin]
    for k in range(last - start):
        own[k] = weight * kept[k]
        together[k] += own[k]
    return above, abs(before) + abs(behind)


@kept(nogil=True)
def leaving(
    number: int, rounds: Ints, weights: Floats, starts: Ints, depths: Ints, firsts: Ints, sizes: Ints
) -> tuple[int, int]:
    """Return the first position of what leaves at the end of a round, and the one after the last (see `turn`)."""
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


@kept(nogil=True, fastmath={"contract"})
def add(mass: Floats, weight: float, target: Floats, start: int) -> None:
    """Add ``weight * mass`` to `target` from index `start` on."""
    sink = target[start : start + len(mass)]
    for k in range(len(mass)):
        sink[k] += weight * mass[k]
