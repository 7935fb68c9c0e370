"""Reno with SACK and independent losses, simulated as plainly as it can be said; knows nothing of the chain.

Every packet of a round is drawn by itself: does it arrive, and if not, does its retransmission? What the receiver
holds beyond a hole is in order one round later, with the retransmissions. More than the reduced window is sent in that
round, and what is lost of its first packets belongs to the same recovery.
"""

from __future__ import annotations

import numpy as np
from numba import njit

NOISE = 1e-9


@njit(cache=True)
def fates(w, p, rng):
    """Draw the packets of a round: received, in order, and of the lost ones those lost again."""
    in_order, received, twice = -1, 0, 0
    for i in range(w):
        if rng.random() >= p:
            received += 1
            continue
        in_order = i if in_order < 0 else in_order
        twice += rng.random() < p
    return received, w if in_order < 0 else in_order, twice


@njit(cache=True)
def repair(w, left):
    """What is sent in the round that repairs a loss of one of w, on average over its place; share before it shows."""
    before, sent = 0.0, 0.0
    for j in range(w):
        known = j + min(2, w - 1 - j)
        before += known / w
        sent += (known + left / w * (w - known)) / w
    sent = np.round(sent)
    return int(sent), before / sent


@njit(cache=True)
def round_of_sack(tcp, path, rng):
    """Let TCP send for one round; return packets received, and those of them in order by its end.

    tcp: window, full rounds at this window, back-off level (0: none), retransmission next, rounds to wait, window at
    the loss that is repaired (0: none).
    """
    p, max_window, timer, b = path
    w, level, before = tcp[0], tcp[2], tcp[5]
    if level > 0:
        if rng.random() < p:
            tcp[4] = random_rounds(timer * 2.0 ** min(level, 6), rng) - 1
            tcp[2], tcp[3] = min(level + 1, 7), 1
            return 0, 0
        if tcp[3] == 1:
            tcp[3] = 0
        else:
            tcp[0], tcp[1], tcp[2] = min(2, int(max_window)), 0, 0
        return 1, 1
    sent, merged = repair(before, w) if before else (w, 0.0)
    received, in_order, twice = fates(sent, p, rng)
    tcp[5] = 0
    grown = w if tcp[1] + 1 < b else min(w + 1, int(max_window))
    if received == sent:
        if not before:
            tcp[0], tcp[1] = grown, tcp[1] + 1 if tcp[1] + 1 < b else 0
        return sent, sent
    if received > 0 and twice == 0:
        if rng.random() >= merged:
            at = max(grown if not before and rng.random() < (w - 1) / (2 * w) else w, 2)
            tcp[0], tcp[1], tcp[5] = at // 2, 0, at
        return received, in_order
    tcp[1] = 0
    tcp[2], tcp[3] = 1, 1
    tcp[4] = random_rounds(timer, rng) - 1 if received == 0 else random_rounds(timer + 1, rng) - 1
    return in_order, in_order


@njit(cache=True)
def random_rounds(wait, rng):
    below = int(np.floor(wait + 1e-9))
    return below + (1 if rng.random() < wait - below - 1e-9 else 0)


@njit(cache=True)
def stored(move, start, path, due, runs, rng):
    """Late packets of a stored video by run and delay, and whether none was late; due[k, i]: B_i."""
    late = np.zeros((runs, len(due)))
    never = np.ones((runs, len(due)))
    for run in range(runs):
        tcp = start.copy()
        received = 0
        for i in range(1, due.shape[1]):
            shown = received
            if tcp[4] > 0:
                tcp[4] -= 1
            else:
                more, in_order = move(tcp, path, rng)
                shown, received = received + in_order, received + more
            for k in range(len(due)):
                behind = due[k, i] - shown
                if behind > NOISE:
                    late[run, k] += min(behind, due[k, i] - due[k, i - 1])
                    never[run, k] = 0
    return late, never


@njit(cache=True)
def live(move, start, path, m, ahead, batches, rounds, rng):
    """Late packets by batch and delay of a live stream without end, and packets that T alone would deliver."""
    late = np.zeros((batches + 1, len(ahead)))
    tcp = start.copy()
    backlog = 0.0
    for batch in range(batches + 1):
        for _ in range(rounds):
            held = 0.0
            if tcp[4] > 0:
                tcp[4] -= 1
                backlog += m
            elif backlog < NOISE:
                backlog = m
            else:
                received, in_order = move(tcp, path, rng)
                held = max(backlog + m - in_order, 0.0)
                backlog = max(backlog + m - received, 0.0)
            behind = max(backlog, held)
            for k in range(len(ahead)):
                if behind <= ahead[k]:
                    break
                late[batch, k] += min(m, behind - ahead[k])
    return late[1:]


@njit(cache=True)
def throughput(move, start, path, batches, rounds, rng):
    """Mean packets received a round, by batch."""
    tcp = start.copy()
    total = np.zeros(batches)
    for batch in range(batches):
        for _ in range(rounds):
            if tcp[4] > 0:
                tcp[4] -= 1
            else:
                total[batch] += move(tcp, path, rng)[0]
    return total / rounds


def plain(path):
    """What the functions above want to know first: how to send a round, what with, and the path."""
    numbers = path.loss, path.max_window, path.timeout_ratio, path.rounds_per_increase
    return round_of_sack, np.array([1, 0, 0, 0, 0, 0]), tuple(map(float, numbers))
