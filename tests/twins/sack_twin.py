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

from monte_carlo import packets_due
from tcpstream.tcp.table_vi import BACKOFF, HALF


class Recovery:
    """A loss leads to the repair of the window, or of the one that it has grown to before the loss shows."""

    def repair(self, w, left):
        """Packets sent in the round that repairs, and the share of them before the loss showed."""
        known = [j + min(2, w - 1 - j) for j in range(w)]
        sent = round(sum(before + left / w * (w - before) for before in known) / w)
        return sent, min(sum(known) / w / sent, 1)

    def reduced(self, state):
        if self.repairs(state):
            merged = self.merged(state)
            again = self.after_loss(*self.on_repair(state))
            return [(merged, self.grown(state)), *(((1 - merged) * x, to) for x, to in again)]
        w, following = self.in_flight(state), self.grown(state)
        grown = (w - 1) / (2 * w)
        own = [((1 - grown) * x, to) for x, to in self.after_loss(w, self.early(state))]
        return own + [(grown * x, to) for x, to in self.after_loss(self.in_flight(following), self.early(following))]

    def in_flight(self, state):
        return self.window(state)


class Reno(Recovery):
    def __init__(self, path):
        assert path.max_window <= 20  # up to here each window at a loss has a state
        self.path, self.start, self.restart = path, (1, 0, 0, 0), (min(2, path.max_window), 0, 0, 0)

    def left(self, before):
        return max(HALF[self.path.halving](before), 1)

    def repairs(self, state):
        return isinstance(state[0], tuple)

    def merged(self, state):
        return self.repair(state[0][1], self.left(state[0][1]))[1]

    def on_repair(self, state):
        return self.left(state[0][1]), False

    def early(self, state):  # noqa: ARG002 - Reno does not ask
        return False

    def after_loss(self, w, early):  # noqa: ARG002
        return [(1.0, (("repair", max(w, 2)), 0, 0, 0))]

    def window(self, state):
        line = state[0]
        return self.repair(line[1], self.left(line[1]))[0] if self.repairs(state) else line

    def grown(self, state):
        if self.repairs(state):
            return (self.left(state[0][1]), 0, 0, 0)
        w, c, _, _ = state
        return (
            (w, c + 1, 0, 0) if c + 1 < self.path.rounds_per_increase else (min(w + 1, self.path.max_window), 0, 0, 0)
        )


class Limited(Reno):
    """Behind a bottleneck: a window is a real number; a state is (window, 0, 0, 0)."""

    def __init__(self, path):
        super().__init__(path)
        self.pipe = path.bottleneck * path.rtt
        self.start, self.windows = (1.0, 0, 0, 0), [1.0]
        while (larger := self.larger(self.windows[-1])) <= self.pipe + path.buffer:
            self.windows.append(larger)
        self.place = {w: i for i, w in enumerate(self.windows)}
        self.restart = self.of(2)

    def larger(self, w):
        return round(w + min(1.0, self.pipe / w) / self.path.rounds_per_increase, 9)

    def of(self, packets):
        return next(w for w in self.windows if w >= packets), 0, 0, 0

    def in_flight(self, state):
        return state[0][1] if self.repairs(state) else floor(state[0])

    def window(self, state):
        one = self.repair(state[0][1], self.left(state[0][1]))[0] if self.repairs(state) else floor(state[0])
        if self.repairs(state) or state[0] not in self.place:
            return min(one, floor(self.pipe))
        i = self.place[state[0]]
        return min(one, floor((i + 1) * self.pipe + 1e-9) - floor(i * self.pipe + 1e-9))

    def grown(self, state):
        if self.repairs(state):
            return self.of(self.left(state[0][1]))
        if state[0] == self.windows[-1]:
            return (("repair", floor(self.pipe + self.path.buffer)), 0, 0, 0)
        return self.larger(state[0]), 0, 0, 0


class Cubic(Recovery):
    """A line is (window at the loss, whether the one before had been larger); the first, without a loss, (0, False).

    RFC 9438, Section 4, packet by packet, in whole packets as Linux does. Windows at a loss that have a line: all, or
    `given`.
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
        cwnd, plateau = (self.left(before), (85 * before // 100 if early else before)) if before else (2, 2)
        windows = [self.repair(before, cwnd)[0]] if before else [1]
        if self.path.max_window == 1:
            return [1], plateau
        K = np.cbrt(max(plateau - cwnd, 0) / 0.4)
        origin, est, credit, n, acks = max(plateau, cwnd), float(cwnd), 0, 0, cwnd // 2 if before else 0
        step = 9 / 17 if before else 1.0
        while True:
            n += 1
            away = int(0.4 * abs(n * self.path.rtt - K) ** 3 + 1e-9)
            target = origin - away if n * self.path.rtt < K else origin + away
            for _ in range(acks):
                every = cwnd // (target - cwnd) if target > cwnd else 100 * cwnd
                if int(est + 1e-9) > cwnd:
                    every = min(every, cwnd // (int(est + 1e-9) - cwnd))
                every = max(every, 2)
                if credit >= every:
                    credit, cwnd = 0, cwnd + 1
                est += step / cwnd
                credit += 1
                if credit >= every:
                    credit, cwnd = 0, cwnd + 1
            if cwnd >= self.path.max_window:
                return [*windows, self.path.max_window], plateau
            windows.append(cwnd)
            acks = min(cwnd, self.carried(n))

    def carried(self, n):  # noqa: ARG002
        """Packets of round n of a line that arrive at most."""
        return 10**9

    def repairs(self, state):
        return state[0][0] > 0 and state[1] == 0

    def merged(self, state):
        before = state[0][0]
        return self.repair(before, self.left(before))[1]

    def on_repair(self, state):
        left = self.left(state[0][0])
        return left, left < self.line(state[0])[1]

    def early(self, state):
        line, place, _, _ = state
        windows, plateau = self.line(line)
        largest = place + 1 == len(windows)  # which all lines share
        return not largest and windows[place] < plateau

    def window(self, state):
        return self.line(state[0])[0][state[1]]

    def grown(self, state):
        last = len(self.line(state[0])[0]) - 1
        return state[0], min(state[1] + 1, last), 0, 0

    def after_loss(self, w, early):
        w = max(w, 2)
        if w in self.given:
            return [(1.0, ((w, early), 0, 0, 0))]
        below, above = max(g for g in self.given if g < w), min(g for g in self.given if g > w)
        upper = (self.left(w) - self.left(below)) / (self.left(above) - self.left(below))
        return [(1 - upper, ((below, early), 0, 0, 0)), (upper, ((above, early), 0, 0, 0))]


class LimitedCubic(Cubic):
    """CUBIC behind a bottleneck: of the largest window the next packet is lost."""

    def carried(self, n):
        pipe = self.path.bottleneck * self.path.rtt
        return floor((n + 1) * pipe + 1e-9) - floor(n * pipe + 1e-9)

    def in_flight(self, state):
        return super().window(state)

    def largest(self, state):
        return state[1] + 1 == len(self.line(state[0])[0])

    def window(self, state):
        return min(super().window(state), self.carried(0 if self.largest(state) else state[1]))

    def grown(self, state):
        full = ((self.path.max_window, False), 0, 0, 0)
        return full if self.largest(state) else super().grown(state)


def rules_of(path, **chosen):
    free = path.bottleneck is None
    kinds = {"reno-sack": Reno if free else Limited, "cubic": Cubic if free else LimitedCubic}
    return kinds[path.tcp](path, **chosen)


def waits(rounds):
    low = int(np.floor(rounds + 1e-9))
    more = max(rounds - low, 0.0)
    return [(low, 1 - more), (low + 1, more)] if more > 1e-9 else [(low, 1.0)]


def moves(rules, state):
    path = rules.path
    p, q, T, rack = path.loss, 1 - path.loss, path.timeout_ratio, path.detection == "rack"
    _, _, level, again = state
    first = rules.start[0]
    if level:
        on = (first, 0, level, 0) if again else rules.restart
        up = (first, 0, min(level + 1, 7), 1)
        silence = (BACKOFF[path.backoff](level - rack) if level > rack else 1) * T
        return [(q, 1, 1, 1, on), *((p * x, 0, 0, d, up) for d, x in waits(silence))]
    w, timeout = rules.window(state), (first, 0, 1, 1)
    row = [(q**w, w, w, 1, rules.grown(state))]
    for j in range(w):  # delivered before the first loss
        for n in range(w - j):  # losses after it
            chance = p * q**j * comb(w - 1 - j, n) * p**n * q ** (w - 1 - j - n)
            if n + 1 == w:
                row += [(chance * x, 0, 0, d, timeout) for d, x in waits(min(2, T) if rack else T)]
                continue
            repaired = 1.0 if rack else q ** (n + 1)
            row += [(chance * repaired * share, w - n - 1, j, 1, to) for share, to in rules.reduced(state)]
            row += [(chance * (1 - repaired) * x, j, j, d, timeout) for d, x in waits(T + 1) if not rack]
    return row


def finite(path, due, exists, moves=moves, rules=None, **chosen):
    """Return f times packets due, and alpha, for B_i = ``due[i]``, where ``exists[i]`` packets exist after round i.

    Mass by state, rounds left to wait and packets received. What exists is infinite for stored media.
    """
    rules = rules or rules_of(path, **chosen)
    late, size = 0.0, int(due[-1]) + path.max_window + 2
    every, never = ({(rules.start, 0): np.eye(1, size)[0]} for _ in range(2))
    received = np.arange(size)
    row_of = cache(lambda state: moves(rules, state))
    for i, (before, after) in enumerate(itertools.pairwise(due)):
        held = np.minimum(received + np.arange(path.max_window + 1)[:, np.newaxis], exists[i + 1])  # by packets more
        to, missing = np.minimum(held, size - 1).astype(int), after - held
        missing[missing < 1e-9] = 0.0
        results = []
        for mass, judged in ((every, False), (never, True)):
            new = defaultdict(lambda: np.zeros(size))
            for (state, left), law in mass.items():
                sends = np.zeros(size, dtype=bool) if left else received < exists[i]
                stays = [(1.0, 0, 0, max(left, 1), state)]
                for row, there in ((stays, law * ~sends), (row_of(state), law * sends)):
                    for chance, got, shown, rounds, target in row if there.any() else ():
                        kept = there * chance
                        if judged:
                            kept = kept * (missing[shown] == 0)
                        else:
                            late += float(kept @ np.minimum(after - before, missing[shown]))
                        new[target, rounds - 1] += np.bincount(to[got], kept, size)
            results.append(new)
        every, never = results
    return late, float(sum(law.sum() for law in never.values()))


def stored(path, video, tau, *how, **chosen):
    """Return f and alpha of a stored video at a delay; `how` and `chosen` as for `finite`."""
    due, judged = packets_due(path, video, tau, "end")
    late, alpha = finite(path, due, np.full(len(due), np.inf), *how, **chosen)
    return late / judged, alpha


def stream(path, video, tau, *how, **chosen):
    """Return f of a live stream of finite length, with a whole number of packets due a round, at a delay."""
    due, judged = packets_due(path, video, tau, "end")
    m = round(video.packet_rate * path.rtt)
    return finite(path, due, np.minimum(m * np.arange(len(due)), video.packets), *how, **chosen)[0] / judged


def live(path, m, ahead, depth, moves=moves, rules=None, **chosen):
    """Return f for whole ``ahead = mu tau`` and m packets due a round: the stationary law by iteration."""
    rules = rules or rules_of(path, **chosen)
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
