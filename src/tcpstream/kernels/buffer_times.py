"""How long it takes to fill a buffer: forward in time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .buffer_state import Needs, Sums

Floats = NDArray[np.float64]


@kept(nogil=True)
def fill_times(goal: int, most: int, needs: Needs, moves: Sums, start: int, negligible: float) -> Floats:
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
                k = goal - at
                near = k <= needs.most
                first = needs.starts[s * needs.most + k - 1] if near else moves.starts[s]
                last = needs.starts[s * needs.most + k] if near else moves.starts[s + 1]
                for o in range(first, last):
                    d = needs.rounds[o] if near else moves.rounds[o]
                    total = needs.received[o] if near else moves.received[o]
                    target = needs.target[o] if near else moves.target[o]
                    w = needs.short[o] if near else moves.chance[o]
                    if near:
                        ready[t] += mass * needs.enough[o]
                    if at + total >= goal:
                        ready[t + 1] += mass * w
                    else:
                        coming[(t + d) % (longest + 1), target, at + total] += mass * w
        left -= ready[t]
        if left < negligible:
            return ready[: t + 2]
    return ready[:most]
