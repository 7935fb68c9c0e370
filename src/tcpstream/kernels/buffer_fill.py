"""Values of a player over the rest of a video while it fills its buffer, at one place in the video."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import kept
from .buffer_leads import add_held, put
from .buffer_moves import of_state, transition
from .buffer_play import after
from .buffer_state import Filling, Known, Measures

Floats = NDArray[np.float64]


@part(nogil=True)
def fill(x: int, filling: Filling, into: Floats, highest: int, known: Known, on: Measures) -> None:
    """Set what a player sees that fills its buffer at place x, by state and what is held: up to a highest level."""
    size, threshold, needs, moves, nothing = filling
    waited, waited_more = on.waited, on.waited_more
    q, C = known.round, len(on.base)
    left = x * q
    S = len(moves.starts) - 1
    goal = min(threshold, (left + size - 1) // size)
    play, places = known.play, known.play.shape[0]
    now = play[x % places]
    for s in range(S):
        for at in range(goal, min(highest, into.shape[1])):
            held = at * size if left <= known.full else min(at * size, known.full)
            if held >= left:
                put(into[s, at], on.base)
            else:
                into[s, at] = 0.0
                add_held(into[s, at], 1.0, now[s], held, known.leads)
    sums, solved = np.empty((S, C)), np.empty((len(nothing.states), C))
    played = np.empty(C)
    for at in range(goal - 1, -1, -1):
        k = goal - at
        for s in range(S):
            out = sums[s]
            out[:] = 0.0
            near, first, last = of_state(s, k, needs, moves)
            for o in range(first, last):
                target, d, total, enough, w = transition(o, near, needs, moves)
                if enough != 0.0:
                    held = (at + total) * size
                    rest = held - d * q
                    if d <= 2 and rest >= 0 and held < left:
                        add_held(out, enough, play[(x - d) % places, target], rest, known.leads)
                    else:
                        after(out, enough, x, target, held, d, known, on)
                if w == 0.0:
                    continue
                if d > 1 and at + total >= goal:
                    played[:] = 0.0
                    after(played, 1.0, x, target, (at + total) * size, d - 1, known, on)
                    for c in range(C):
                        out[c] += w * (waited[1, c] * played[c] + waited_more[1, c])
                elif total == 0:
                    for c in range(C):
                        out[c] += w * waited_more[d, c]
                else:
                    row = into[target, at + total]
                    for c in range(C):
                        out[c] += w * (waited[d, c] * row[c] + waited_more[d, c])
        for i in range(len(nothing.states)):
            for c in range(C):
                value = 0.0
                for j in range(len(nothing.states)):
                    value += nothing.inverse[c, i, j] * sums[nothing.states[j], c]
                solved[i, c] = value
        for s in range(S):
            for o in range(nothing.starts[s], nothing.starts[s + 1]):
                i = nothing.place[nothing.target[o]]
                for c in range(C):
                    sums[s, c] += nothing.chance[o] * waited[nothing.rounds[o], c] * solved[i, c]
            put(into[s, at], sums[s])


@kept(nogil=True)
def fill_alone(x: int, filling: Filling, into: Floats, known: Known, on: Measures) -> None:
    """As `fill`, for values of playback that are known already."""
    fill(x, filling, into, into.shape[1], known, on)
