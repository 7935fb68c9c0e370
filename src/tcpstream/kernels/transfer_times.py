"""How long it takes to deliver some packets, where each is lost for itself: forward in time."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .buffer_moves import Totals

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Ends(NamedTuple):
    """What a state is known as where a transfer ends: points and shares; those of s are ``starts[s] ..``.

    Attributes
    ----------
    starts : (n + 1,) int array
    points : (k,) int array
    shares : (k,) array
    """

    starts: Ints
    points: Ints
    shares: Floats


class LastRound(NamedTuple):
    """The last round of a transfer, which sends what is left.

    Attributes
    ----------
    windows : (S,) int array
        Of the states that send one [packets].
    loss, holds, lost_unseen : float
        p; P(a packet is not lost, or repaired); P(a retransmission is lost unseen).
    silence_rounds, silence_shares : arrays
        From its start to a retransmission, where its last packet is lost.
    unrepaired_rounds, unrepaired_shares : arrays
        The same after a packet that is lost twice.
    timer : int
        State of the first retransmission after a timeout.
    probes : bool
        Whether a probe repairs the last packets instead.
    same, grown, reduced : Ends
        After a round whose acknowledgements open no window; after one of a whole window; after losses.
    """

    windows: Ints
    loss: float
    holds: float
    lost_unseen: float
    silence_rounds: Ints
    silence_shares: Floats
    unrepaired_rounds: Ints
    unrepaired_shares: Floats
    timer: int
    probes: bool
    same: Ends
    grown: Ends
    reduced: Ends


@numba.njit(nogil=True)
def _end(law: Floats, t: int, mass: float, s: int, ends: Ends) -> None:
    """Add mass that ends in a round, in a state."""
    for o in range(ends.starts[s], ends.starts[s + 1]):
        law[t, ends.points[o]] += mass * ends.shares[o]


@numba.njit(nogil=True)
def _last_round(
    mass: float, s: int, at: int, need: int, quantum: float, goal: int, last: LastRound, law: Floats, ring: Floats,
    waiting: Ints, t: int,
) -> None:  # fmt: skip
    """Follow a round that sends all that is left, `need` packets."""
    p, q, S = last.loss, 1.0 - last.loss, len(last.windows)
    slots, part = len(waiting), mass * q**need
    open_ = need / last.windows[s]  # each acknowledgement opens the window by its share
    _end(law, t, part * open_, s, last.grown)
    _end(law, t, part * (1 - open_), s, last.same)
    _end(law, t + 1, mass * q * (last.holds ** (need - 1) - q ** (need - 1)), s, last.reduced)
    whole = mass * p**need
    tail = mass * p - whole  # the last packet, but not all
    for o in range(len(last.silence_rounds)):
        d, share = last.silence_rounds[o], last.silence_shares[o]
        ring[(t + d) % slots, last.timer - S, at] += whole * share
        if last.probes:
            _end(law, t + d, tail * share, s, last.reduced)
        else:
            ring[(t + d) % slots, last.timer - S, goal - 1] += tail * share
        waiting[(t + d) % slots] = 1
    if last.lost_unseen == 0.0:
        return
    for j in range(need - 1):
        fails = q * p * q**j * (1 - (1 - last.lost_unseen) * last.holds ** (need - 2 - j))
        x = at + j / quantum
        y = int(x + 1e-9)
        above = x - y if x - y > 1e-9 else 0.0
        for o in range(len(last.unrepaired_rounds)):
            d, here = (t + last.unrepaired_rounds[o]) % slots, mass * fails * last.unrepaired_shares[o]
            ring[d, last.timer - S, min(y, goal - 1)] += here * (1 - above)
            ring[d, last.timer - S, min(y + 1, goal - 1)] += here * above
            waiting[d] = 1


@numba.njit(nogil=True)
def _retransmit(
    mass: float, s: int, at: int, S: int, moves: Totals, last: LastRound, law: Floats, ring: Floats, waiting: Ints,
    t: int,
) -> None:  # fmt: skip
    """Follow the last packet, sent in a timeout."""
    slots = len(waiting)
    for o in range(moves.starts[s], moves.starts[s + 1]):
        if moves.received[o] > 0:
            _end(law, t, mass * moves.chance[o], moves.target[o], last.same)
        else:
            d = (t + moves.rounds[o]) % slots
            ring[d, moves.target[o] - S, at] += mass * moves.chance[o]
            waiting[d] = 1


@kept(nogil=True)
def transfer_times(
    start: int, goal: int, quantum: float, begin: Floats, moves: Totals, last: LastRound, points: int, most: int,
    negligible: float, least: float,
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
    slots = max(moves.rounds.max(), last.silence_rounds.max(), last.unrepaired_rounds.max()) + 1
    ring, waiting = np.zeros((slots, n - S, goal)), np.zeros(slots, dtype=np.int64)
    now, then = np.zeros((n, goal)), np.zeros((n, goal))
    low, high = np.full(n, goal), np.full(n, -1)
    next_low, next_high = np.full(n, goal), np.full(n, -1)
    need = np.empty(goal, dtype=np.int64)
    for at in range(goal):
        need[at] = max(1, int((goal - 0.5 - at) * quantum + 0.5 + 1e-9))
    law = np.zeros((256, points))
    out, left = 0.0, 1.0
    for s in range(n):
        if begin[s] > 0:
            now[s, start], low[s], high[s] = begin[s], start, start
    for t in range(most):
        if t + slots + 1 >= len(law):
            longer = np.zeros((2 * len(law) + slots, points))
            longer[: len(law)] = law
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
            sent = last.windows[s] if s < S else 1
            while b >= a and need[b] <= sent:
                if s < S:
                    _last_round(now[s, b], s, b, need[b], quantum, goal, last, law, ring, waiting, t)
                else:
                    _retransmit(now[s, b], s, b, S, moves, last, law, ring, waiting, t)
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
                for at in range(max(a, -ahead), inside + 1):
                    row[at + ahead] += w * now[s, at]
                for at in range(inside + 1, b + 1):  # quanta above what arrives
                    _end(law, t + 1, w * now[s, at], to, last.same)
            for at in range(a, b + 1):
                now[s, at] = 0.0
        left -= law[t].sum()
        if left - out < negligible:
            return law[: t + 2], out + max(left - law[t + 1].sum() - out, 0.0)
        now, then = then, now
        low, high, next_low, next_high = next_low, next_high, low, high
        next_low[:] = goal
        next_high[:] = -1
    return law[:most], left
