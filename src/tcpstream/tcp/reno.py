"""The paper's TCP chain: the Reno chain of Table VI (corrected), in structured form.

Short rounds are not states here. Whatever number j of a window w was delivered before the loss, the short round leads
to half of w or to a timeout, so losing and recovering is one two-round step whose distribution is geometric; the
solvers apply it as a recursion (`tcpstream.kernels.recovery`). What has to be stored is b W_max + 14 states.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..numerics.linear import solve
from ..path import Path
from .growth import Growth
from .silences import LEVELS, Wait, Waits, mean_wait, wait

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_STATES = 1_000_000
"""Largest chain that is tried."""

DUPLICATE_ACKS = 3
"""Packets of the short round that must arrive for a fast retransmit."""


@dataclass(frozen=True)
class ExplicitArrays:
    """A chain expanded to one row a transition.

    Attributes
    ----------
    labels : (n, 5) int array
        (w, c, l, e, r) of each state, as in Table VI; window 1 in timeouts.
    chain, target : int arrays
        Indices into `labels`.
    probability : float array
        Of the transition.
    packets, rounds : int arrays
        Packets delivered in its first round; its length in rounds.
    """

    labels: Ints
    chain: Ints
    target: Ints
    probability: Floats
    packets: Ints
    rounds: Ints

    @classmethod
    def of(cls, labels: Sequence[tuple[int, ...]], rows: Sequence[tuple[float, ...]]) -> ExplicitArrays:
        """Return the arrays of labels and of rows: chain, target, probability, packets, rounds."""
        return cls(np.array(labels), *map(np.array, zip(*rows)))


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
class BurstChain:
    """The Reno chain in structured form: what the solvers read.

    State s = n_preamble + (w - 1) b + c of congestion avoidance stands for (w, c); states of slow start, if any, come
    first. All arrays over s have S = n_preamble + b W_max elements.

    Attributes
    ----------
    loss : float
        p.
    max_window, rounds_per_increase : int
        The most packets of a round, W_max, and b. Behind a bottleneck what it carries in a round, and 1.
    windows : (S,) int array
        w of each state: what it sends in a round.
    grow_to : (S,) int array
        State after a round that was delivered whole; -1 where `branches` says it.
    recover_to : (W_max + 1,) int array
        State after a fast retransmit from window w (-1 below 4, where none is possible).
    start, restart : int
        First state of a video, (1, 0) without slow start; state after a timeout is over, of window min(2, W_max).
    all_lost_wait, short_wait : Wait
        Rounds from a round all lost, from a short round without fast retransmit, to the first retransmission.
    backoff_wait : tuple of 7 Wait
        Rounds from a packet lost at back-off level e to the next retransmission.
    n_preamble : int
        States before those of congestion avoidance: of slow start, and of rounds that repair losses in `tcp.reno_sack`.
        Windows grow from a state to later ones only, but for the last: see `overflow`.
    n_initial_slow_start : int
        States of the first slow start of the paper's chain, which come first of all: see `first_slow_start_losses`.
    branches : Growth
        After a round delivered whole of states whose `grow_to` is -1.
    """

    loss: float
    max_window: int
    rounds_per_increase: int
    windows: Ints
    grow_to: Ints
    recover_to: Ints
    start: int
    restart: int
    all_lost_wait: Wait
    short_wait: Wait
    backoff_wait: tuple[Wait, ...]
    n_preamble: int = field(default=0, kw_only=True)
    n_initial_slow_start: int = field(default=0, kw_only=True)
    branches: Growth = field(default_factory=Growth.none, kw_only=True)

    @property
    def size(self) -> int:
        """States that send a window, S: those of congestion avoidance, and of slow start."""
        return len(self.windows)

    @property
    def overflow_state(self) -> int | None:
        """State after a round of the last one that is delivered whole, where this overflows a buffer."""
        target = int(self.grow_to[-1])
        return target if target < self.size - self.rounds_per_increase else None

    @cached_property
    def growth(self) -> Growth:
        """Every move after a round delivered whole."""
        known = np.flatnonzero(self.grow_to >= 0)
        moves = Growth(known, self.grow_to[known], np.ones(len(known)))
        return moves.joined(self.branches) if len(self.branches.from_state) else moves

    @cached_property
    def first_slow_start_losses(self) -> FirstSlowStartLosses:
        """Rounds of the first slow start in which 1 <= j < w packets are delivered.

        The acknowledgements of j packets let out j and one more for each b of them, as far as W_max allows: the short
        round is that of a larger window, which is halved (FlightSize in RFC 5681, Equation 4).
        """
        windows, W, b = self.windows[: self.n_initial_slow_start], self.max_window, self.rounds_per_increase
        state = np.repeat(np.arange(self.n_initial_slow_start), windows - 1)
        j = np.concatenate([np.arange(1, w) for w in windows] or [np.empty(0, dtype=np.int64)])
        window = np.minimum(windows[state] - (-j // b), W)
        return FirstSlowStartLosses(state, j, window - windows[state] + j, window)

    @cached_property
    def by_window(self) -> tuple[Ints, Ints]:
        """The states in the order of increasing window, and the place of each in it.

        Those of the largest window lead to each other alone, and are one here: the last.
        """
        kept = np.arange(self.size - self.rounds_per_increase + 1)
        order = kept[np.argsort(self.windows[kept], kind="stable")]
        place = np.full(self.size, len(order) - 1)
        place[order] = np.arange(len(order))
        return order, place

    @property
    def junction_states(self) -> Ints | None:
        """States of `tilted` that many lead to, if the others lead to each other in a few long lines only."""
        return None

    @cached_property
    def stationary(self) -> Floats:
        """Stationary distribution of the chain embedded at its transitions, over the states of `tilted`.

        Raises
        ------
        AccuracyError
            When the linear solve leaves a residual above 1e-10.
        """
        n = self.size + 2 * LEVELS
        rows, columns, values = self.tilted(0.0, 0.0)
        all_states, others = np.arange(n), columns < n - 1  # the last balance follows from the others
        pi = solve(
            np.concatenate([all_states[:-1], columns[others], np.full(n, n - 1)]),
            np.concatenate([all_states[:-1], rows[others], all_states]),
            np.concatenate([np.ones(n - 1), -values[others], np.ones(n)]),
            np.eye(1, n, n - 1)[0],
            self.junction_states,
        )
        residual = float(np.abs(np.bincount(columns, pi[rows] * values, n) - pi).sum())
        if not residual < 1e-10:
            raise AccuracyError(f"stationary law of the TCP chain: residual {residual:.1e} exceeds 1e-10")
        return np.asarray(pi)

    @cached_property
    def per_transition(self) -> tuple[Floats, Floats]:
        """Mean packets delivered and mean rounds of the transitions from each state of `tilted`."""
        p, q, w = self.loss, 1 - self.loss, self.windows
        j = np.arange(self.max_window)
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
        rounds = q**w + p * mean_wait(self.all_lost_wait) + 2 * recovers
        rounds += short_timeout * (1 + mean_wait(self.short_wait))
        timeout_rounds = [p * mean_wait(d) + q for d in self.backoff_wait]
        return (
            np.concatenate([packets, np.full(2 * LEVELS, q)]),
            np.concatenate([rounds, np.repeat(timeout_rounds, 2)]),
        )

    @cached_property
    def packets_per_round(self) -> float:
        """Stationary throughput [packets per round]."""
        packets, rounds = self.per_transition
        return float((self.stationary @ packets) / (self.stationary @ rounds))

    def tilted(self, theta: float, packets_due: float, levels: int = LEVELS) -> tuple[Ints, Ints, Floats]:
        """Return the sums of P exp(theta (m d - S)) over the transitions between stored states.

        As rows, columns and values of a matrix; the transition matrix itself at ``theta = 0``. States: congestion
        avoidance, then (e, r) for e = 1..7 in the order (1, 1), (1, 0), (2, 1), ...; the short round is part of the
        transition that enters it.

        Parameters
        ----------
        theta : float
            Exponent [1/packet].
        packets_due : float
            m, packets due per round.
        levels : int
            Back-off levels kept; what would go beyond is left out.
        """
        p, q, W = self.loss, 1 - self.loss, self.max_window
        z = math.exp(-theta)
        one = math.exp(theta * packets_due)  # a round without a delivery

        def tilt(waits: Wait) -> float:
            return sum(weight * math.exp(theta * packets_due * d) for d, weight in waits)

        w = self.windows
        j = np.arange(W, dtype=float)
        sent = p * (q * z) ** j  # j delivered, then a loss
        before = np.concatenate([[0.0], np.cumsum(np.where(j >= 3, sent, 0.0))])[:-1]  # 3 <= i < j delivered
        recovered = np.cumsum(np.where(j >= 3, sent * (before + (q * z) ** j), 0.0))[w - 1]
        few = np.cumsum(np.where(j < 3, sent, 0.0))
        timeout_law = np.where(j < 3, np.concatenate([[0.0], few])[:-1] + (q * z) ** j, few[min(2, W - 1)])
        timed_out = np.cumsum(np.where(j >= 1, sent * timeout_law, 0.0))[w - 1]
        S = self.size
        first = S  # (1, 1)
        s = np.arange(S)
        at, delivered, size, window = self.first_slow_start_losses
        timed_out[: self.n_initial_slow_start] = np.bincount(
            at, sent[delivered] * timeout_law[size], self.n_initial_slow_start
        )
        fast = size >= DUPLICATE_ACKS
        opened = (sent[delivered] * (before[size] + (q * z) ** size))[fast]
        usual = (w >= 4) & (s >= self.n_initial_slow_start)
        grown = self.growth
        rows = [grown.from_state, s, s[usual], at[fast]]
        columns = [grown.to_state, np.full(S, first), self.recover_to[w[usual]], self.recover_to[window[fast]]]
        values = [
            ((q * z) ** w)[grown.from_state] * one * grown.share,
            p * tilt(self.all_lost_wait) + timed_out * one * tilt(self.short_wait),
            recovered[usual] * one**2,
            opened * one**2,
        ]
        from_, to, weights = self._tilted_timeouts(z, one, tilt, levels)
        return np.concatenate([*rows, from_]), np.concatenate([*columns, to]), np.concatenate([*values, weights])

    def _tilted_timeouts(
        self, z: float, one: float, tilt: Callable[[Wait], float], levels: int
    ) -> tuple[Ints, Ints, Floats]:
        """Return the part of `tilted` that belongs to the timeouts."""
        p, q, S = self.loss, 1 - self.loss, self.size
        rows, columns, values = [], [], []
        for e in range(1, LEVELS + 1):
            retransmit, fresh = S + 2 * (e - 1), S + 2 * (e - 1) + 1
            rows.append(np.array([retransmit, fresh]))
            columns.append(np.array([fresh, self.restart]))
            values.append(np.array([q * z * one, q * z * one]))
            up = min(e + 1, LEVELS)
            if e < levels or e == levels == LEVELS:
                rows.append(np.array([retransmit, fresh]))
                columns.append(np.full(2, S + 2 * (up - 1)))
                values.append(np.full(2, p * tilt(self.backoff_wait[e - 1])))
        return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)

    def explicit(self) -> ExplicitArrays:
        """Expand to plain arrays, short rounds included: every row of Table VI, one transition a row."""
        p, q, b, W = self.loss, 1 - self.loss, self.rounds_per_increase, self.max_window
        labels = [(int(w), (s - self.n_preamble) % b, 0, 0, 0) for s, w in enumerate(self.windows)]
        short = {}
        for w in range(2, W + 1):
            for j in range(1, w):
                short[j, w - j] = len(labels)
                labels.append((j, 0, w - j, 0, 0))
        timeout = {}
        for e in range(1, LEVELS + 1):
            for r in (1, 0):
                timeout[e, r] = len(labels)
                labels.append((1, 0, 0, e, r))
        rows: list[tuple[int, int, float, int, int]] = []
        for s, w in enumerate(map(int, self.windows)):
            rows += [(s, target, q**w * share, w, 1) for target, share in self.growth.of(s)]
            if s >= self.n_initial_slow_start:
                rows += [(s, short[j, w - j], p * q**j, j, 1) for j in range(1, w)]
            rows += [(s, timeout[1, 1], p * weight, 0, d) for d, weight in self.all_lost_wait]
        for s, j, sent, window in zip(*(one.tolist() for one in self.first_slow_start_losses)):
            rows.append((s, short[sent, window - sent], p * q**j, j, 1))
        for (j, lost), s in short.items():
            for i in range(j + 1):
                probability = q**j if i == j else p * q**i
                if i >= DUPLICATE_ACKS:
                    rows.append((s, int(self.recover_to[j + lost]), probability, i, 1))
                else:
                    rows += [(s, timeout[1, 1], probability * weight, i, d) for d, weight in self.short_wait]
        for (e, r), s in timeout.items():
            target = timeout[e, 0] if r == 1 else self.restart
            rows.append((s, target, q, 1, 1))
            up = timeout[min(e + 1, LEVELS), 1]
            rows += [(s, up, p * weight, 0, d) for d, weight in self.backoff_wait[e - 1]]
        return ExplicitArrays.of(labels, rows)


def reno(path: Path) -> BurstChain:
    """Build the Reno chain of a path (Table VI with the corrections of the theory page).

    Parameters
    ----------
    path : Path
        Its round trip time does not matter: the distribution of the chain counts rounds.

    Raises
    ------
    AccuracyError
        For more than a million states.
    """
    W, b = path.max_window, path.rounds_per_increase
    if b * W > MOST_STATES:
        raise AccuracyError(
            f"the TCP chain has {b * W:.4g} states of congestion avoidance for a largest window of {W:.4g} packets, "
            f"more than {MOST_STATES}: give a smaller max_window"
        )
    s = np.arange(b * W)
    w, c = s // b + 1, s % b
    recover_to = np.where(np.arange(W + 1) >= DUPLICATE_ACKS + 1, (halves(path) - 1) * b, -1)
    waits = Waits.of(path)
    return BurstChain(
        loss=1 - (1 - path.loss),  # so that p and q = 1 - p add up to 1 exactly
        max_window=W,
        rounds_per_increase=b,
        windows=w,
        grow_to=np.where(c + 1 < b, s + 1, np.where(w < W, (np.minimum(w + 1, W) - 1) * b, (W - 1) * b)),
        recover_to=recover_to,
        start=0,
        restart=(min(2, W) - 1) * b,
        all_lost_wait=wait(waits.all_lost),
        short_wait=wait(max(waits.unseen, 1.0)),
        backoff_wait=tuple(wait(rounds) for rounds in waits.backoff),
    )


def halves(path: Path) -> Ints:
    """Return h(w), half of a window of w = 0 .. W_max packets, rounded as the path says [packets]."""
    w = np.arange(path.max_window + 1)
    return w // 2 if path.halving == "floor" else (w + 1) // 2
