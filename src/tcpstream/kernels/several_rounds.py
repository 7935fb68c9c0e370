"""One step of rows that moves carry from each to others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .moves import convolve
from .rows import clear, reach, trim

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kept(nogil=True)
def several_rounds(
    x: Floats, low: Ints, high: Ints, sources: Ints, targets: Ints, shifts: Ints, starts: Ints, taps: Floats,
    new: Floats, new_low: Ints, new_high: Ints, wait_of: Ints, begun: Floats, wait_ring: Ints, wait_lag: Ints,
    ring: Floats, ring_low: Ints, ring_high: Ints, ring_target: Ints, ring_first: Ints, ring_size: Ints, number: int,
    waiting: Floats, limit: int, negligible: float,
) -> tuple[float, float]:  # fmt: skip
    """Make one step.

    Moves go to a row of `new`, but those of a wait, ``wait_of`` >= 0: what begins it is summed in a row of `begun`, and
    goes to the ring `wait_ring`, in the slot of the step `wait_lag` later. What lies in the slot of this step joins the
    row `ring_target` of `new`. `waiting` holds the sum of the rings.

    Returns
    -------
    above, dropped : float
        Mass removed at or above `limit`, and as negligible.
    """
    clear(new, new_low, new_high)
    waits = len(wait_ring)
    begun_low, begun_high = np.zeros(waits, dtype=np.int64), np.zeros(waits, dtype=np.int64)
    for i in range(len(sources)):
        s = sources[i]
        n = high[s] - low[s]
        if n <= 0:
            continue
        part = taps[starts[i] : starts[i + 1]]
        first = low[s] + shifts[i]
        last = first + n + len(part) - 1
        w = wait_of[i]
        if w < 0:
            t = targets[i]
            convolve(x[s, low[s] : high[s]], part, new[t, first:last])
            reach(new_low, new_high, t, first, last)
        else:
            convolve(x[s, low[s] : high[s]], part, begun[w, first:last])
            reach(begun_low, begun_high, w, first, last)
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
    rows = len(new)
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
