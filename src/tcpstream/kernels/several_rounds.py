"""One step of rows that moves carry from each to others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import integer, kept
from .bells import apart, convolve_apart
from .moves import convolve
from .rows import clear, reach, trim

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@part(nogil=True)
def _narrowed(
    row: Floats, other: Floats, begin: int, end: int, bell: int, wanted: int
) -> tuple[Floats, Floats, int, int]:
    """Smooth what a wide bell has until a narrower one is left, and return it, a row of zeros, and its ends."""
    while bell > wanted and begin < end:
        bell -= 1
        d = apart(bell)
        for weight, move in ((1 / 16, -2 * d), (4 / 16, -d), (6 / 16, 0), (4 / 16, d), (1 / 16, 2 * d)):
            sink, given = other[begin + move : end + move], row[begin:end]
            for k in range(len(given)):
                sink[k] += weight * given[k]
        row[begin:end] = 0.0
        row, other, begin, end = other, row, begin - 2 * d, end + 2 * d
    return row, other, begin, end


@kept(nogil=True)
def several_rounds(
    x: Floats, low: Ints, high: Ints, begins: Ints, sources: Ints, bells: Ints, shifts: Ints, starts: Ints,
    taps: Floats, new: Floats, new_low: Ints, new_high: Ints, begun: Floats, wait_ring: Ints, wait_lag: Ints,
    ring: Floats, ring_low: Ints, ring_high: Ints, ring_target: Ints, ring_first: Ints, ring_size: Ints, number: int,
    waiting: Floats, floor: int, limit: int, negligible: float,
) -> tuple[float, float]:  # fmt: skip
    """Make one step.

    Moves to a row of `new` are those from ``begins`` on, with the widest bells first; after all rows come the waits.
    What begins a wait is summed in a row of `begun`, and goes to the ring `wait_ring`, in the slot of the step
    `wait_lag` later. What lies in the slot of this step joins the row `ring_target` of `new`. `waiting` holds the sum
    of the rings. What comes to lie below `floor` is there: no move leads further down than to 0.

    Returns
    -------
    above, dropped : float
        Mass removed at or above `limit`, and as negligible.
    """
    clear(new, new_low, new_high)
    waits, rows, width = len(wait_ring), len(new), new.shape[1]
    begun_low, begun_high = np.zeros(waits, dtype=np.int64), np.zeros(waits, dtype=np.int64)
    row, other = np.zeros(width), np.zeros(width)
    for unit in range(rows + waits):
        begin, end, bell = width, integer(0), integer(-1)
        for i in range(begins[unit], begins[unit + 1]):
            s = sources[i]
            n = high[s] - low[s]
            if n <= 0:
                continue
            row, other, begin, end = _narrowed(row, other, begin, end, bell, bells[i])
            bell = bells[i]
            part, d = taps[starts[i] : starts[i + 1]], apart(bell)
            first = low[s] + shifts[i]
            last = first + n + d * (len(part) - 1)
            if d == 1:
                convolve(x[s, low[s] : high[s]], part, row[first:last])
            else:
                convolve_apart(x[s, low[s] : high[s]], part, d, row[first:last])
            begin, end = min(begin, first), max(end, last)
        if end == 0:
            continue
        row, other, begin, end = _narrowed(row, other, begin, end, bell, integer(0))
        w = unit - rows
        into = new[unit] if w < 0 else begun[w]
        for k in range(begin, end):
            into[k] += row[k]
            row[k] = 0.0
        if w < 0:
            reach(new_low, new_high, unit, begin, end)
        else:
            reach(begun_low, begun_high, w, begin, end)
    for w in range(waits):
        u = wait_ring[w]
        slot = ring_first[u] + (number + wait_lag[w]) % ring_size[u]
        for k in range(begun_low[w], begun_high[w]):
            ring[slot, k] += begun[w, k]
            waiting[k] += begun[w, k]
            begun[w, k] = 0.0
        if begun_low[w] < begun_high[w]:
            reach(ring_low, ring_high, slot, begun_low[w], begun_high[w])
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
    for t in range(rows):
        if new_low[t] < min(floor, new_high[t]):
            for k in range(new_low[t], min(floor, new_high[t])):
                new[t, floor] += new[t, k]
                new[t, k] = 0.0
            new_low[t], new_high[t] = floor, max(new_high[t], floor + 1)
    zero = np.zeros(rows, dtype=np.int64)
    _, above, dropped = trim(new, new_low, new_high, zero, np.ones(rows), np.full(rows, limit), negligible)
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
