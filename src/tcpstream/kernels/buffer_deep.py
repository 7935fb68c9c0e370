"""Values of a player that holds much, over the rest of a video: leads of many quanta."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import integer
from .buffer_leads import Deep, add_between, add_held, add_shifted, point, points_below, put
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
    now = known.play[x % known.play.shape[0]]
    first = followed // every
    end = first + max(points_below(left, n, known.leads), even) - even
    starts, target, rounds, shift, chance = deep.changes
    for s in range(now.shape[0]):
        now[s, followed : even + end - first] = 0.0
        for at in range(even + end - first, n):
            put(now[s, at], on.base)
        for o in range(moves.starts[s], moves.starts[s + 1]):
            for j in range(first, min(deep.begins[moves.rounds[o]], end)):
                _add_move(now[s, even + j - first], j * every, x, o, moves, known, on)
        for o in range(starts[s], starts[s + 1]):
            begin = max(first, deep.begins[rounds[o]])
            if begin < end:
                row = kept_values(x - rounds[o], rounds[o], target[o], known)
                _add_deep(now[s], row, chance[o], shift[o], begin, end, followed, even, every)
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


@part(nogil=True)
def _add_deep(
    sink: Floats, row: Floats, weight: float, shift: int, begin: int, end: int, followed: int, even: int, every: int
) -> None:  # fmt: skip
    """Add values of a row at multiples that are so much more than those of the sink, from `begin` to `end`."""
    n, C, first = len(sink), sink.shape[1], followed // every
    near = min(max(begin, first - shift), end)
    for j in range(begin, near):
        to, one = even + j - first, point(j + shift, followed, even, every)
        for c in range(C):
            sink[to, c] += weight * row[one, c]
    far = max(min(end, n - even + first - shift), near)
    add_shifted(sink, weight, row, even + near - first, even + far - first, shift)
    for j in range(far, end):
        for c in range(C):
            sink[even + j - first, c] += weight * row[n - 1, c]
