"""TCP Reno with selective acknowledgements on a path that loses packets independently of each other.

Of the packets of a round each is delivered (q), or lost and repaired by a retransmission that arrives one round later
(p q), or lost twice (p^2). Several losses of a window are repaired together, and halve it once. Only a window lost
whole, or a retransmission that is lost, ends in a timeout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..path import Path
from .reno import LEVELS, ExplicitArrays, RenoSource, mean_wait, reno, wait

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RARE = 1e-24
"""Probability of so many losses in a round that is not tabulated: far below rounding of the rest."""


@dataclass(frozen=True)
class RenoSackSource(RenoSource):
    """The chain of independent losses: arrays as those of `RenoSource`, with the laws of a round with losses.

    There are no short rounds. A round of w packets of which K >= 1 are lost and all repaired leads to half of w, with
    w - K packets received. In order only the j packets before the first loss are delivered by its end; the rest
    follows in the next round, with the retransmissions. A round that ends in a timeout delivers j.

    Attributes
    ----------
    recover_to : (W_max + 1,) int array
        State after a round with repaired losses (-1 below 2: a window of one is lost whole).
    all_lost_wait : Wait
        Rounds from the start of a round lost whole to the first retransmission.
    short_wait : Wait
        Rounds from the start of a round with a packet lost twice to the retransmission after the timeout.
    """

    @cached_property
    def repaired(self) -> Floats:
        """P(K losses in a round of w, all repaired): row w = 0 .. W_max, column K; rarer than 1e-24 is left out."""
        p, q, w = self.loss, 1 - self.loss, np.arange(self.max_window + 1)
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
        return np.power(self.loss * (1 - self.loss), self.windows, dtype=np.float64)

    @cached_property
    def nothing_lost_twice(self) -> Floats:
        """P(no packet of a round is lost twice), (1 - p^2)^w, by state."""
        return np.power(1 - self.loss**2, self.windows, dtype=np.float64)

    def failing(self, factor: ArrayLike = 1.0) -> Any:
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
        p = self.loss
        return np.asarray(-np.expm1(math.log1p(-p) + np.arange(self.max_window) * math.log1p(-(p**2))))

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
        rounds += self.failing() * mean_wait(self.short_wait)
        timeout_rounds = [p * mean_wait(d) + q for d in self.backoff_wait]
        return (
            np.concatenate([w * whole + packets + in_order[w - 1], np.full(2 * LEVELS, q)]),
            np.concatenate([rounds, np.repeat(timeout_rounds, 2)]),
        )

    def tilted(self, theta: float, packets_due: float, levels: int = LEVELS) -> tuple[Ints, Ints, Floats]:
        """Return the sums of P exp(theta (m d - S)) over the transitions, as `RenoSource.tilted`; S counts received."""
        z, one, S = math.exp(-theta), math.exp(theta * packets_due), self.size

        def tilt(waits: tuple[tuple[int, float], ...]) -> float:
            return sum(weight * math.exp(theta * packets_due * d) for d, weight in waits)

        s, w = np.arange(S), self.windows
        grown = (1 - self.loss) ** w.astype(float) * z**w * one
        lost = self.all_lost * tilt(self.all_lost_wait) + self.failing(z) * tilt(self.short_wait)
        rows = np.concatenate([s, s, s[w >= 2]])
        columns = np.concatenate([self.grow_to, np.full(S, S), self.recover_to[w[w >= 2]]])
        values = np.concatenate([grown, lost, (self.recovering(z) * one)[w >= 2]])
        backing_off = self._tilted_timeouts(z, one, tilt, levels)
        return tuple(np.concatenate(pair) for pair in zip((rows, columns, values), backing_off))  # type: ignore[return-value]

    def explicit(self) -> ExplicitArrays:
        """Expand to plain arrays, one transition a row; packets are those received, of a timeout those in order.

        Of a recovery, w - K packets: those beyond the first loss are in order one round later.
        """
        p, q, b = self.loss, 1 - self.loss, self.rounds_per_increase
        labels = [(int(w), s % b, 0, 0, 0) for s, w in enumerate(self.windows)]
        labels += [(1, 0, 0, e, r) for e in range(1, LEVELS + 1) for r in (1, 0)]
        rows: list[tuple[int, int, float, int, int]] = []
        for s, w in enumerate(map(int, self.windows)):
            rows.append((s, int(self.grow_to[s]), q**w, w, 1))
            for K in range(1, w):
                rows.append((s, int(self.recover_to[w]), math.comb(w, K) * (p * q) ** K * q ** (w - K), w - K, 1))
            rows += [(s, self.size, p**w * weight, 0, d) for d, weight in self.all_lost_wait]
            for j in range(w):
                fails = p * q**j * (1 - q * (1 - p * p) ** (w - 1 - j)) - (j == 0) * (p**w - (p * q) ** w)
                rows += [(s, self.size, fails * weight, j, d) for d, weight in self.short_wait]
        for e in range(1, LEVELS + 1):
            for r, target in ((1, self.size + 2 * e - 1), (0, self.restart)):
                s = self.size + 2 * e - 1 - r
                rows.append((s, target, q, 1, 1))
                up = self.size + 2 * (min(e + 1, LEVELS) - 1)
                rows += [(s, up, p * weight, 0, d) for d, weight in self.backoff_wait[e - 1]]
        return ExplicitArrays.of(labels, rows)


def reno_sack(path: Path) -> RenoSackSource:
    """Build the chain of Reno with SACK for independent losses; p is then lost over sent packets.

    Parameters
    ----------
    path : Path
        Its round trip time does not matter: the law of the source counts rounds.

    Raises
    ------
    AccuracyError
        For more than a million states.

    Notes
    -----
    Loss recovery as in RFC 6675, with a window lost whole as the only one that tells the sender nothing: one packet
    that arrives is enough, as with limited transmit (RFC 3042) or RACK (RFC 8985). The timer restarts with the
    retransmission, one round after the start of the round with the loss (RFC 6298, Section 5.3).
    """
    base = replace(reno(path), short_wait=wait(path.timeout_ratio + 1))
    w = np.arange(path.max_window + 1)
    halves = w // 2 if path.halving == "floor" else (w + 1) // 2
    values = {name: getattr(base, name) for name in base.__dataclass_fields__}
    to = np.where(w >= 2, (halves - 1) * path.rounds_per_increase, -1)
    return RenoSackSource(**(values | {"recover_to": to}))
