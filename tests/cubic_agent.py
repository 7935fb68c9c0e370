"""CUBIC as RFC 9438 tells it, W_est as in Linux: a round at a time and packet by packet; knows nothing of the chain.

Windows at a loss and after it are whole packets. It is played by the functions of `sack_agent`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sack_agent import random_rounds

WINDOW, TIME, LEVEL, AGAIN, WAIT, PLATEAU, K, FRIENDLY, STEP, CWND = range(10)


@njit(cache=True)
def begin(tcp, cwnd, plateau, step):
    """Begin a stage of congestion avoidance (Sections 4.2 and 4.3)."""
    tcp[WINDOW] = tcp[CWND] = tcp[FRIENDLY] = cwnd
    tcp[TIME], tcp[PLATEAU], tcp[STEP] = 0.0, plateau, step
    tcp[K] = np.cbrt((plateau - cwnd) / 0.4)


@njit(cache=True)
def round_of_cubic(tcp, path, rng):
    """Let TCP send for one round; return packets received, and those of them in order by its end."""
    p, max_window, timer, rtt = path
    w, level = int(tcp[WINDOW]), int(tcp[LEVEL])
    if level > 0:
        if rng.random() < p:
            tcp[WAIT] = random_rounds(timer * 2.0 ** min(level, 6), rng) - 1
            tcp[LEVEL], tcp[AGAIN] = min(level + 1, 7), 1
            return 0, 0
        if tcp[AGAIN] == 1:
            tcp[AGAIN] = 0
        else:
            tcp[LEVEL] = 0
            begin(tcp, 2.0, 2.0, 1.0)
        return 1, 1
    in_order, received, twice = -1, 0, 0
    for i in range(w):
        if rng.random() >= p:
            received += 1
            continue
        in_order = i if in_order < 0 else in_order
        twice += rng.random() < p
    if received == w:
        if w == 1:
            begin(tcp, 2.0, 2.0, 1.0)
            return 1, 1
        tcp[TIME] += rtt
        tcp[FRIENDLY] += tcp[STEP]
        target = 0.4 * (tcp[TIME] - tcp[K]) ** 3 + tcp[PLATEAU]
        target = min(max(target, tcp[CWND]), 1.5 * tcp[CWND])
        tcp[CWND] = max(target, tcp[FRIENDLY])
        tcp[WINDOW] = min(np.floor(tcp[CWND]), max_window)
        return w, w
    if received > 0 and twice == 0:
        plateau = w * (1 + 0.7) / 2 if w < tcp[PLATEAU] else w
        begin(tcp, max((7 * w) // 10, 2), plateau, 3 * 0.3 / 1.7)
        return received, in_order
    tcp[LEVEL], tcp[AGAIN] = 1, 1
    tcp[WAIT] = random_rounds(timer, rng) - 1 if received == 0 else random_rounds(timer + 1, rng) - 1
    return in_order, in_order


def plain(path):
    """What the functions of `sack_agent` want to know first."""
    start = np.array([1.0] + 9 * [0.0])
    return round_of_cubic, start, (float(path.loss), float(path.max_window), float(path.timeout_ratio), path.rtt)
