"""What a transition of each state delivers, in moments: all that a coarse lattice can see of a chain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tcp.burst import DUPLICATE_ACKS, BurstChain
from ..tcp.chain import Chain
from ..tcp.independent import IndependentChain
from ..tcp.silences import LEVELS, Silences, Wait

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Outcomes:
    """Transitions by state, where they lead and how long they take, with the moments of what arrives in them.

    Attributes
    ----------
    starts : (n + 1,) int array
        Those of state s are ``starts[s] .. starts[s + 1] - 1``.
    to, rounds : (k,) int arrays
    chance : (k,) array
        Those of a state sum to 1.
    mean, variance : (k,) arrays
        Of the packets received [packets, packets^2].
    ordered : (k,) array
        Mean packets of them that are in order at the end of the first round.
    """

    starts: Ints
    to: Ints
    rounds: Ints
    chance: Floats
    mean: Floats
    variance: Floats
    ordered: Floats

    @property
    def n_states(self) -> int:
        """Return how many states there are."""
        return len(self.starts) - 1


class _Found:
    """Outcomes as they are found: columns of equal length."""

    def __init__(self) -> None:
        self.columns: list[tuple[NDArray[np.float64], ...]] = []

    def add(self, from_: object, to: object, rounds: object, chance: object, moments: tuple[object, ...]) -> None:
        """Add transitions; `moments` are sums of chance, weighted with S and with S^2, and the mean in order."""
        columns = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (from_, to, rounds, chance, *moments)))
        kept = columns[3] > 0
        self.columns.append(tuple(column[kept] for column in columns))

    def waits(
        self, from_: Ints, to: int, wait: Wait, earlier: int, chance: Floats, moments: tuple[Floats, ...]
    ) -> None:
        """Add a wait, which begins `earlier` rounds after the transition."""
        for rounds, weight in wait:
            self.add(from_, to, earlier + rounds, chance * weight, moments)

    def outcomes(self, states: int) -> Outcomes:
        """Return what was found, by state."""
        from_, to, rounds, chance, mean, square, ordered = (np.concatenate(one) for one in zip(*self.columns))
        order = np.argsort(from_, kind="stable")
        starts = np.searchsorted(from_[order], np.arange(states + 1))
        variance = np.maximum(square - mean**2, 0.0)
        return Outcomes(
            starts,
            to[order].astype(np.int64),
            rounds[order].astype(np.int64),
            chance[order],
            mean[order],
            variance[order],
            ordered[order],
        )


@singledispatch
def outcomes(chain: Chain) -> Outcomes:
    """Return the outcomes of a chain, over the states of its transitions."""
    rows = chain.written_out
    keys = np.column_stack([rows.from_state, rows.to_state, rows.rounds])
    unique, which = np.unique(keys, axis=0, return_inverse=True)
    total, first, second, ordered = (
        np.bincount(which.ravel(), rows.probability * values, len(unique))
        for values in (np.ones(len(keys)), rows.received, rows.received.astype(np.float64) ** 2, rows.in_order)
    )
    found = _Found()
    some = np.where(total > 0, total, 1.0)
    found.add(unique[:, 0], unique[:, 1], unique[:, 2], total, (first / some, second / some, ordered / some))
    return found.outcomes(rows.n_states)


def _timeouts(found: _Found, silences: Silences, loss: float, first: int, restart: int) -> None:
    """Add the transitions of timeouts, whose states begin with `first`."""
    for e in range(1, LEVELS + 1):
        for again, state in ((True, first + 2 * (e - 1)), (False, first + 2 * (e - 1) + 1)):
            found.add(state, state + 1 if again else restart, 1, 1 - loss, (1.0, 1.0, 1.0))
            up = first + 2 * (min(e + 1, LEVELS) - 1)
            found.waits(np.array([state]), up, silences.backoff[e - 1], 0, np.array([loss]), _nothing(1))


def _nothing(n: int) -> tuple[Floats, Floats, Floats]:
    return np.zeros(n), np.zeros(n), np.zeros(n)


def _per(chance: Any, *sums: Any) -> Any:
    some = np.where(chance > 0, chance, 1.0)
    return tuple(one / some for one in sums)


@outcomes.register
def _(chain: IndependentChain) -> Outcomes:
    graph, p, r = chain.graph, chain.loss, chain.lost_unseen
    q, a, w, S = 1 - p, chain.holds, chain.graph.windows, chain.graph.size
    found, moves = _Found(), graph.growth
    sent = w[moves.from_state].astype(np.float64)
    found.add(moves.from_state, moves.to_state, 1, q**sent * moves.share, (sent, sent**2, sent))

    n = np.arange(graph.max_window + 1, dtype=np.float64)
    K = np.arange(chain.repaired.shape[1], dtype=np.float64)
    some = np.where((K >= 1) & (n[:, np.newaxis] > K), chain.repaired, 0.0)
    total, lost, square = some.sum(axis=1), some @ K, some @ K**2
    lost, square = _per(total, lost, square)
    mean, second = n - lost, (n - lost) ** 2 + np.maximum(square - lost**2, 0.0)
    j = n[:-1]
    before, wide = (
        np.append(0.0, np.cumsum(j**power * (q / a) ** j)) * chain.repairs * a ** np.maximum(n - 1, 0.0)
        for power in (1, 2)
    )
    before, wide = _per(total, before, wide)
    wide = np.minimum(np.sqrt(np.maximum(wide - before**2, 0.0)), np.minimum(before, n - 1 - before))
    states, way = np.nonzero(chain.recover_share * (w >= 2)[:, np.newaxis])
    lost_of = w[states]
    for side in (-1, 1):  # how many arrive before the first loss, by two values with mean and variance
        found.add(
            states, chain.recover_to[states, way], 1, total[lost_of] * chain.recover_share[states, way] / 2,
            (mean[lost_of], second[lost_of], np.maximum(before[lost_of] + side * wide[lost_of], 0.0)),
        )  # fmt: skip

    def delivered(power: int) -> Floats:
        """Sum of j^power P(j in order, then a timeout), by window."""
        plain = np.append(0.0, np.cumsum(j**power * p * q**j))
        held = np.append(0.0, np.cumsum(j**power * p * (q / a) ** j)) * (1 - r) * a ** np.maximum(n - 1, 0.0)
        return np.asarray(plain - held)

    fails = np.maximum(delivered(0) - (p**n - chain.repairs**n), 0.0)
    first, square = _per(fails, delivered(1), delivered(2))
    every = np.arange(S)
    found.waits(every, S, chain.silences.unrepaired, 0, fails[w], (first[w], square[w], first[w]))
    found.waits(every, S, chain.silences.whole_loss, 0, p ** w.astype(np.float64), _nothing(S))
    _timeouts(found, chain.silences, p, S, graph.restart)
    return found.outcomes(S + 2 * LEVELS)


@outcomes.register
def _(chain: BurstChain) -> Outcomes:
    graph, p = chain.graph, chain.loss
    q, w, S, W = 1 - p, graph.windows, graph.size, graph.max_window
    found, moves = _Found(), graph.growth
    sent = w[moves.from_state].astype(np.float64)
    found.add(moves.from_state, moves.to_state, 1, q**sent * moves.share, (sent, sent**2, sent))
    short = _ShortRounds(p, W)
    usual = np.arange(chain.n_initial_slow_start, S)
    for fast in (True, False):
        total, mean, square, ordered = short.by_window(fast)
        at = w[usual]
        if fast:
            to = np.maximum(chain.recover_to[at], 0)
            found.add(usual, to, 2, total[at], (mean[at], square[at], ordered[at]))
        else:
            found.waits(usual, S, chain.silences.unrepaired, 1, total[at], (mean[at], square[at], ordered[at]))
    at, delivered, size, window = chain.first_slow_start_losses
    chance = p * q ** delivered.astype(np.float64)
    for fast in (True, False):
        total, mean, square = (one[size] for one in short.after(fast))
        moments = (delivered + mean, delivered**2 + 2 * delivered * mean + square, delivered.astype(np.float64))
        if fast:
            found.add(at, np.maximum(chain.recover_to[window], 0), 2, chance * total, moments)
        else:
            found.waits(at, S, chain.silences.unrepaired, 1, chance * total, moments)
    found.waits(np.arange(S), S, chain.silences.whole_loss, 0, np.full(S, p), _nothing(S))
    _timeouts(found, chain.silences, p, S, graph.restart)
    return found.outcomes(S + 2 * LEVELS)


class _ShortRounds:
    """The short round of j packets, i of which are delivered before a loss, after j of a window."""

    def __init__(self, loss: float, most: int) -> None:
        self.loss, self.j = loss, np.arange(most + 1, dtype=np.float64)

    def after(self, fast: bool) -> tuple[Floats, Floats, Floats]:
        """Probability that the short round of j leads to a fast retransmit, or not, mean and square of its packets."""
        p, q, j = self.loss, 1 - self.loss, self.j
        i = np.arange(len(j), dtype=np.float64)
        counted = i >= DUPLICATE_ACKS if fast else i < DUPLICATE_ACKS
        sums = []
        for power in range(3):
            lost = np.where(counted, i**power * p * q**i, 0.0)
            whole = np.where(counted, i**power * q**i, 0.0)
            sums.append(np.append(0.0, np.cumsum(lost))[:-1] + whole)
        return sums[0], *_per(sums[0], sums[1], sums[2])

    def by_window(self, fast: bool) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the probability of losing from a window w, and the moments of all packets, and the mean of j."""
        p, q, j = self.loss, 1 - self.loss, self.j
        total, mean, square = self.after(fast)
        chance = np.where(j >= 1, p * q**j * total, 0.0)
        sums = [
            np.append(0.0, np.cumsum(chance * values))[:-1]
            for values in (np.ones_like(j), j + mean, j**2 + 2 * j * mean + square, j)
        ]
        return sums[0], *_per(sums[0], *sums[1:])
