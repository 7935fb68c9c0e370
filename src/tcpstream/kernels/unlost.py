"""A transfer of which nothing is lost so far: known to the packet, while the rest is followed in quanta."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from .buffer_moves import Totals
from .last_round import LastRound, end, send_last_round

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NODES = 4
"""Places that share what lies between two of them, as in the moves on quanta."""


@part(nogil=True)
def unlost_round(
    state: int, sent: int, mass: float, packets: int, quantum: float, start: int, goal: int, moves: Totals,
    last: LastRound, law: Floats, then: Floats, low: Ints, high: Ints, ring: Floats, waiting: Ints, t: int,
) -> tuple[int, int, float]:  # fmt: skip
    """Send a round, and return the state, the packets sent and the probability that nothing is lost; 0 at the end.

    What is lost goes on in quanta: in the next round, or in one after a wait. `moves` are in packets.
    """
    S, slots, w = len(last.windows), len(waiting), last.windows[state]
    if w >= packets - sent:
        at = min(start + int(sent / quantum), goal - 1)
        send_last_round(mass, state, at, packets - sent, quantum, goal, last, law, ring, waiting, t)
        return state, packets, 0.0
    grown = -1  # the likeliest state after a round without losses
    for o in range(moves.starts[state], moves.starts[state + 1]):
        if moves.received[o] == w and (grown < 0 or moves.chance[o] > moves.chance[grown]):
            grown = o
    for o in range(moves.starts[state], moves.starts[state + 1]):
        if o == grown:
            continue
        to, x, d = moves.target[o], start + (sent + moves.received[o]) / quantum, moves.rounds[o]
        for k in range(NODES):
            share = mass * moves.chance[o]
            for i in range(NODES):
                if i != k:
                    share *= (x - int(x) + 1 - i) / (k - i)
            y = max(int(x) + k - 1, 0)
            if y >= goal:
                end(law, t + 1, share, to, last.same)
            elif d == 1:
                then[to, y] += share
                low[to], high[to] = min(low[to], y), max(high[to], y)
            else:
                ring[(t + d) % slots, to - S, y] += share
                waiting[(t + d) % slots] = 1
    return moves.target[grown], sent + w, mass * moves.chance[grown]
