"""Values of a player that holds much, over the rest of a video: leads of many quanta."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import integer
from .buffer_leads import Deep, Leads, add_between, add_held, add_values, point, points_below, put
from .buffer_moves import Totals
from .buffer_play import kept_values, stall
from .buffer_state import Known, Measures

Floats = NDArray[np.float64]


@part(nogil=True)
def play_deep(x: int, moves: Totals, deep: Deep, known: Known, on: Measures) -> None:
    """Set the values at place x of the points that are further apart."""
    followed, even, every, _ = known.leads
    left, n = x * known.round, known.play.shape[2]
    if n <= even:
        return
    places, states, C = known.play.shape[0], known.play.shape[1], len(on.base)
    now = known.play[x % places]
    flat, flat_long = known.play.reshape(known.play.size), known.long.reshape(known.long.size)
    slot, first_row, depth = known.slot, known.first, known.depth
    first = followed // every
    end = first + max(points_below(left, n, known.leads), even) - even
    sums = np.zeros((end - first) * C)
    for s in range(states):
        now[s, followed : even + end - first] = 0.0
        for at in range(even + end - first, n):
            put(now[s, at], on.base)
        for o in range(moves.starts[s], moves.starts[s + 1]):
            for j in range(first, min(deep.begins[moves.rounds[o]], end)):
                _add_move(now[s, even + j - first], j * every, x, o, moves, known, on)
        sums[:] = 0.0
        for changes, low, high in ((deep.changes, first, min(end, deep.top[s])), (deep.at_top, deep.top[s], end)):
            starts, target, rounds, shift, chance = changes
            for o in range(starts[s], starts[s + 1]):
                d = rounds[o]
                begin = max(low, first, deep.begins[d])
                if begin >= high:
                    continue
                if d <= 2:
                    row = ((x - d) % places * states + target[o]) * n * C
                    _add_deep(sums, flat, row, chance[o], shift[o], begin, high, n, C, known.leads)
                else:
                    row = (first_row[slot[target[o]]] + (x - d) % depth[slot[target[o]]]) * n * C
                    _add_deep(sums, flat_long, row, chance[o], shift[o], begin, high, n, C, known.leads)
        for at in range(end - first):
            for c in range(C):
                now[s, even + at, c] += sums[at * C + c]
        between = max(min(even, left), followed)
        add_between(now[s], 1.0, now[s], followed, between, integer(0), known.leads)
        for at in range(between, even):
            put(now[s, at], on.base)


@part(nogil=True)
def _add_move(out: Floats, held: int, x: int, o: int, moves: Totals, known: Known, on: Measures) -> None:
    """Add what a transition leads to from so many quanta held."""
    q, left, C = known.round, x * known.round, len(on.base)
    d, w, total = moves.rounds[o], moves.chance[o], moves.received[o]
    rest = held + total - d * q
    if held + total >= left:
        for c in range(C):
            out[c] += w * on.base[c]
    elif rest < 0:
        stall(out, w, left - held - total, x, moves.target[o], -rest, known, on)
    else:
        add_held(out, w, kept_values(x - d, d, moves.target[o], known), rest, known.leads)


@numba.njit(nogil=True, inline="always")
def _add_deep(
    sums: Floats, values: Floats, row: int, weight: float, shift: int, begin: int, end: int, n: int, C: int,
    leads: Leads,
) -> None:  # fmt: skip
    """Add values of n points from `row` on at multiples that are so much more than those from `begin` to `end`."""
    followed, even, every, _ = leads
    first = followed // every
    near = min(max(begin, first - shift), end)
    for j in range(begin, near):
        one = row + point(j + shift, followed, even, every) * C
        for c in range(C):
            sums[(j - first) * C + c] += weight * values[one + c]
    far = max(min(end, n - even + first - shift), near)
    to, until, away = (near - first) * C, (far - first) * C, row + (even + shift) * C
    add_values(sums[to:until], weight, values[to + away : until + away])
    for j in range(far, end):
        for c in range(C):
            sums[(j - first) * C + c] += weight * values[row + (n - 1) * C + c]
