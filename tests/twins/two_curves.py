"""A chain between what exists and what is due, slowly: every transition in dictionaries, and one run after another."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numba import njit

from tcpstream.tcp import chain_of
from written_rows import by_source


def outgoing(path):
    rows, found = chain_of(path).written_out, defaultdict(list)
    for move in zip(rows.from_state, rows.to_state, rows.rounds, rows.received, rows.in_order, rows.probability):
        found[int(move[0])].append((*map(int, move[1:5]), float(move[5])))
    return rows.start, found


def in_time(path, exists, due):
    """P(nothing was late) after each round: states, rounds left to wait, and packets, each way in a dictionary.

    ``exists`` and ``due`` are packets by the ends of rounds 0, 1, ..; the last ones are all. What round i delivers in
    order is there in time for what is due in it, up to its end, and no later.
    """
    first, moves = outgoing(path)
    law, found = {(first, 0, 0): 1.0}, [1.0]
    for i in range(1, len(due)):
        after = defaultdict(float)
        for (state, wait, packets), chance in law.items():
            if wait > 0:
                ways = [(state, wait - 1, packets, packets, 1.0)]
            elif packets == exists[i - 1]:  # nothing to send
                ways = [(state, 0, packets, packets, 1.0)]
            else:
                ways = [
                    (to, rounds - 1, min(packets + got, exists[i]), min(packets + ordered, exists[i]), p)
                    for to, rounds, got, ordered, p in moves[state]
                ]
            for to, rounds, got, ordered, p in ways:
                if ordered >= due[i]:
                    after[to, rounds, got] += chance * p
        law = after
        found.append(sum(law.values()))
    return found


@njit(cache=True)
def _lateness(runs, rng, starts, to, rounds, received, in_order, cumulated, first, exists, rate):
    """Largest lateness [rounds] of a packet of each run, which is due (k - 1) / rate after the start."""
    found = np.zeros(runs)
    packets = exists[-1]
    for run in range(runs):
        state, arrived, wait, i, largest = first, 0.0, 0, 0, 0.0
        while True:
            i += 1
            there, most = exists[min(i - 1, len(exists) - 1)], exists[min(i, len(exists) - 1)]
            ordered = arrived
            if wait > 0:
                wait -= 1
            elif arrived < there - 1e-9:
                u, row = rng.random(), starts[state]
                while cumulated[row] < u and row < starts[state + 1] - 1:
                    row += 1
                ordered = min(most, arrived + in_order[row])
                arrived, wait, state = min(most, arrived + received[row]), rounds[row] - 1, to[row]
            if ordered >= packets - 1e-9:
                break
            largest = max(largest, i - ordered / rate)
        found[run] = largest
    return found


def lateness(path, exists, rate, runs, seed):
    """The largest lateness of a packet [rounds], were there no startup delay: ``rate`` is in packets a round."""
    rows = chain_of(path).written_out
    return _lateness(
        runs, np.random.default_rng(seed), *by_source(rows), rows.start, np.asarray(exists, dtype=float), rate,
    )  # fmt: skip
