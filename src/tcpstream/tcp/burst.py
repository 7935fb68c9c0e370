"""Chains whose losses come in bursts: the first loss of a round takes the rest of it along (Section 3.2).

Short rounds are not states here. Whatever number j of a window w was delivered before the loss, the short round leads
to half of w or to a timeout, so losing and recovering is one two-round step whose distribution is geometric; the
solvers apply it as a recursion (`tcpstream.kernels.recovery`). What has to be stored is b W_max + 14 states.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .chain import Features, Transitions
from .silences import LEVELS, TIMEOUT_LABELS, mean_wait, tilted_wait
from .window_chain import WindowChain
from .window_graph import WindowGraph

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DUPLICATE_ACKS = 3
"""Packets of the short round that must arrive for a fast retransmit."""


class FirstSlowStartLosses(NamedTuple):
    """Losses in the first slow start, one for each state and packets delivered.

    Attributes
    ----------
    state : int array
    delivered : int array
        j, before the loss.
    sent : int array
        Packets of the short round, below W_max.
    window : int array
        Which a fast retransmit halves: the short round, and the packets lost before it.
    """

    state: Ints
    delivered: Ints
    sent: Ints
    window: Ints


@dataclass(frozen=True)
class BurstChain(WindowChain):
    """A chain of windows whose losses come in bursts, in structured form: what the fast operators read.

    State s = n_preamble + (w - 1) b + c of congestion avoidance stands for (w, c); states of slow start, if any, come
    first. States of `transform`: these S, then (e, r) for e = 1..7 in the order (1, 1), (1, 0), (2, 1), ...; the short
    round is part of the transition that enters it.

    Attributes
    ----------
    loss : float
        p.
    graph : WindowGraph
    silences : Silences
        After a round all lost, after a short round without fast retransmit, and in timeouts.
    recover_to : (W_max + 1,) int array
        State after a fast retransmit from window w (-1 below 4, where none is possible).
    n_initial_slow_start : int
        States of the first slow start, which come first of all: see `first_slow_start_losses`.
    table : callable, optional
        Returns the transitions, where they are known in another way: Table VI.
    """

    recover_to: Ints
    n_initial_slow_start: int = field(default=0, kw_only=True)
    table: Callable[[], Transitions] | None = field(default=None, kw_only=True, compare=False)

    @property
    def features(self) -> Features:  # noqa: D102
        slow = self.graph.n_preamble > 0 or int(self.graph.windows[self.graph.start]) > 1
        return Features.BURST_LOSSES | (Features.PREAMBLE if slow else Features.WRITTEN_OUT)

    def behind_slow_start(self, graph: WindowGraph, again: int) -> BurstChain:
        """Return the chain with slow start before its states; the first `again` are those of a video's start."""
        behind = graph.n_preamble - self.graph.n_preamble
        recover_to = np.where(self.recover_to >= 0, self.recover_to + behind, -1)
        return replace(self, graph=graph, recover_to=recover_to, n_initial_slow_start=again, table=None)

    @cached_property
    def first_slow_start_losses(self) -> FirstSlowStartLosses:
        """Rounds of the first slow start in which 1 <= j < w packets are delivered.

        The acknowledgements of j packets let out j and one more for each b of them, as far as W_max allows: the short
        round is that of a larger window, which is halved (FlightSize in RFC 5681, Equation 4).
        """
        windows, W, b = (
            self.graph.windows[: self.n_initial_slow_start],
            self.graph.max_window,
            self.graph.rounds_per_increase,
        )
        state = np.repeat(np.arange(self.n_initial_slow_start), windows - 1)
        j = np.concatenate([np.arange(1, w) for w in windows] or [np.empty(0, dtype=np.int64)])
        window = np.minimum(windows[state] - (-j // b), W)
        return FirstSlowStartLosses(state, j, window - windows[state] + j, window)

    @cached_property
    def by_window(self) -> tuple[Ints, Ints]:
        """The states in the order of increasing window, and the place of each in it.

        Those of the largest window lead to each other alone, and are one here: the last.
        """
        kept = np.arange(self.graph.size - self.graph.rounds_per_increase + 1)
        order = kept[np.argsort(self.graph.windows[kept], kind="stable")]
        place = np.full(self.graph.size, len(order) - 1)
        place[order] = np.arange(len(order))
        return order, place

    @cached_property
    def per_transition(self) -> tuple[Floats, Floats]:
        """Mean packets received and mean rounds of the transitions from each state of `transform`."""
        p, q, w = self.loss, 1 - self.loss, self.graph.windows
        j = np.arange(self.graph.max_window)
        lost = np.where(j > 0, p * q**j, 0.0)
        first = np.cumsum(j * lost)[w - 1]  # of the round of the loss
        short = q * -np.expm1(j * math.log1p(-p)) / p  # of a short round of j
        second = np.cumsum(lost * short)[w - 1]
        recovers = q**3 * np.maximum(q**3 - q**w, 0.0)
        at, delivered, sent, _ = self.first_slow_start_losses
        second[: self.n_initial_slow_start] = np.bincount(at, lost[delivered] * short[sent], self.n_initial_slow_start)
        recovers[: self.n_initial_slow_start] = q**3 * np.bincount(
            at, lost[delivered] * (sent >= DUPLICATE_ACKS), self.n_initial_slow_start
        )
        short_timeout = (q - q**w) - recovers
        packets = w * q**w + first + second
        rounds = q**w + p * mean_wait(self.silences.whole_loss) + 2 * recovers
        rounds += short_timeout * (1 + mean_wait(self.silences.unrepaired))
        return (
            np.concatenate([packets, np.full(2 * LEVELS, q)]),
            np.concatenate([rounds, self.silences.rounds_at_levels(p)]),
        )

    def transform(self, theta: float, packets_due: float, levels: int = LEVELS) -> tuple[Ints, Ints, Floats]:
        """Return the sums of P exp(theta (m d - S)) over the transitions; see `Chain.transform`."""
        p, q, W = self.loss, 1 - self.loss, self.graph.max_window
        z = math.exp(-theta)
        one = math.exp(theta * packets_due)  # a round without a delivery

        tilt = tilted_wait(theta, packets_due)
        w = self.graph.windows
        j = np.arange(W, dtype=float)
        sent = p * (q * z) ** j  # j delivered, then a loss
        before = np.concatenate([[0.0], np.cumsum(np.where(j >= 3, sent, 0.0))])[:-1]  # 3 <= i < j delivered
        recovered = np.cumsum(np.where(j >= 3, sent * (before + (q * z) ** j), 0.0))[w - 1]
        few = np.cumsum(np.where(j < 3, sent, 0.0))
        timeout_law = np.where(j < 3, np.concatenate([[0.0], few])[:-1] + (q * z) ** j, few[min(2, W - 1)])
        timed_out = np.cumsum(np.where(j >= 1, sent * timeout_law, 0.0))[w - 1]
        S = self.graph.size
        first = S  # (1, 1)
        s = np.arange(S)
        at, delivered, size, window = self.first_slow_start_losses
        timed_out[: self.n_initial_slow_start] = np.bincount(
            at, sent[delivered] * timeout_law[size], self.n_initial_slow_start
        )
        fast = size >= DUPLICATE_ACKS
        opened = (sent[delivered] * (before[size] + (q * z) ** size))[fast]
        usual = (w >= 4) & (s >= self.n_initial_slow_start)
        grown = self.graph.growth
        rows = [grown.from_state, s, s[usual], at[fast]]
        columns = [grown.to_state, np.full(S, first), self.recover_to[w[usual]], self.recover_to[window[fast]]]
        values = [
            ((q * z) ** w)[grown.from_state] * one * grown.share,
            p * tilt(self.silences.whole_loss) + timed_out * one * tilt(self.silences.unrepaired),
            recovered[usual] * one**2,
            opened * one**2,
        ]
        from_, to, weights = self.silences.transform(p, S, self.graph.restart, z, one, tilt, levels)
        return np.concatenate([*rows, from_]), np.concatenate([*columns, to]), np.concatenate([*values, weights])

    def transitions(self) -> Transitions:
        """Return every row of Table VI, or of the chain like it, short rounds included."""
        return self.expanded() if self.table is None else self.table()

    def expanded(self) -> Transitions:
        """Return the transitions that the arrays of this chain stand for."""
        p, q, b, W, graph = self.loss, 1 - self.loss, self.graph.rounds_per_increase, self.graph.max_window, self.graph
        labels = [(int(w), (s - graph.n_preamble) % b, 0, 0, 0) for s, w in enumerate(graph.windows)]
        short = {}
        for w in range(2, W + 1):
            for j in range(1, w):
                short[j, w - j] = len(labels)
                labels.append((j, 0, w - j, 0, 0))
        timeout = len(labels)
        labels += TIMEOUT_LABELS
        rows: list[tuple[int, int, float, int, int, int]] = []
        for s, w in enumerate(map(int, graph.windows)):
            rows += [(s, target, q**w * share, w, w, 1) for target, share in graph.growth.of(s)]
            if s >= self.n_initial_slow_start:
                rows += [(s, short[j, w - j], p * q**j, j, j, 1) for j in range(1, w)]
            rows += [(s, timeout, p * weight, 0, 0, d) for d, weight in self.silences.whole_loss]
        for s, j, sent, window in zip(*(one.tolist() for one in self.first_slow_start_losses)):
            rows.append((s, short[sent, window - sent], p * q**j, j, j, 1))
        for (j, lost), s in short.items():
            for i in range(j + 1):
                probability = q**j if i == j else p * q**i
                if i >= DUPLICATE_ACKS:
                    rows.append((s, int(self.recover_to[j + lost]), probability, i, i, 1))
                else:
                    rows += [(s, timeout, probability * weight, i, i, d) for d, weight in self.silences.unrepaired]
        rows += self.silences.rows(p, timeout, graph.restart)
        return Transitions.of(labels, rows, graph.start)
