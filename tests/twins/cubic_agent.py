"""CUBIC as RFC 9438 tells it, by acknowledgements and in whole packets as in Linux; knows nothing of the chain.

It is played by the functions of `sack_agent`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sack_agent import fates, random_rounds, repair

WINDOW, TIME, LEVEL, AGAIN, WAIT, PLATEAU, FRIENDLY, STEP, CREDIT, ORIGIN, BEFORE, NEXT = range(12)


@njit(cache=True)
def begin(tcp, cwnd, plateau, step):
    """Begin a stage of congestion avoidance (Sections 4.2 and 4.3)."""
    tcp[WINDOW] = tcp[FRIENDLY] = cwnd
    tcp[TIME], tcp[PLATEAU], tcp[STEP], tcp[CREDIT], tcp[BEFORE] = 0.0, plateau, step, 0, 0
    tcp[ORIGIN] = max(plateau, cwnd)


@njit(cache=True)
def afresh(tcp, path):
    """Begin after a window of one, a round before the first acknowledgements that count."""
    begin(tcp, 2.0, 2.0, 1.0)
    tcp[TIME], tcp[NEXT] = path[3], 2


@njit(cache=True)
def acknowledge(tcp, path, cwnd, count):
    """Return the window after so many acknowledgements that come together, a round after the last ones."""
    rtt = path[3]
    tcp[TIME] += rtt
    K = np.cbrt((tcp[ORIGIN] - tcp[NEXT]) / 0.4)
    away = np.floor(0.4 * abs(tcp[TIME] - K) ** 3 + 1e-9)
    target = tcp[ORIGIN] - away if tcp[TIME] < K else tcp[ORIGIN] + away
    for _ in range(count):
        every = cwnd // (target - cwnd) if target > cwnd else 100.0 * cwnd
        friendly = np.floor(tcp[FRIENDLY] + 1e-9)
        if friendly > cwnd:
            every = min(every, cwnd // (friendly - cwnd))
        every = max(every, 2.0)
        if tcp[CREDIT] >= every:
            tcp[CREDIT] = 0
            cwnd += 1
        tcp[FRIENDLY] += tcp[STEP] / cwnd
        tcp[CREDIT] += 1
        if tcp[CREDIT] >= every:
            tcp[CREDIT] = 0
            cwnd += 1
    return min(cwnd, path[1])


@njit(cache=True)
def round_of_cubic(tcp, path, rng):
    """Let TCP send for one round; return packets received, and those of them in order by its end."""
    p, max_window, timer, _ = path
    w, level, before = int(tcp[WINDOW]), int(tcp[LEVEL]), int(tcp[BEFORE])
    if level > 0:
        if rng.random() < p:
            tcp[WAIT] = random_rounds(timer * 2.0 ** min(level, 6), rng) - 1
            tcp[LEVEL], tcp[AGAIN] = min(level + 1, 7), 1
            return 0, 0
        if tcp[AGAIN] == 1:
            tcp[AGAIN] = 0
        else:
            tcp[LEVEL] = 0
            afresh(tcp, path)
        return 1, 1
    sent, merged = repair(before, w) if before else (w, 0.0)
    received, in_order, twice = fates(sent, p, rng)
    if (received > 0 and received < sent and twice > 0) or received == 0:
        tcp[BEFORE] = 0
        tcp[LEVEL], tcp[AGAIN] = 1, 1
        tcp[WAIT] = random_rounds(timer, rng) - 1 if received == 0 else random_rounds(timer + 1, rng) - 1
        return in_order, in_order
    reduces = received < sent and rng.random() >= merged
    early = w < tcp[PLATEAU]
    if before:
        if not reduces:
            tcp[BEFORE] = 0
            tcp[WINDOW] = acknowledge(tcp, path, tcp[WINDOW], w // 2)
            return received, in_order
    elif received == sent and w == 1:
        afresh(tcp, path)
        return 1, 1
    else:
        grown = acknowledge(tcp, path, tcp[WINDOW], w)
        if not reduces:
            tcp[WINDOW] = grown
            return received, in_order
        if rng.random() < (w - 1) / (2 * w):
            w = int(grown)
            early = w < tcp[PLATEAU] and w < max_window
    w = max(w, 2)
    left = max((7 * w) // 10, 2)
    begin(tcp, left, np.floor(0.85 * w + 1e-9) if early else w, 3 * 0.3 / 1.7)
    tcp[NEXT], tcp[BEFORE] = left, w
    return received, in_order


def plain(path):
    """What the functions of `sack_agent` want to know first."""
    start = np.array([1.0] + 11 * [0.0])
    return round_of_cubic, start, (float(path.loss), float(path.max_window), float(path.timeout_ratio), path.rtt)
