"""TCP with selective acknowledgements on a path that loses packets independently of each other.

Of the packets of a round each is delivered (q), or lost and repaired by a retransmission that arrives one round later
(p q), or lost twice (p^2). Several losses of a window are repaired together, and reduce it once. Only a window lost
whole, or a retransmission that is lost, ends in a timeout. How windows grow, and where a loss leads, is up to arrays:
`tcp.reno_sack` and `tcp.cubic` build them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..path import Path
from .reno import BurstChain, ExplicitArrays, reno
from .silences import LEVELS, Waits, mean_wait, wait

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RARE = 1e-24
"""Probability of so many losses in a round that is not tabulated: far below rounding of the rest."""

FEW = 0.2
"""Share of the states that a loss may lead to, if the others are to be lines."""


class Recoveries(NamedTuple):
    """States from which a round with repaired losses has the same distribution, put together.

    Attributes
    ----------
    order, starts : (S,) and (G + 1,) int arrays
        Group g has the states ``order[starts[g] : starts[g + 1]]``.
    windows, losses : (G,) int arrays
        Their window, and the most losses that matter [packets].
    targets, shares : (G, M) arrays
        `IndependentChain.recover_to` and `recover_share`.
    """

    order: Ints
    starts: Ints
    windows: Ints
    losses: Ints
    targets: Ints
    shares: Floats


@dataclass(frozen=True)
class IndependentChain(BurstChain):
    """The chain of independent losses: waits as those of `BurstChain`, with the distributions of a round with losses.

    States of congestion avoidance lie on lines: as long as nothing is lost each leads to the next, and the last of a
    line to the last state of all, of the largest window, which leads to itself (b of them to each other, for b rounds
    a window), or to `overflow`. There are no short rounds. A round of w packets of which K >= 1 are lost and all
    repaired leads to the state that the window is reduced to, with w - K packets received. In order only the j packets
    before the first loss are delivered by its end; the rest follows in the next round, with the retransmissions. A
    round that ends in a timeout delivers j.

    Attributes
    ----------
    recover_to : (S, M) int array
        States after a round with repaired losses, M of them (-1 for a window of one, which is lost whole).
    recover_share : (S, M) float array
        Probability of each; they add up to 1.
    all_lost_wait : Wait
        Rounds from the start of a round lost whole to the first retransmission.
    short_wait : Wait
        Rounds from the start of a round with a packet lost twice to the retransmission after the timeout.
    """

    recover_share: Floats
    lost_unseen: float

    @classmethod
    def on_lines(cls, path: Path, **arrays: Any) -> IndependentChain:
        """Return the chain of a path with the given arrays and states; timers are those of `reno`, but `short_wait`.

        The timer restarts with the retransmission, one round after the start of the round with the loss (RFC 6298,
        Section 5.3).
        """
        base = reno(path)
        values = {one.name: getattr(base, one.name) for one in fields(base)}
        unseen = 0.0 if path.detection == "rack" else base.loss
        return cls(**(values | {"short_wait": wait(Waits.of(path).lost_again), "lost_unseen": unseen} | arrays))

    @property
    def repairs(self) -> float:
        """P(a packet is lost, and repaired), p (1 - r)."""
        return self.loss * (1 - self.lost_unseen)

    @property
    def holds(self) -> float:
        """P(a packet is not lost, or repaired), a = 1 - p r."""
        return 1 - self.loss * self.lost_unseen

    @property
    def junction_states(self) -> Ints | None:
        """As `BurstChain.meeting`: where a loss, a timeout or a line leads to."""
        n_preamble = np.arange(self.n_preamble)
        states = np.unique(
            np.concatenate([n_preamble, self.recover_to[self.recover_to >= 0], [self.restart, self.size - 1]])
        )
        if len(states) > self.size * FEW:
            return None
        return np.append(states, np.arange(self.size, self.size + 2 * LEVELS))

    def recoveries(self, states: int) -> Recoveries:
        """Return the groups of the first `states` states, which recover to no later ones, in the order of windows.

        States beyond stand for the same window as the last of them.
        """
        targets, shares = np.minimum(self.recover_to[:states], states - 1), self.recover_share[:states]
        keys = np.column_stack([self.windows[:states], targets, shares])
        _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        group = group.ravel()
        starts = np.append(0, np.cumsum(np.bincount(group)))
        order = np.argsort(group, kind="stable")
        windows = self.windows[first]
        matter = self.repaired[windows] > RARE
        losses = np.minimum(matter.shape[1] - 1 - np.argmax(matter[:, ::-1], axis=1), windows - 1)
        return Recoveries(order, starts, windows, losses, targets[first], shares[first])

    @cached_property
    def repaired(self) -> Floats:
        """P(K losses in a round of w, all repaired): row w = 0 .. W_max, column K; rarer than 1e-24 is left out."""
        q, w = 1 - self.loss, np.arange(self.max_window + 1)
        p = self.repairs / q  # for one delivered
        column = q ** w.astype(float)
        columns = [column]
        for K in range(1, self.max_window + 1):
            column = column * np.maximum(w - K + 1, 0) / K * p
            if self.max_window * p < K and column.max() < RARE:
                break
            columns.append(column)
        return np.array(columns).T

    @cached_property
    def all_lost(self) -> Floats:
        """P(all w packets of a round are lost), by state."""
        return np.power(self.loss, self.windows, dtype=np.float64)

    @cached_property
    def repaired_whole(self) -> Floats:
        """P(all w packets of a round would be lost, and repaired if anything told the sender), by state."""
        return np.power(self.repairs, self.windows, dtype=np.float64)

    @cached_property
    def nothing_lost_twice(self) -> Floats:
        """P(no packet of a round is lost twice), (1 - p^2)^w, by state."""
        return np.power(self.holds, self.windows, dtype=np.float64)

    def timing_out(self, factor: ArrayLike = 1.0) -> Any:
        """Return sum_j P(j delivered in order, then a timeout, not all lost) factor^j, by factor and state.

        The probabilities are p q^j (1 - q (1 - p^2)^(w - 1 - j)), without what is lost whole.
        """
        p, q, x = self.loss, 1 - self.loss, np.asarray(factor)
        sums = np.empty((*x.shape, self.max_window), dtype=np.result_type(x, 1.0))
        total = np.zeros_like(sums[..., 0])
        for n, fails in enumerate(self._fails):
            total = q * x * total + p * fails
            sums[..., n] = total
        return sums[..., self.windows - 1] - (self.all_lost - self.repaired_whole)

    def recovering(self, factor: ArrayLike = 1.0) -> Any:
        """Return sum_K P(K >= 1 losses, all repaired, not all lost) factor^(w - K), by factor and state."""
        x, W = np.asarray(factor), self.max_window
        powers = np.ones((*x.shape, W + 1), dtype=np.result_type(x, 1.0))
        powers[..., 1:] = x[..., np.newaxis]
        np.multiply.accumulate(powers, axis=-1, out=powers)
        by_window = np.zeros_like(powers)
        for K in range(1, self.repaired.shape[1]):
            by_window[..., K + 1 :] += self.repaired[K + 1 :, K] * powers[..., 1 : W + 1 - K]
        return by_window[..., self.windows]

    @cached_property
    def _fails(self) -> Floats:
        """1 - q (1 - p^2)^n for n = 0, 1, ...: a lost packet, or one of n behind it, is lost twice."""
        p, r = self.loss, self.lost_unseen
        return np.asarray(-np.expm1(math.log1p(-r) + np.arange(self.max_window) * math.log1p(-(p * r))))

    @cached_property
    def per_transition(self) -> tuple[Floats, Floats]:
        """Mean packets received and mean rounds of the transitions from each state of `tilted`."""
        p, q, w = self.loss, 1 - self.loss, self.windows
        K = np.arange(self.repaired.shape[1])
        received = np.where((K >= 1) & (np.arange(self.max_window + 1)[:, np.newaxis] > K), self.repaired, 0.0)
        packets = (received @ -K + np.arange(self.max_window + 1) * received.sum(axis=1))[w]
        in_order, total, weighted = np.empty(self.max_window), 0.0, 0.0
        for n, fails in enumerate(self._fails):  # sum_j j p q^j fails, as `failing`
            weighted = q * (weighted + total)
            total = q * total + p * fails
            in_order[n] = weighted
        whole = q ** w.astype(float)
        rounds = whole + self.recovering() + self.all_lost * mean_wait(self.all_lost_wait)
        rounds += self.timing_out() * mean_wait(self.short_wait)
        timeout_rounds = [p * mean_wait(d) + q for d in self.backoff_wait]
        return (
            np.concatenate([w * whole + packets + in_order[w - 1], np.full(2 * LEVELS, q)]),
            np.concatenate([rounds, np.repeat(timeout_rounds, 2)]),
        )

    def tilted(self, theta: float, packets_due: float, levels: int = LEVELS) -> tuple[Ints, Ints, Floats]:
        """Return the sums of P exp(theta (m d - S)) over the transitions, as `BurstChain.tilted`; S counts received."""
        z, one, S = math.exp(-theta), math.exp(theta * packets_due), self.size

        def tilt(waits: tuple[tuple[int, float], ...]) -> float:
            return sum(weight * math.exp(theta * packets_due * d) for d, weight in waits)

        s, w = np.arange(S), self.windows
        moves = self.growth
        grown = ((1 - self.loss) ** w.astype(float) * z**w)[moves.from_state] * one * moves.share
        lost = self.all_lost * tilt(self.all_lost_wait) + self.timing_out(z) * tilt(self.short_wait)
        repaired, way = np.nonzero(self.recover_share * (w >= 2)[:, np.newaxis])
        rows = np.concatenate([moves.from_state, s, repaired])
        columns = np.concatenate([moves.to_state, np.full(S, S), self.recover_to[repaired, way]])
        recovered = (self.recovering(z) * one)[repaired] * self.recover_share[repaired, way]
        values = np.concatenate([grown, lost, recovered])
        backing_off = self._tilted_timeouts(z, one, tilt, levels)
        return tuple(np.concatenate(pair) for pair in zip((rows, columns, values), backing_off))  # type: ignore[return-value]

    def explicit(self) -> ExplicitArrays:
        """Expand to plain arrays, one transition a row; packets are those received, of a timeout those in order.

        Of a recovery, w - K packets: those beyond the first loss are in order one round later. Labels are unique on a
        line only.
        """
        p, q = self.loss, 1 - self.loss
        labels = [(int(w), int(c), 0, 0, 0) for w, c in zip(self.windows, self._rounds_at_window)]
        labels += [(1, 0, 0, e, r) for e in range(1, LEVELS + 1) for r in (1, 0)]
        rows: list[tuple[int, int, float, int, int]] = []
        for s, w in enumerate(map(int, self.windows)):
            rows += [(s, target, q**w * share, w, 1) for target, share in self.growth.of(s)]
            for K in range(1, w):
                chance = math.comb(w, K) * self.repairs**K * q ** (w - K)
                ways = zip(self.recover_to[s].tolist(), self.recover_share[s].tolist())
                rows += [(s, target, chance * share, w - K, 1) for target, share in ways if share > 0]
            rows += [(s, self.size, p**w * weight, 0, d) for d, weight in self.all_lost_wait]
            for j in range(w):
                fails = p * q**j - self.repairs * q**j * self.holds ** (w - 1 - j)
                fails -= (j == 0) * (p**w - self.repairs**w)
                rows += [(s, self.size, fails * weight, j, d) for d, weight in self.short_wait]
        for e in range(1, LEVELS + 1):
            for r, target in ((1, self.size + 2 * e - 1), (0, self.restart)):
                s = self.size + 2 * e - 1 - r
                rows.append((s, target, q, 1, 1))
                up = self.size + 2 * (min(e + 1, LEVELS) - 1)
                rows += [(s, up, p * weight, 0, d) for d, weight in self.backoff_wait[e - 1]]
        return ExplicitArrays.of(labels, rows)

    @property
    def _rounds_at_window(self) -> Ints:
        """Rounds in a row that each state's window was sent before, on its line."""
        s = np.arange(self.size)
        begins = np.append(True, (self.grow_to[:-1] != s[1:]) | (self.windows[:-1] != self.windows[1:]))
        return s - np.maximum.accumulate(np.where(begins, s, 0))
