"""How long it takes to deliver some packets, where each is lost for itself: forward in time."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Rounds(NamedTuple):
    """What rounds of windows lead to.

    Attributes
    ----------
    windows : (S,) int array
        Packets of a round.
    grow_starts, grow_to, grow_share : arrays
        After a round delivered whole, by state.
    recover_to, recover_share : (S, M) arrays
        After losses that are repaired.
    repaired : (W + 1, K + 1) array
        P(K losses in a window, all repaired).
    loss, repairs, holds, lost_unseen : float
        p; P(a packet is lost and repaired); P(it is not lost, or repaired); P(a retransmission is lost unseen).
    """

    windows: Ints
    grow_starts: Ints
    grow_to: Ints
    grow_share: Floats
    recover_to: Ints
    recover_share: Floats
    repaired: Floats
    loss: float
    repairs: float
    holds: float
    lost_unseen: float


class Timers(NamedTuple):
    """Waits of timeouts, whose states follow those of windows.

    Attributes
    ----------
    whole_rounds, whole_share : arrays
        After a window lost whole.
    unrepaired_rounds, unrepaired_share : arrays
        After a round with a packet that is lost twice.
    starts, to, received, rounds, chance : arrays
        Transitions of the states of timeouts.
    """

    whole_rounds: Ints
    whole_share: Floats
    unrepaired_rounds: Ints
    unrepaired_share: Floats
    starts: Ints
    to: Ints
    received: Ints
    rounds: Ints
    chance: Floats


@numba.njit(nogil=True, inline="always")
def _put(
    at: float, mass: float, s: int, goal: int, into: Floats, low: Ints, high: Ints, least: float, law: Floats, t: int
) -> float:  # fmt: skip
    """Add what has arrived to a round that begins, between two quanta; return what is left out."""
    x = int(at + 1e-9)
    share = at - x
    if share < 1e-9:
        share = 0.0
    lost = 0.0
    for i in range(2):
        part = (share if i else 1.0 - share) * mass
        if part == 0.0:
            continue
        y = x + i
        if y >= goal:
            law[t] += part
        elif part < least:
            lost += part
        else:
            into[s, y] += part
            low[s] = min(low[s], y)
            high[s] = max(high[s], y)
    return lost


@kept(nogil=True)
def transfer_times(
    goal: int, quantum: float, begin: Floats, rounds: Rounds, timers: Timers, most: int, negligible: float, least: float
) -> tuple[Floats, float]:
    """Return the law of the rounds until some packets are there, and the probability that is left out of it.

    Parameters
    ----------
    goal : int
        Quanta to deliver.
    quantum : float
        Packets of one; 1 is exact.
    begin : (n,) array
        Of states of windows, and of timeouts.
    rounds, timers
        See their classes.
    most : int
        Rounds that are followed at most.
    negligible, least : float
        Probability that is left at the end; and that of a state and a place that is left out.
    """
    S, states = len(rounds.windows), len(begin)
    q, p = 1.0 - rounds.loss, rounds.loss
    longest = max(timers.rounds.max(), timers.whole_rounds.max(), timers.unrepaired_rounds.max()) + 1
    ring = np.zeros((longest + 1, states - S, goal))
    due = np.zeros(longest + 1, dtype=np.int64)  # whether anything waits for a round
    now, then = np.zeros((states, goal)), np.zeros((states, goal))
    low, high = np.full(states, goal), np.full(states, -1)
    next_low, next_high = np.full(states, goal), np.full(states, -1)
    law = np.zeros(most + longest + 2)
    out, left = 0.0, 1.0
    for s in range(states):
        if begin[s] > 0:
            now[s, 0], low[s], high[s] = begin[s], 0, 0
    for t in range(most):
        here = t % (longest + 1)
        if due[here]:
            due[here] = 0
            for i in range(states - S):
                for at in range(goal):
                    if ring[here, i, at] > 0.0:
                        now[S + i, at] += ring[here, i, at]
                        ring[here, i, at] = 0.0
                        low[S + i], high[S + i] = min(low[S + i], at), max(high[S + i], at)
        for s in range(states):
            for at in range(low[s], high[s] + 1):
                mass = now[s, at]
                if mass == 0.0:
                    continue
                now[s, at] = 0.0
                if s >= S:
                    for o in range(timers.starts[s - S], timers.starts[s - S + 1]):
                        d, part, to = timers.rounds[o], mass * timers.chance[o], timers.to[o]
                        if timers.received[o] > 0:
                            if at + 1 / quantum >= goal:
                                law[t] += part
                            else:
                                out += _put(
                                    at + timers.received[o] / quantum, part, to, goal, then, next_low, next_high, least,
                                    law, t + 1,
                                )  # fmt: skip
                        else:
                            ring[(t + d) % (longest + 1), to - S, at] += part
                            due[(t + d) % (longest + 1)] = 1
                    continue
                w = rounds.windows[s]
                need = int((goal - 0.5 - at) * quantum + 0.5 + 1e-9)
                need = max(need, 1)
                first = 0.0
                if w >= need:
                    first = q**need
                    law[t] += mass * first
                else:
                    for o in range(rounds.grow_starts[s], rounds.grow_starts[s + 1]):
                        part = mass * q**w * rounds.grow_share[o]
                        out += _put(
                            at + w / quantum, part, rounds.grow_to[o], goal, then, next_low, next_high, least, law,
                            t + 1,
                        )  # fmt: skip
                for K in range(1, min(w, rounds.repaired.shape[1])):
                    chance = rounds.repaired[w, K]
                    if w >= need:
                        chance -= first * rounds.repaired[w - need, K]
                    part = mass * chance
                    if part <= 0.0:
                        continue
                    if w - K >= need:
                        law[t + 1] += part
                        continue
                    if part < least:
                        out += part
                        continue
                    for way in range(rounds.recover_to.shape[1]):
                        if rounds.recover_share[s, way] > 0:
                            out += _put(
                                at + (w - K) / quantum, part * rounds.recover_share[s, way], rounds.recover_to[s, way],
                                goal, then, next_low, next_high, least, law, t + 1,
                            )  # fmt: skip
                whole = mass * p**w
                if whole >= least:
                    for o in range(len(timers.whole_rounds)):
                        d = (t + timers.whole_rounds[o]) % (longest + 1)
                        ring[d, 0, at] += whole * timers.whole_share[o]
                        due[d] = 1
                else:
                    out += whole
                if rounds.lost_unseen == 0.0:
                    continue
                for j in range(min(w, need)):
                    fails = p * q**j * (1 - (1 - rounds.lost_unseen) * rounds.holds ** (w - 1 - j))
                    if j == 0:
                        fails -= p**w - rounds.repairs**w
                    part = mass * fails
                    if part < least:
                        out += max(part, 0.0)
                        continue
                    x = at + j / quantum
                    y = int(x + 1e-9)
                    share = x - y if x - y > 1e-9 else 0.0
                    for o in range(len(timers.unrepaired_rounds)):
                        d = (t + timers.unrepaired_rounds[o]) % (longest + 1)
                        due[d] = 1
                        ring[d, 0, min(y, goal - 1)] += part * timers.unrepaired_share[o] * (1 - share)
                        ring[d, 0, min(y + 1, goal - 1)] += part * timers.unrepaired_share[o] * share
        left -= law[t]
        if left - out < negligible:
            return law[: t + 2], out + max(left - law[t + 1] - out, 0.0)
        now, then = then, now
        low, high, next_low, next_high = next_low, next_high, low, high
        next_low[:] = goal
        next_high[:] = -1
    return law[:most], left
