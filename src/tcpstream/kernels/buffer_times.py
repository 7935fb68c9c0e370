"""How long it takes to fill a buffer: forward in time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .buffer_moves import Passing, Totals, of_state, transition

Floats = NDArray[np.float64]


@kept(nogil=True)
def fill_times(
    goal: int, most: int, needs: Passing, moves: Totals, begin: Floats, negligible: float, least: float
) -> Floats:
    """Return the law of the rounds until so many quanta are held, from none: the chance of 0, 1, 2, ... rounds.

    `begin` is the distribution of the first state. The law ends where less than `negligible` is followed, or after
    `most` rounds; a state and a place of a probability below `least` is left out. Where transitions interpolate with
    weights of both signs, so does the law: it may come to 1 before its end.
    """
    S, longest = len(moves.starts) - 1, int(moves.rounds.max())
    coming = np.zeros((longest + 1, S, goal))
    low, high = np.full((longest + 1, S), goal), np.full((longest + 1, S), -1)
    ready = np.zeros(most + longest + 2)
    for s in range(S):
        coming[0, s, 0] = begin[s]
    low[0], high[0] = 0, 0
    sizes = np.zeros(longest + 1)
    for t in range(most):
        here = t % (longest + 1)
        for s in range(S):
            for at in range(low[here, s], high[here, s] + 1):
                mass = coming[here, s, at]
                coming[here, s, at] = 0.0
                if abs(mass) < least:
                    continue
                near, first, last = of_state(s, goal - at, needs, moves)
                for o in range(first, last):
                    target, d, total, enough, w = transition(o, near, needs, moves)
                    ready[t] += mass * enough
                    part = mass * w
                    if at + total >= goal:
                        ready[t + 1] += part
                    elif abs(part) >= least:
                        then = (t + d) % (longest + 1)
                        sizes[then] += abs(part)
                        coming[then, target, at + total] += part
                        low[then, target] = min(low[then, target], at + total)
                        high[then, target] = max(high[then, target], at + total)
            low[here, s], high[here, s] = goal, -1
        sizes[here] = 0.0
        if sizes.sum() < negligible:
            return ready[: t + 2]
    return ready[:most]
