"""How long it takes to deliver some packets, where each is lost for itself: forward in time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import integer, kept
from .buffer_moves import Totals
from .last_round import LastRound, end, retransmit, send_last_round
from .unlost import unlost_round

Floats = NDArray[np.float64]


@kept(nogil=True)
def transfer_times(
    start: int, goal: int, quantum: float, begin: Floats, moves: Totals, by_packet: Totals, last: LastRound,
    points: int, most: int, negligible: float, least: float,
) -> tuple[Floats, float]:  # fmt: skip
    """Return how many rounds it takes until some packets are there, and in which state; and what is left out of it.

    Parameters
    ----------
    start, goal : int
        Places at which it begins and ends [quanta]; those below the first are for what is less than nothing between
        quanta.
    quantum : float
        Packets of one; 1 is exact.
    begin : (n,) array
        Distribution of the first state: of windows, and of timeouts after them.
    moves : Totals
        Rounds of whole windows, and timeouts; only what leads to a timeout takes more than a round.
    by_packet : Totals
        The same in packets: where all begins in one state, what is never lost is followed to the packet.
    last : LastRound
    points : int
        Of `Ends`.
    most : int
        Rounds that are followed at most.
    negligible, least : float
        Probability that is left at the end; and that of a state and a place that is left out.

    Returns
    -------
    law : (rounds, points) array
        Row 0 where the first round delivers everything.
    out : float
    """
    S, n = len(last.windows), len(begin)
    slots = max(moves.rounds.max(), last.unrepaired_rounds.max()) + last.silence_rounds.max() + 1
    ring, waiting = np.zeros((slots, n - S, goal)), np.zeros(slots, dtype=np.int64)
    now, then = np.zeros((n, goal)), np.zeros((n, goal))
    low, high = np.full(n, goal), np.full(n, -1)
    next_low, next_high = np.full(n, goal), np.full(n, -1)
    need, further = np.ones(goal, dtype=np.int64), np.zeros(goal)  # part of what is there needs a packet more
    for at in range(goal):
        left_over = (goal - 0.5 - at) * quantum + 0.5 + 1e-9
        if left_over >= 1.0:
            need[at] = int(left_over)
            further[at] = left_over - need[at] if left_over - need[at] > 1e-8 else 0.0
    law = np.zeros((256, points))
    out, left = 0.0, 1.0
    packets, sent = int((goal - start - 0.5) * quantum + 0.5 + 1e-9), integer(0)
    path = int(np.argmax(begin)) if quantum != 1.0 and begin.max() == 1.0 else n  # nothing lost so far
    unlost = 1.0 if path < S else 0.0
    for s in range(n):
        if begin[s] != 0.0 and unlost == 0.0:
            now[s, start], low[s], high[s] = begin[s], start, start
    for t in range(most):
        if t + slots + 1 >= len(law):
            longer = np.zeros((2 * len(law) + slots, points))
            for k in range(len(law)):
                for point in range(points):
                    longer[k, point] = law[k, point]
            law = longer
        here = t % slots
        if waiting[here]:
            waiting[here] = 0
            for i in range(n - S):
                for at in range(goal):
                    if ring[here, i, at] != 0.0:
                        now[S + i, at] += ring[here, i, at]
                        ring[here, i, at] = 0.0
                        low[S + i], high[S + i] = min(low[S + i], at), max(high[S + i], at)
        if unlost > 0.0:
            path, sent, unlost = unlost_round(
                path, sent, unlost, packets, quantum, start, goal, by_packet, last, law, then, next_low, next_high,
                ring, waiting, t,
            )  # fmt: skip
        for s in range(n):
            a, b = low[s], high[s]
            low[s], high[s] = goal, -1
            while a <= b and abs(now[s, a]) < least:
                out += now[s, a]
                now[s, a] = 0.0
                a += 1
            while b >= a and abs(now[s, b]) < least:
                out += now[s, b]
                now[s, b] = 0.0
                b -= 1
            most_sent = last.windows[s] if s < S else 1
            while b >= a and need[b] <= most_sent:
                if s < S:
                    more = further[b] * now[s, b]
                    send_last_round(now[s, b] - more, s, b, need[b], quantum, goal, last, law, ring, waiting, t)
                    if more != 0.0 and need[b] == most_sent:
                        now[s, b] = more
                        break
                    if more != 0.0:
                        send_last_round(more, s, b, need[b] + 1, quantum, goal, last, law, ring, waiting, t)
                else:
                    retransmit(now[s, b], s, b, S, moves, last, law, ring, waiting, t)
                now[s, b] = 0.0
                b -= 1
            if a > b:
                continue
            for o in range(moves.starts[s], moves.starts[s + 1]):
                to, ahead, w = moves.target[o], moves.received[o], moves.chance[o]
                first, final = max(a + ahead, 0), min(b + ahead, goal - 1)
                inside = max(a - 1, min(b, goal - 1 - ahead))
                if moves.rounds[o] == 1:
                    row = then[to]
                    next_low[to], next_high[to] = min(next_low[to], first), max(next_high[to], final)
                else:
                    d = (t + moves.rounds[o]) % slots
                    row = ring[d, to - S]
                    waiting[d] = 1
                for at in range(a, min(b, -ahead - 1) + 1):
                    out += w * now[s, at]
                for at in range(max(a, -ahead), inside + 1):
                    row[at + ahead] += w * now[s, at]
                for at in range(inside + 1, b + 1):  # quanta above what arrives
                    end(law, t + 1, w * now[s, at], to, last.same)
            for at in range(a, b + 1):
                now[s, at] = 0.0
        left -= law[t].sum()
        if left - out < negligible or (unlost == 0.0 and next_high.max() < 0 and waiting.max() == 0):
            return law[: t + 2], out + max(left - law[t + 1].sum() - out, 0.0)
        now, then = then, now
        low, high, next_low, next_high = next_low, next_high, low, high
        next_low[:] = goal
        next_high[:] = -1
    return law[:most], left
