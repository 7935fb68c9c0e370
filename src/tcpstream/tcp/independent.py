"""TCP with selective acknowledgements on a path that loses packets independently of each other.

Of the packets of a round each is delivered (q), or lost and repaired by a retransmission that arrives one round later
(p q), or lost twice (p^2). Several losses of a window are repaired together, and reduce it once. Only a window lost
whole, or a retransmission that is lost, ends in a timeout. How windows grow, and where a loss leads, is up to arrays:
`tcp.reno_sack` and `tcp.cubic` build them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AccuracyError
from ..path import Path
from .chain import Features, Transitions
from .silences import LEVELS, TIMEOUT_LABELS, Silences, Waits, mean_wait, tilted_wait, wait
from .window_chain import WindowChain
from .window_graph import WindowGraph

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_ROWS = 5_000_000
"""Transitions that are written out at most: of more than a gigabyte."""

RARE = 1e-24
"""Probability of so many losses in a round that is not tabulated: far below rounding of the rest."""

UNDERFLOW = 1e-280
"""Probability that nothing of a round is lost, below which others do not follow from it."""

FAR = 12.0
"""Square roots of the mean losses above that mean, from where on they are rarer than `RARE`."""

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
class IndependentChain(WindowChain):
    """A chain of windows whose packets are lost independently of each other, with the probabilities of a lossy round.

    States of `transform` are those of the graph and of the timeouts, as for `BurstChain`. There are no short rounds. A
    round of w packets of which K >= 1 are lost and all repaired leads to the state that the window is reduced to, with
    w - K packets received. In order only the j packets before the first loss are delivered by its end; the rest follows
    in the next round, with the retransmissions. A round that ends in a timeout delivers j.

    Attributes
    ----------
    loss : float
        p.
    graph : WindowGraph
    silences : Silences
        After a round lost whole; from the start of a round with a packet lost twice to the retransmission after the
        timeout; and in timeouts.
    recover_to : (S, M) int array
        States after a round with repaired losses, M of them (-1 for a window of one, which is lost whole).
    recover_share : (S, M) float array
        Probability of each; they add up to 1.
    lost_unseen : float
        Probability that a retransmission is lost and only the timer shows it.
    """

    recover_to: Ints
    recover_share: Floats
    lost_unseen: float

    @classmethod
    def on_lines(cls, path: Path, graph: WindowGraph, recover_to: Ints, recover_share: Floats) -> IndependentChain:
        """Return the chain of a path on a graph.

        The timer restarts with the retransmission, one round after the start of the round with the loss (RFC 6298,
        Section 5.3).
        """
        loss, waits = 1 - (1 - path.loss), Waits.of(path)  # so that p and q = 1 - p add up to 1 exactly
        silences = Silences(
            whole_loss=wait(waits.all_lost),
            unrepaired=wait(waits.lost_again),
            backoff=tuple(wait(rounds) for rounds in waits.backoff),
        )
        return cls(loss, graph, silences, recover_to, recover_share, 0.0 if path.detection == "rack" else loss)

    @property
    def features(self) -> Features:  # noqa: D102
        return Features.INDEPENDENT_LOSSES

    def behind_slow_start(self, graph: WindowGraph, to: Ints, share: Floats) -> IndependentChain:
        """Return the chain with slow start before its states, and where losses in slow start lead.

        Parameters
        ----------
        graph : WindowGraph
            With slow start.
        to, share : (B, M) arrays
            `recover_to` and `recover_share` of the states of slow start.
        """
        behind = graph.n_preamble - self.graph.n_preamble
        recover_to = np.where(self.recover_to >= 0, self.recover_to + behind, -1)
        wide = max(to.shape[1], recover_to.shape[1])
        return replace(
            self,
            graph=graph,
            recover_to=np.concatenate([_wide(to, wide), _wide(recover_to, wide)]),
            recover_share=np.concatenate([_wide(share, wide, 0.0), _wide(self.recover_share, wide, 0.0)]),
        )

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
        """Where a loss, a timeout or a line leads to."""
        n_preamble = np.arange(self.graph.n_preamble)
        states = np.unique(
            np.concatenate(
                [n_preamble, self.recover_to[self.recover_to >= 0], [self.graph.restart, self.graph.size - 1]]
            )
        )
        if len(states) > self.graph.size * FEW:
            return None
        return np.append(states, np.arange(self.graph.size, self.graph.size + 2 * LEVELS))

    def recoveries(self, states: int) -> Recoveries:
        """Return the groups of the first `states` states, which recover to no later ones, in the order of windows.

        States beyond stand for the same window as the last of them.
        """
        targets, shares = np.minimum(self.recover_to[:states], states - 1), self.recover_share[:states]
        keys = np.column_stack([self.graph.windows[:states], targets, shares])
        _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        group = group.ravel()
        starts = np.append(0, np.cumsum(np.bincount(group)))
        order = np.argsort(group, kind="stable")
        windows = self.graph.windows[first]
        matter = self.repaired[windows] > RARE
        losses = np.minimum(matter.shape[1] - 1 - np.argmax(matter[:, ::-1], axis=1), windows - 1)
        return Recoveries(order, starts, windows, losses, targets[first], shares[first])

    @cached_property
    def repaired(self) -> Floats:
        """P(K losses in a round of w, all repaired): row w = 0 .. W_max, column K; rarer than 1e-24 is left out."""
        q, w = 1 - self.loss, np.arange(self.graph.max_window + 1)
        p = self.repairs / q  # for one delivered
        column = q ** w.astype(float)
        columns = [column]
        for K in range(1, self.graph.max_window + 1):
            column = column * np.maximum(w - K + 1, 0) / K * p
            if self.graph.max_window * p < K and column.max() < RARE:
                break
            columns.append(column)
        table = np.array(columns).T
        small = np.flatnonzero(table[:, 0] < UNDERFLOW)
        return _by_logarithms(table, small, self.repairs, q) if len(small) else table

    @cached_property
    def all_lost(self) -> Floats:
        """P(all w packets of a round are lost), by state."""
        return np.power(self.loss, self.graph.windows, dtype=np.float64)

    @cached_property
    def repaired_whole(self) -> Floats:
        """P(all w packets of a round would be lost, and repaired if anything told the sender), by state."""
        return np.power(self.repairs, self.graph.windows, dtype=np.float64)

    @cached_property
    def nothing_lost_twice(self) -> Floats:
        """P(no packet of a round is lost twice), (1 - p^2)^w, by state."""
        return np.power(self.holds, self.graph.windows, dtype=np.float64)

    def timing_out(self, factor: ArrayLike = 1.0) -> Any:
        """Return sum_j P(j delivered in order, then a timeout, not all lost) factor^j, by factor and state.

        The probabilities are p q^j (1 - q (1 - p^2)^(w - 1 - j)), without what is lost whole.
        """
        p, q, x = self.loss, 1 - self.loss, np.asarray(factor)
        sums = np.empty((*x.shape, self.graph.max_window), dtype=np.result_type(x, 1.0))
        total = np.zeros_like(sums[..., 0])
        for n, fails in enumerate(self._fails):
            total = q * x * total + p * fails
            sums[..., n] = total
        return sums[..., self.graph.windows - 1] - (self.all_lost - self.repaired_whole)

    def recovering(self, factor: ArrayLike = 1.0) -> Any:
        """Return sum_K P(K >= 1 losses, all repaired, not all lost) factor^(w - K), by factor and state."""
        x, W = np.asarray(factor), self.graph.max_window
        powers = np.ones((*x.shape, W + 1), dtype=np.result_type(x, 1.0))
        powers[..., 1:] = x[..., np.newaxis]
        np.multiply.accumulate(powers, axis=-1, out=powers)
        by_window = np.zeros_like(powers)
        for K in range(1, self.repaired.shape[1]):
            by_window[..., K + 1 :] += self.repaired[K + 1 :, K] * powers[..., 1 : W + 1 - K]
        return by_window[..., self.graph.windows]

    @cached_property
    def _fails(self) -> Floats:
        """1 - q (1 - p^2)^n for n = 0, 1, ...: a lost packet, or one of n behind it, is lost twice."""
        p, r = self.loss, self.lost_unseen
        return np.asarray(-np.expm1(math.log1p(-r) + np.arange(self.graph.max_window) * math.log1p(-(p * r))))

    @cached_property
    def per_transition(self) -> tuple[Floats, Floats]:
        """Mean packets received and mean rounds of the transitions from each state of `transform`."""
        p, q, w = self.loss, 1 - self.loss, self.graph.windows
        K = np.arange(self.repaired.shape[1])
        received = np.where((K >= 1) & (np.arange(self.graph.max_window + 1)[:, np.newaxis] > K), self.repaired, 0.0)
        packets = (received @ -K + np.arange(self.graph.max_window + 1) * received.sum(axis=1))[w]
        in_order, total, weighted = np.empty(self.graph.max_window), 0.0, 0.0
        for n, fails in enumerate(self._fails):  # sum_j j p q^j fails, as `timing_out`
            weighted = q * (weighted + total)
            total = q * total + p * fails
            in_order[n] = weighted
        whole = q ** w.astype(float)
        rounds = whole + self.recovering() + self.all_lost * mean_wait(self.silences.whole_loss)
        rounds += self.timing_out() * mean_wait(self.silences.unrepaired)
        return (
            np.concatenate([w * whole + packets + in_order[w - 1], np.full(2 * LEVELS, q)]),
            np.concatenate([rounds, self.silences.rounds_at_levels(p)]),
        )

    def transform(self, theta: float, packets_due: float, levels: int = LEVELS) -> tuple[Ints, Ints, Floats]:
        """Return the sums of P exp(theta (m d - S)) over the transitions, S received; see `Chain.transform`."""
        z, one, S = math.exp(-theta), math.exp(theta * packets_due), self.graph.size
        tilt = tilted_wait(theta, packets_due)
        s, w = np.arange(S), self.graph.windows
        moves = self.graph.growth
        grown = ((1 - self.loss) ** w.astype(float) * z**w)[moves.from_state] * one * moves.share
        lost = self.all_lost * tilt(self.silences.whole_loss) + self.timing_out(z) * tilt(self.silences.unrepaired)
        repaired, way = np.nonzero(self.recover_share * (w >= 2)[:, np.newaxis])
        recovered = (self.recovering(z) * one)[repaired] * self.recover_share[repaired, way]
        from_, to, values = self.silences.transform(self.loss, S, self.graph.restart, z, one, tilt, levels)
        return (
            np.concatenate([moves.from_state, s, repaired, from_]),
            np.concatenate([moves.to_state, np.full(S, S), self.recover_to[repaired, way], to]),
            np.concatenate([grown, lost, recovered, values]),
        )

    def transitions(self) -> Transitions:
        """Return every transition, by the losses of its round and the packets before the first one.

        Labels are unique on a line only.

        Raises
        ------
        AccuracyError
            Where they are more than `MOST_ROWS`.
        """
        p, q, S = self.loss, 1 - self.loss, self.graph.size
        windows: Floats = self.graph.windows.astype(np.float64)
        wanted = float((windows * (windows - 1) / 2) @ (self.recover_share > 0).sum(axis=1))
        if wanted > MOST_ROWS:
            raise AccuracyError(
                f"this chain has {wanted:.2g} transitions written out, more than {MOST_ROWS:,}: give a smaller largest "
                f"window than {self.graph.max_window} packets"
            )
        labels = [(int(w), int(c), 0, 0, 0) for w, c in zip(self.graph.windows, self.graph.rounds_at_window)]
        labels += TIMEOUT_LABELS
        rows: list[tuple[int, int, float, int, int, int]] = []
        for s, w in enumerate(map(int, self.graph.windows)):
            rows += [(s, target, q**w * share, w, w, 1) for target, share in self.graph.growth.of(s)]
            targets, shares = self.recover_to[s].tolist(), self.recover_share[s].tolist()
            ways = [(target, share) for target, share in zip(targets, shares) if share > 0]
            for K in range(1, w):
                chance = self.repairs**K * q ** (w - K)
                for j in range(w - K + 1):  # K losses, the first behind j packets
                    here = chance * math.comb(w - 1 - j, K - 1)
                    rows += [(s, target, here * share, w - K, j, 1) for target, share in ways]
            rows += [(s, S, p**w * weight, 0, 0, d) for d, weight in self.silences.whole_loss]
            for j in range(w):
                fails = p * q**j * float(self._fails[w - 1 - j])
                fails -= (j == 0) * (p**w - self.repairs**w)
                rows += [(s, S, fails * weight, j, j, d) for d, weight in self.silences.unrepaired]
        return Transitions.of(labels, rows + self.silences.rows(p, S, self.graph.restart), self.graph.start)


def _by_logarithms(table: Floats, windows: Ints, repairs: float, q: float) -> Floats:
    """Return a table of P(K losses of w, all repaired) with the rows of some windows anew, as w-th powers underflow."""
    most = int(windows[-1])
    mean = most * repairs / (repairs + q)
    width = min(most, int(mean + FAR * (math.sqrt(mean) + FAR))) + 1
    factorials = np.append(0.0, np.cumsum(np.log(np.arange(1.0, most + 1))))
    made = np.zeros((len(table), max(table.shape[1], width)))
    made[:, : table.shape[1]] = table
    for w in windows.tolist():
        K = np.arange(min(w + 1, width))
        likely = factorials[w] - factorials[K] - factorials[w - K] + K * math.log(repairs) + (w - K) * math.log(q)
        made[w, K] = np.exp(likely)
    return made[:, : int(np.flatnonzero((made > RARE).any(axis=0))[-1]) + 1]


def _wide(rows: Any, columns: int, filling: float | None = None) -> Any:
    """Return rows with as many columns, filled up with the first one by default."""
    more = np.broadcast_to(rows[:, :1] if filling is None else filling, (len(rows), columns - rows.shape[1]))
    return np.concatenate([rows, more], axis=1)
