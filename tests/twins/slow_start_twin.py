"""Slow start around the plain chains, every threshold written out: slow, and unlike the sources that it checks.

A state is (state of the plain chain, threshold): 0 in congestion avoidance, the threshold that will count in a timeout.
Given the law of the thresholds, they are forgotten in timeouts, and drawn again at their ends.
"""

from __future__ import annotations

from math import ceil, floor

import numpy as np

import sack_twin
from tcpstream.tcp.table_vi import HALF, State, transitions


class Climbing:
    """Losses in slow start: in the first the window may grow before they show, after a timeout it does not."""

    def __init__(self, path, threshold):
        super().__init__(path)
        self.threshold = threshold

    def reduced(self, state):
        w, W = state[0], self.path.max_window
        if not self.threshold:
            return super().reduced(state)
        if self.threshold < W:
            return self.after_loss(w, False)
        grown, larger = (w - 1) / (2 * w), min(doubled(self.path, w), W)
        own, other = self.after_loss(w, False), self.after_loss(larger, False)
        return [((1 - grown) * x, to) for x, to in own] + [(grown * x, to) for x, to in other]


class Sack(Climbing, sack_twin.Reno):
    pass


class Limited(Climbing, sack_twin.Limited):
    pass


def doubled(path, w):
    """The window after one of w: an acknowledgement for b packets each, of those that the bottleneck carries."""
    return w + ceil(min(w, path.pipe) / path.rounds_per_increase)


def plain(path, state, threshold):
    """The row of the chain without slow start, growth first: (probability, received, in order, rounds, target)."""
    if path.tcp == "reno-sack":
        return sack_twin.moves((Sack if path.bottleneck is None else Limited)(path, threshold), state)
    W, w, lost = path.max_window, state[0], state[2]
    row = transitions(
        State(*state), p=path.loss, max_window=path.max_window, timeout_ratio=path.timeout_ratio,
        rounds_per_increase=path.rounds_per_increase, backoff=path.backoff, halving=path.halving,
    )  # fmt: skip
    found = [(t.probability, t.packets, t.packets, t.rounds, tuple(t.target)) for t in row]
    if w < threshold == W and not lost:  # in the first slow start acknowledgements let out more than they are
        for k, (*numbers, target) in enumerate(found):
            if target[2]:
                acknowledged, gone = target[0], target[2]
                sent = min(acknowledged + ceil(acknowledged / path.rounds_per_increase), W - gone)
                found[k] = (*numbers, (sent, 0, gone, 0, 0))
    return found


def window(path, w):
    """The state of a window at which no round was spent yet."""
    if path.bottleneck is not None:
        return sack_twin.Limited(path).of(w)
    return (w, 0, 0, 0) if path.tcp == "reno-sack" else (w, 0, 0, 0, 0)


class Rules:
    def __init__(self, path):
        w = path.initial_window
        self.path, self.start = path, (window(path, w), path.max_window if w < path.max_window else 0)
        if path.bottleneck is not None:
            self.start = ((w, 0, 0, 0), path.max_window + 1)


def chain(law=None):
    """Return the moves of a chain that remembers its thresholds, or draws them from a law by threshold."""

    def moves(rules, both):
        path, (state, threshold) = rules.path, both
        w, *_, level, again = state
        sack = sack_twin.rules_of(path) if path.tcp == "reno-sack" else None
        if path.tcp == "reno":
            before = w + state[2]
        else:
            before = sack.left(w[1]) if sack.repairs(state) else floor(w)
        row = []
        for i, (chance, *packets, target) in enumerate(plain(path, state, threshold)):
            to, drawn = threshold, None
            if level:
                if target[-2]:  # backs off, or has its retransmission delivered
                    to = 2 if law is None and not again and target[-1] else threshold
                else:
                    drawn = [(1.0, threshold)] if law is None else [(x, t) for t, x in enumerate(law) if x > 0]
            elif target[-2]:
                to = max(2, HALF[path.halving](before)) if law is None else -1
            elif path.tcp == "reno" and (target[2] or state[2]):
                to = 0  # a short round, or the recovery after it
            elif i > 0 or (threshold and w >= threshold):
                to = 0
            elif threshold:
                larger = doubled(path, w)
                if larger < threshold:
                    target, to = (larger, *window(path, w)[1:]), threshold
                elif threshold > path.max_window:
                    target, to = (("repair", path.max_window), 0, 0, 0), 0
                else:
                    target, to = window(path, threshold), 0
            for share, t in drawn or [(1.0, to)]:
                row.append((chance * share, *packets, (target, 0 if drawn and path.max_window == 1 else t)))
        return row

    return moves


def long_run(path):
    """Return T in packets a round, and the law of thresholds at the ends of timeouts, of the chain that remembers."""
    moves, rules = chain(), Rules(path)
    states = [rules.start]
    number, rows = {states[0]: 0}, []
    for state in states:  # grows while it is read
        rows.append(moves(rules, state))
        for *_, target in rows[-1]:
            if target not in number:
                number[target] = len(states)
                states.append(target)
    n = len(states)
    matrix, packets, rounds = np.zeros((n, n)), np.zeros(n), np.zeros(n)
    for s, row in enumerate(rows):
        for chance, received, _, length, target in row:
            matrix[s, number[target]] += chance
            packets[s] += chance * received
            rounds[s] += chance * length
    balance = matrix.T - np.eye(n)
    balance[-1] = 1.0
    pi = np.linalg.solve(balance, np.eye(n)[-1])
    law = np.zeros(path.max_window + 2)
    for s, (state, threshold) in enumerate(states):
        if state[-2] and not state[-1]:  # the first new packet; when it is delivered the timeout is over
            law[threshold] += pi[s]
    return pi @ packets / (pi @ rounds), law / law.sum()
