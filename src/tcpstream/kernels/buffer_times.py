"""How long it takes to fill a buffer: forward in time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .buffer_moves import Passing, Totals, of_state, transition

Floats = NDArray[np.float64]


@kept(nogil=True)
def fill_times(goal: int, most: int, needs: Passing, moves: Totals, start: int, negligible: float) -> Floats:
    """Return the law of the rounds until so many quanta are held, from none: the chance of 0, 1, 2, ... rounds.

    It ends where less than `negligible` is left, or after `most` rounds.
    """
    S, longest, width = len(moves.starts) - 1, int(moves.rounds.max()), goal
    coming = np.zeros((longest + 1, S, width))
    ready = np.zeros(most + longest + 2)
    coming[0, start, 0] = 1.0
    left = 1.0
    for t in range(most):
        now = coming[t % (longest + 1)]
        for s in range(S):
            for at in range(goal):
                mass = now[s, at]
                if mass == 0.0:
                    continue
                now[s, at] = 0.0
                near, first, last = of_state(s, goal - at, needs, moves)
                for o in range(first, last):
                    target, d, total, enough, w = transition(o, near, needs, moves)
                    ready[t] += mass * enough
                    if at + total >= goal:
                        ready[t + 1] += mass * w
                    else:
                        coming[(t + d) % (longest + 1), target, at + total] += mass * w
        left -= ready[t]
        if left < negligible:
            return ready[: t + 2]
    return ready[:most]
