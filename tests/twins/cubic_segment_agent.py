"""A player that fetches segments from a sender with CUBIC and RACK-TLP, simulated as plainly as it can be said.

It remembers its threshold and its line, sends no more than is left of a segment, and restarts after an idle time as
Linux does, whose CUBIC then finds back to its line. It knows nothing of chains, points and ladders.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from cubic_agent import BEFORE, CREDIT, FRIENDLY, NEXT, ORIGIN, PLATEAU, STEP, TIME, WINDOW, begin
from sack_agent import random_rounds, repair
from segment_agent import NONE

THRESHOLD, FRESH, ON_LINE = 12, 13, 14
"""Slow start's end; whether no window of a loss is known; whether there is a line to come back to."""


def connection(first_window):
    """Return a new connection."""
    tcp = np.zeros(15)
    tcp[WINDOW], tcp[THRESHOLD] = first_window, NONE
    return tcp


@njit(cache=True)
def grown(tcp, rtt, count):
    """Return the window after so many acknowledgements that come together; tcp is what it was."""
    w, threshold = tcp[WINDOW], tcp[THRESHOLD]
    if w < threshold:
        return min(w + count, threshold)
    if not tcp[ON_LINE]:  # congestion avoidance begins with the threshold as its plateau
        begin(tcp, w, w, 9 / 17)
        tcp[NEXT], tcp[FRESH], tcp[ON_LINE] = w, 1, 1
        tcp[PLATEAU] = 0
    K = np.cbrt((tcp[ORIGIN] - tcp[NEXT]) / 0.4)
    away = np.floor(0.4 * abs(tcp[TIME] + rtt - K) ** 3 + 1e-9)
    target = tcp[ORIGIN] - away if tcp[TIME] + rtt < K else tcp[ORIGIN] + away
    friendly, credit = tcp[FRIENDLY], tcp[CREDIT]
    for _ in range(count):
        every = w // (target - w) if target > w else 100.0 * w
        if tcp[FRESH]:
            every = min(every, 20.0)
        ahead = np.floor(friendly + 1e-9) - w
        if ahead > 0:
            every = min(every, w // ahead)
        every = max(every, 2.0)
        if credit >= every:
            credit, w = 0, w + 1
        friendly += tcp[STEP] / w
        credit += 1
        if credit >= every:
            credit, w = 0, w + 1
    tcp[FRIENDLY], tcp[CREDIT] = friendly, credit
    return w


@njit(cache=True)
def download(tcp, packets, p, timer, rtt, rng):
    """Return the rounds of a segment."""
    left, rounds = packets, 0
    while True:
        rounds += 1
        w, before = int(tcp[WINDOW]), int(tcp[BEFORE])
        could, merged = repair(before, w) if before else (w, 0.0)
        sent = min(could, left)
        lost, again, last_lost = 0, False, False
        for i in range(sent):
            if rng.random() < p:
                lost += 1
                last_lost = i == sent - 1
                again = again or rng.random() < p
        tcp[BEFORE] = 0
        kept = tcp.copy()
        if lost == 0 and (before or rng.random() < sent / could):
            tcp[WINDOW] = grown(tcp, rtt, w // 2 if before else w)
            tcp[TIME] += rtt
        elif lost == 0:
            pass
        elif lost == sent:  # a probe after two rounds, then timers
            rounds += 2 - 1
            threshold, level, again = max((7 * w) // 10, 2), 1, True
            while True:
                rounds += 1
                if rng.random() < p:
                    rounds += random_rounds(timer * 2.0 ** min(level - 1, 6), rng) - 1
                    if not again:
                        threshold = 2
                    level, again = min(level + 1, 7), True
                    continue
                left -= 1
                if left == 0 or not again:
                    break
                again = False
            tcp[WINDOW], tcp[THRESHOLD], tcp[ON_LINE], tcp[PLATEAU] = 2, threshold, 0, 0
            if left == 0:
                return rounds
            continue
        elif rng.random() >= merged:
            at = w
            if not before and rng.random() < (w - 1) / (2 * w):
                at = int(grown(tcp, rtt, w))
            at = max(at, 2)
            early = at < kept[PLATEAU]
            reduced = max((7 * at) // 10, 2)
            begin(tcp, reduced, np.floor(0.85 * at + 1e-9) if early else at, 9 / 17)
            tcp[NEXT], tcp[BEFORE], tcp[THRESHOLD], tcp[FRESH], tcp[ON_LINE] = reduced, at, reduced, 0, 1
        elif before:
            tcp[WINDOW] = grown(tcp, rtt, w // 2)
            tcp[TIME] += rtt
        if sent == left:
            if lost == 0:
                return rounds
            if tcp[BEFORE]:  # the round that repairs is over when the next segment is asked for
                tcp[BEFORE] = 0
                tcp[WINDOW] = grown(tcp, rtt, int(tcp[WINDOW]) // 2)
                tcp[TIME] += rtt
            rounds += 2 if last_lost else 1
            if rng.random() < p if last_lost else again:  # the probe, or a repair, is lost
                level = 1 + last_lost
                rounds += random_rounds(timer, rng)
                tcp[WINDOW], tcp[THRESHOLD], tcp[ON_LINE], tcp[PLATEAU] = 2, max((7 * w) // 10, 2), 0, 0
                while rng.random() < p:
                    rounds += random_rounds(timer * 2.0 ** min(level - 1, 6), rng)
                    level += 1
            return rounds
        left -= sent - lost


@njit(cache=True)
def restart(tcp, halvings, first_window):
    """Halve the window after an idle time."""
    w = int(tcp[WINDOW])
    tcp[THRESHOLD] = max(tcp[THRESHOLD], 3 * w // 4)
    tcp[WINDOW] = max(w >> min(halvings, 60), min(first_window, w))


@njit(cache=True)
def after_idle_times(start, runs, packets, p, timer, rtt, first_window, halvings, rng):
    """Return the rounds of segments one after the other, each after an idle time that halves the window so often."""
    tcp, rounds = start.copy(), np.zeros(runs)
    for i in range(-100, runs):
        if halvings > 0:
            restart(tcp, halvings, first_window)
        took = download(tcp, packets, p, timer, rtt, rng)
        if i >= 0:
            rounds[i] = took
    return rounds


@njit(cache=True)
def from_window(start, runs, window, packets, p, timer, rtt, first_window, halvings, rng):
    """Return the rounds of segments that begin with a window of a busy connection, after each number of halvings."""
    rounds, tcp, run = np.zeros((runs, len(halvings))), start.copy(), 0
    while run < runs:
        download(tcp, 100, p, timer, rtt, rng)
        if int(tcp[WINDOW]) == window and tcp[THRESHOLD] <= window:
            for i in range(len(halvings)):
                after = tcp.copy()
                if halvings[i] > 0:
                    restart(after, halvings[i], first_window)
                rounds[run, i] = download(after, packets, p, timer, rtt, rng)
            run += 1
    return rounds
