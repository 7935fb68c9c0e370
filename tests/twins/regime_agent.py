"""A path whose regimes change, simulated as plainly as it can be said; knows nothing of the chain of regimes.

Stays are drawn in continuous time [s]. A transition is one of the regime at the time when its round begins, drawn from
the rows of that regime's constant path; a change hands the window over. Rounds in which nothing can be sent pass, too.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
from numba import njit

from tcpstream.tcp import chain_of
from tcpstream.tcp.silences import LEVELS

NOISE = 1e-9


def tables(varying):
    """Rows of each regime, side by side: first row of each state, and of each row its end, packets, rounds, chance."""
    chains = [chain_of(path) for path in varying.regimes]
    starts, rows = [], []
    for chain in chains:
        written = chain.written_out
        order = np.argsort(written.from_state, kind="stable")
        starts.append(np.searchsorted(written.from_state[order], np.arange(written.n_states + 1)))
        columns = written.to_state, written.received, written.in_order, written.rounds
        rows.append((np.array([one[order] for one in columns]).T, written.probability[order]))
    k = len(chains)
    first = np.zeros((k, max(map(len, starts))), dtype=np.int64)
    moves = np.zeros((k, max(len(one) for one, _ in rows), 4), dtype=np.int64)
    sums = np.ones((k, moves.shape[1]))
    for i, (begin, (move, chance)) in enumerate(zip(starts, rows)):
        first[i, : len(begin)] = begin
        moves[i, : len(move)] = move
        for a, b in pairwise(begin):
            sums[i, a:b] = np.cumsum(chance[a:b]) / chance[a:b].sum()
    return first, moves, sums, hand_over(chains), np.array([chain.written_out.start for chain in chains])


def hand_over(chains):
    """State of each regime that takes over from each state of each other one, looked for one by one."""
    most = max(chain.n_states for chain in chains)
    found = np.zeros((len(chains), len(chains), most), dtype=np.int64)
    for j, new in enumerate(chains):
        lines = defaultdict(lambda: defaultdict(list))
        for t, (kind, line, window) in enumerate(zip(*(one.tolist() for one in new.graph.places))):
            lines[kind][line].append((t, window))
        for i, old in enumerate(chains):
            for s in range(old.n_states):
                found[i, j, s] = taking_over(old, new, lines, s)
    return found


def taking_over(old, new, lines, s):
    """Level by level in timeouts; else the nearest window that is not larger, on the nearest line of its kind.

    Of kinds that the new chain does not have, in congestion avoidance. A window as large as the new path takes, or
    larger, is where its queue overflows. `lines` has the states and windows of the new chain, by kind and line.
    """
    if s >= old.graph.size:
        return new.graph.size + s - old.graph.size
    kind, line, window = (int(one[s]) for one in old.graph.places)
    same_kind = lines[kind if kind in lines else 4]
    mine = same_kind[max((one for one in same_kind if one <= line), default=min(same_kind))]
    found, nearest = mine[0]
    if smaller := [w for _, w in mine if w <= window]:
        nearest = max(smaller)
        same = [t for t, w in mine if w == nearest]
        age = 0
        while s - age > 0 and all(one[s - age - 1] == one[s] for one in old.graph.places):
            age += 1
        found = same[min(age, len(same) - 1)] if nearest == window else same[-1]
    largest = new.graph.places.window[-1]
    if kind >= 4 and window >= largest and (window > largest or nearest < window):
        return new.graph.size - 1
    return found


@njit(cache=True)
def changed(regime, left, to, stays, seconds, rng):
    """The regime after some seconds, and what is left of its stay."""
    while left < seconds:
        seconds -= left
        u, regime_next = rng.random(), 0
        total = to[regime, 0]
        while u >= total and regime_next < len(stays) - 1:
            regime_next += 1
            total += to[regime, regime_next]
        regime = regime_next
        left = rng.exponential(stays[regime])
    return regime, left - seconds


@njit(cache=True)
def arrivals(first, moves, sums, over, begins, to, stays, shares, rtt, exists, runs, rng):
    """Packets in order by the ends of rounds 1, 2, ..., by run; exists[i]: packets there are by the end of round i."""
    found = np.zeros((runs, len(exists) - 1))
    for run in range(runs):
        u, now = rng.random(), 0
        while u >= shares[now] and now < len(shares) - 1:
            u -= shares[now]
            now += 1
        left = rng.exponential(stays[now])
        regime, state, wait, received = now, begins[now], 0, 0.0
        for i in range(1, len(exists)):
            shown = received
            if wait > 0:
                wait -= 1
            else:
                if regime != now:
                    state = over[regime, now, state]
                    regime = now
                if exists[i - 1] - received > NOISE:
                    u = rng.random()
                    row = first[regime, state]
                    while sums[regime, row] <= u and row + 1 < first[regime, state + 1]:
                        row += 1
                    shown = min(received + moves[regime, row, 2], exists[i])
                    received = min(received + moves[regime, row, 1], exists[i])
                    wait = moves[regime, row, 3] - 1
                    state = moves[regime, row, 0]
            found[run, i - 1] = shown
            now, left = changed(now, left, to, stays, rtt, rng)
    return found


def delivered(varying, rounds, runs, rng, exists=None):
    """Packets in order by the ends of so many rounds, by run; of a live stream where packets come to exist."""
    there = np.full(rounds + 1, np.inf) if exists is None else exists
    start = np.asarray(varying.shares) if varying.start is None else np.eye(len(varying.regimes))[varying.start]
    stays, to = np.array(varying.mean_stay), np.array(varying.to)
    return arrivals(*tables(varying), to, stays, start, varying.rtt, there, runs, rng)


def lateness(found, due):
    """Mean late packets and whether any packet is late, by run; due[i]: B_i, i = 0, 1, .."""
    behind = np.maximum(due[1:] - found, 0.0)
    behind[behind < NOISE] = 0.0
    return np.minimum(behind, np.diff(due)).sum(axis=1), (behind > 0).any(axis=1)


assert LEVELS == 7
