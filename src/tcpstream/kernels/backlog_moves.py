"""One step of a backlog on a ladder of lattices: moves, and what passes from one lattice to the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .moves import convolve

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kept(nogil=True)
def free_moves(
    rows: Floats, first: int, end: int, into: Floats, sources: Ints, targets: Ints, shifts: Ints, starts: Ints,
    taps: Floats, floors: Ints,
) -> None:  # fmt: skip
    """Add moves of positions ``first .. end - 1`` of rows, of each move from its floor on, to other rows."""
    for i in range(len(sources)):
        begin = max(first, floors[i])
        if begin < end:
            part = taps[starts[i] : starts[i + 1]]
            at = begin + shifts[i]
            convolve(rows[sources[i], begin:end], part, into[targets[i], at : at + end - begin + len(part) - 1])


@kept(nogil=True)
def below_floors(rows: Floats, sources: Ints, floors: Ints) -> Floats:
    """Return the mass below the floor of each move."""
    end = 0
    for i in range(len(floors)):
        end = max(end, floors[i])
    below = np.zeros((len(rows), end + 1))
    for s in range(len(rows)):
        for k in range(end):
            below[s, k + 1] = below[s, k] + rows[s, k]
    mass = np.empty(len(sources))
    for i in range(len(sources)):
        mass[i] = below[sources[i], floors[i]]
    return mass


@kept(nogil=True)
def resting_below(
    rows: Floats, sources: Ints, floors: Ints, highest: Floats, fall: Floats, quantum: float, above: Floats, base: int
) -> Floats:
    """Return the mass below the floor of each move, times the part of the way for which it is at rest.

    Position k of a row s is a backlog of ``(k - base) * quantum + above[s]``; what is `fall` below ``highest`` is at
    rest all the way.
    """
    resting = np.zeros(len(sources))
    for i in range(len(sources)):
        s = sources[i]
        for k in range(floors[i]):
            missing = highest[i] - ((k - base) * quantum + above[s])
            resting[i] += rows[s, k] * min(1.0, missing / fall[i])
    return resting


@kept(nogil=True)
def land(into: Floats, which: Ints, mass: Floats, targets: Ints, shifts: Ints, starts: Ints, taps: Floats) -> None:
    """Add taps, times the mass of each, to rows."""
    for i in range(len(targets)):
        for j in range(starts[i], starts[i + 1]):
            into[targets[i], shifts[i] + j - starts[i]] += mass[which[i]] * taps[j]


@kept(nogil=True)
def transfer(rows: Floats, into: Floats, first: int, end: int, at: Ints, weights: Floats) -> None:
    """Add positions ``first .. end - 1`` of rows to other rows: position k to ``at[s, k] ..``, with weights."""
    for s in range(len(rows)):
        for k in range(first, end):
            if rows[s, k] != 0.0:
                for j in range(weights.shape[2]):
                    into[s, at[s, k] + j] += rows[s, k] * weights[s, k, j]
