"""SACK and independent losses, every fate of a round written out; slow, and unlike the solvers.

A move is (probability, packets received, packets of them in order, rounds, next state). States are (line, rounds on it,
0, 0), and (first line, 0, level, 1 for a retransmission) in timeouts. Lines are windows for Reno, with b rounds each.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from functools import cache
from math import ceil, comb, floor

import numpy as np

from tcpstream.tcp.table_vi import BACKOFF, HALF


class Reno:
    def __init__(self, path):
        self.path, self.start, self.restart = path, (1, 0, 0, 0), (min(2, path.max_window), 0, 0, 0)

    def window(self, state):
        return state[0]

    def grown(self, state):
        w, c, _, _ = state
        return (
            (w, c + 1, 0, 0) if c + 1 < self.path.rounds_per_increase else (min(w + 1, self.path.max_window), 0, 0, 0)
        )

    def reduced(self, state):
        return [(1.0, (HALF[self.path.halving](state[0]), 0, 0, 0))]


class Cubic:
    """A line is (window at the loss, whether the one before had been larger); the first, without a loss, (0, False).

    RFC 9438, Section 4, from the formulas as they stand there. Windows at a loss that have a line: all, or `given`.
    """

    def __init__(self, path, given=None):
        assert path.max_window <= 20  # up to here all have one
        self.path, self.start, self.given = path, ((0, False), 0, 0, 0), given or range(2, 21)
        self.restart = ((0, False), 1 if path.max_window > 1 else 0, 0, 0)

    def left(self, before):
        return max((floor if self.path.halving == "floor" else ceil)(7 * before / 10), 2)

    @cache  # noqa: B019 - lives as long as a test
    def line(self, line):
        """Windows by round until the largest, and W_max."""
        before, early = line
        start, plateau = (self.left(before), before * (0.85 if early else 1.0)) if before else (2, 2.0)
        K = np.cbrt((plateau - start) / 0.4)
        cwnd = est = float(start)
        windows = [] if before else [1]
        while (windows or [0])[-1] < self.path.max_window:
            windows.append(min(int(cwnd), self.path.max_window))
            est += 9 / 17 if before else 1
            t = self.path.rtt * (len(windows) - (0 if before else 1))
            target = 0.4 * (t - K) ** 3 + plateau
            cwnd = max(est, min(max(target, cwnd), 1.5 * cwnd))
        return windows, plateau

    def window(self, state):
        return self.line(state[0])[0][state[1]]

    def grown(self, state):
        last = len(self.line(state[0])[0]) - 1
        return state[0], min(state[1] + 1, last), 0, 0

    def reduced(self, state):
        w = self.window(state)
        early = w < self.line(state[0])[1] and w < self.path.max_window
        if w in self.given:
            return [(1.0, ((w, early), 0, 0, 0))]
        below, above = max(g for g in self.given if g < w), min(g for g in self.given if g > w)
        upper = (self.left(w) - self.left(below)) / (self.left(above) - self.left(below))
        return [(1 - upper, ((below, early), 0, 0, 0)), (upper, ((above, early), 0, 0, 0))]


RULES = {"reno-sack": Reno, "cubic": Cubic}


def waits(rounds):
    low = int(np.floor(rounds + 1e-9))
    more = max(rounds - low, 0.0)
    return [(low, 1 - more), (low + 1, more)] if more > 1e-9 else [(low, 1.0)]


def moves(rules, state):
    path = rules.path
    p, q, T = path.loss, 1 - path.loss, path.timeout_ratio
    _, _, level, again = state
    first = rules.start[0]
    if level:
        on = (first, 0, level, 0) if again else rules.restart
        up = (first, 0, min(level + 1, 7), 1)
        return [(q, 1, 1, 1, on), *((p * x, 0, 0, d, up) for d, x in waits(BACKOFF[path.backoff](level) * T))]
    w, timeout = rules.window(state), (first, 0, 1, 1)
    row = [(q**w, w, w, 1, rules.grown(state))]
    for j in range(w):  # delivered before the first loss
        for n in range(w - j):  # losses after it
            chance = p * q**j * comb(w - 1 - j, n) * p**n * q ** (w - 1 - j - n)
            if n + 1 == w:
                row += [(chance * x, 0, 0, d, timeout) for d, x in waits(T)]
                continue
            repaired = q ** (n + 1)
            row += [(chance * repaired * share, w - n - 1, j, 1, to) for share, to in rules.reduced(state)]
            row += [(chance * (1 - repaired) * x, j, j, d, timeout) for d, x in waits(T + 1)]
    return row


def finite(path, due, exists, moves=moves, rules=None, **chosen):
    """Return f times packets due, and alpha, for B_i = ``due[i]``, where ``exists[i]`` packets exist after round i.

    Mass by state, rounds left to wait and packets received. What exists is infinite for stored media.
    """
    rules = rules or RULES[path.tcp](path, **chosen)
    late, size = 0.0, int(due[-1]) + path.max_window + 2
    every, never = ({(rules.start, 0): np.eye(1, size)[0]} for _ in range(2))
    received = np.arange(size)
    for i, (before, after) in enumerate(itertools.pairwise(due)):
        results = []
        for mass, judged in ((every, False), (never, True)):
            new = defaultdict(lambda: np.zeros(size))
            for (state, left), law in mass.items():
                sends = np.zeros(size, dtype=bool) if left else received < exists[i]
                stays = [(1.0, 0, 0, max(left, 1), state)]
                for row, chosen in ((stays, ~sends), (moves(rules, state), sends)):
                    for chance, got, shown, rounds, target in row:
                        missing = after - np.minimum(received + shown, exists[i + 1])
                        missing[missing < 1e-9] = 0.0
                        kept = law * chosen * chance
                        if judged:
                            kept = kept * (missing == 0)
                        else:
                            late += float(kept @ np.minimum(after - before, missing))
                        to = np.minimum(np.minimum(received + got, exists[i + 1]), size - 1).astype(int)
                        np.add.at(new[target, rounds - 1], to, kept)
            results.append(new)
        every, never = results
    return late, float(sum(law.sum() for law in never.values()))


def live(path, m, ahead, depth, moves=moves, rules=None, **chosen):
    """Return f for whole ``ahead = mu tau`` and m packets due a round: the stationary law by iteration."""
    rules = rules or RULES[path.tcp](path, **chosen)
    states, number = [(rules.start, 0)], {(rules.start, 0): 0}
    table = []
    for state, left in states:  # grows while it is read
        row = [(1.0, 0, 0, (state, left - 1))] if left else []
        if not left:
            row = [(x, got, shown, (target, rounds - 1)) for x, got, shown, rounds, target in moves(rules, state)]
        for *_, target in row:
            if target not in number:
                number[target] = len(states)
                states.append(target)
        table.append(row)
    D = np.arange(depth + 1)
    from scipy import sparse

    rows, columns, values, late = [], [], [], np.zeros((len(ahead), len(states) * len(D)))
    for s, ((_, left), row) in enumerate(zip(states, table)):
        start = s * len(D)
        if not left:  # nothing to send
            rows.append([start])
            columns.append([start + m])
            values.append([1.0])
            late[:, start] = np.minimum(m, np.maximum(m - ahead, 0))
        moving = D if left else D[1:]
        for chance, got, shown, target in row:
            after = np.minimum(np.maximum(moving + m - got, 0), depth)
            rows.append(start + moving)
            columns.append(number[target] * len(D) + after)
            values.append(np.full(len(moving), chance))
            behind = np.maximum(moving + m - shown, 0)
            late[:, start + moving] += chance * np.minimum(m, np.maximum(behind - ahead[:, np.newaxis], 0))
    n = len(states) * len(D)
    matrix = sparse.coo_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), (n, n)).tocsr()
    law = np.eye(1, n)[0]
    step = matrix.T.tocsr()
    while True:
        before = law
        for _ in range(200):
            law = step @ law
        if np.abs(law - before).sum() < 1e-12:
            return late @ law / m
