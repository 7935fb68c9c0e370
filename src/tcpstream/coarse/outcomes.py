"""What a transition of each state delivers, in moments: all that a coarse lattice can see of a chain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from ..tcp.burst import BurstChain
from ..tcp.chain import Chain
from ..tcp.independent import IndependentChain
from ..tcp.silences import LEVELS, Silences, Wait
from ..tcp.varying_chain import VaryingChain
from .short_rounds import ShortRounds, between, per

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Parts = tuple[float, ...]

LAST = 2
"""Parts of what is beyond the others."""

LONG = 4
"""Rounds of a wait from which on parts of a round before it are larger: half as many times as it has rounds."""

ROUNDING = 1e-12
"""Relative size below which the difference of two sums is none."""


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
    twice : (k,) bool array
        Whether a second round is sent.
    """

    starts: Ints
    to: Ints
    rounds: Ints
    chance: Floats
    mean: Floats
    variance: Floats
    ordered: Floats
    twice: NDArray[np.bool_]

    @property
    def n_states(self) -> int:
        """Return how many states there are."""
        return len(self.starts) - 1


class _Found:
    """Outcomes as they are found: columns of equal length."""

    def __init__(self) -> None:
        self.columns: list[tuple[NDArray[np.float64], ...]] = []

    def add(
        self, from_: object, to: object, rounds: object, chance: object, moments: tuple[object, ...],
        twice: object = False,
    ) -> None:  # fmt: skip
        """Add transitions; `moments` are mean and mean square of what is received, and the mean in order."""
        given = from_, to, rounds, chance, *moments, twice
        columns = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in given))
        kept = columns[3] > 0
        self.columns.append(tuple(column[kept] for column in columns))

    def waits(
        self, from_: Ints, to: int, wait: Wait, earlier: int, chance: Floats, moments: tuple[Floats, ...]
    ) -> None:
        """Add a wait, which begins `earlier` rounds after the transition."""
        for rounds, weight in wait:
            self.add(from_, to, earlier + rounds, chance * weight, moments, earlier > 0)

    def outcomes(self, states: int) -> Outcomes:
        """Return what was found, by state."""
        from_, to, rounds, chance, mean, square, ordered, twice = (np.concatenate(one) for one in zip(*self.columns))
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
            twice[order] > 0,
        )


@singledispatch
def outcomes(chain: Chain, parts: Parts = (), states: Ints | None = None) -> Outcomes:  # noqa: ARG001
    """Return the outcomes of a chain, over the states of its transitions.

    Parameters
    ----------
    chain : Chain
    parts : tuple of float
        Packets of a round at which its parts end, but for the last ones: losses in different parts are told apart, and
        one and more losses of a round, or a short round with one and without. Without parts they are not; nor are
        they in a chain that is only known by its transitions.
    states : int array, optional
        Whose outcomes are asked for; others may be left out. Those of all by default.
    """
    rows = chain.written_out
    keys = np.column_stack([rows.from_state, rows.to_state, rows.rounds])
    unique, which = np.unique(keys, axis=0, return_inverse=True)
    total, first, second, ordered = (
        np.bincount(which.ravel(), rows.probability * values, len(unique))
        for values in (np.ones(len(keys)), rows.received, rows.received.astype(np.float64) ** 2, rows.in_order)
    )
    found = _Found()
    some = np.where(total > 0, total, 1.0)
    twice = (unique[:, 2] > 1) & (ordered < first)
    found.add(unique[:, 0], unique[:, 1], unique[:, 2], total, (first / some, second / some, ordered / some), twice)
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


def _repaired(chain: IndependentChain) -> Iterator[tuple[Floats, tuple[Floats, Floats], Floats]]:
    """Give the probabilities that losses are repaired, moments of what is received and the mean in order, by window.

    How many arrive before the first loss is one of two values, which have its mean and variance.
    """
    q, a = 1 - chain.loss, chain.holds
    n = np.arange(chain.graph.max_window + 1, dtype=np.float64)
    total, lost, square = _losses(chain, 1)
    j = n[:-1]
    before, wide = (
        np.append(0.0, np.cumsum(j**power * (q / a) ** j)) * chain.repairs * a ** np.maximum(n - 1, 0.0)
        for power in (1, 2)
    )
    before, wide = per(total, before, wide)
    wide = np.minimum(np.sqrt(np.maximum(wide - before**2, 0.0)), np.minimum(before, n - 1 - before))
    for side in (-1, 1):
        yield total / 2, (n - lost, (n - lost) ** 2 + square - lost**2), np.maximum(before + side * wide, 0.0)


def _repaired_by_part(
    chain: IndependentChain, parts: Parts
) -> Iterator[tuple[Floats, tuple[Floats, Floats], Floats]]:  # fmt: skip
    """Give the same by the part of the window in which the first loss is, for one loss and for more."""
    b, q, a = chain.repairs, 1 - chain.loss, chain.holds
    n = np.arange(chain.graph.max_window + 1, dtype=np.float64)
    _, lost, square = _losses(chain, 2)
    i = n[:-1]
    ones, any_ = b * q ** np.maximum(n - 1, 0.0), b * a ** np.maximum(n - 1, 0.0)
    for first, end in pairwise(_parts(n, parts)):
        one, middle = np.where(n >= 2, ones * (end - first), 0.0), (first + end - 1) / 2
        every, of_every = (any_ * between(i**power * (q / a) ** i, first, end) for power in (0, 1))
        more = np.where(n >= 3, every - one - (first == 0) * b**n, 0.0)
        more = np.where(more > ROUNDING * every, more, 0.0)
        (before,) = per(more, of_every - one * middle)
        yield one, (n - 1, (n - 1) ** 2), middle
        yield more, (n - lost, (n - lost) ** 2 + square - lost**2), np.clip(before, first, np.maximum(end - 1, first))


def _losses(chain: IndependentChain, least: int) -> tuple[Floats, Floats, Floats]:
    """Return P(`least` or more losses, all repaired), and the mean and mean square of their number, by window."""
    n, K = np.arange(len(chain.repaired)), np.arange(chain.repaired.shape[1], dtype=np.float64)
    some = np.where((least <= K) & (n[:, np.newaxis] > K), chain.repaired, 0.0)
    total = some.sum(axis=1)
    mean, square = per(total, some @ K, some @ K**2)
    return total, mean, np.maximum(square, mean**2)


def _unrepaired(chain: IndependentChain, parts: Parts) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Give the probabilities of a timeout by the part in which the first loss is, mean and mean square before it."""
    p, q, a = chain.loss, 1 - chain.loss, chain.holds
    n = np.arange(chain.graph.max_window + 1, dtype=np.float64)
    i = n[:-1]
    for first, end in pairwise(_parts(n, parts)):
        total, mean, square = (
            between(i**power * p * q**i, first, end)
            - between(i**power * chain.repairs * (q / a) ** i, first, end) * a ** np.maximum(n - 1, 0.0)
            for power in range(3)
        )
        total = np.maximum(total - (first == 0) * (p**n - chain.repairs**n), 0.0)
        yield total, *per(total, mean, square)


def _parts(n: Floats, parts: Parts) -> list[Floats]:
    """Return where the parts of windows of n packets begin, and where the last one ends."""
    if not parts:
        return [0 * n, n]
    ends = [np.minimum(np.round(end), n) for end in (0.0, *parts)]
    return ends + [ends[-1] + np.floor((n - ends[-1]) * (i + 1) / LAST) for i in range(LAST)]


def _before(wait: Wait, parts: Parts) -> Parts:
    """Return the parts of a round in which losses are told apart before a wait: the longer, the fewer.

    What its rounds add to a backlog is much beside the place of a loss in its round, unless parts are of a packet: then
    few packets are due in a round.
    """
    rounds = min((rounds for rounds, _ in wait), default=1)
    return parts[rounds // 2 - 1 :: rounds // 2] if rounds >= LONG and parts and parts[0] > 1 else parts


@outcomes.register
def _(chain: IndependentChain, parts: Parts = (), states: Ints | None = None) -> Outcomes:
    graph, p, S = chain.graph, chain.loss, chain.graph.size
    q, w = 1 - p, graph.windows
    found, moves = _Found(), graph.growth
    every = np.arange(S) if states is None else np.unique(states[states < S])
    asked = np.zeros(S, dtype=np.bool_)
    asked[every] = True
    begins = asked[moves.from_state]
    from_state = moves.from_state[begins]
    sent = w[from_state].astype(np.float64)
    found.add(from_state, moves.to_state[begins], 1, q**sent * moves.share[begins], (sent, sent**2, sent))

    losing, way = np.nonzero(chain.recover_share * (asked & (w >= 2))[:, np.newaxis])
    lost_of, share, target = w[losing], chain.recover_share[losing, way], chain.recover_to[losing, way]
    for total, received, ordered in _repaired(chain) if not parts else _repaired_by_part(chain, parts):
        moments = (received[0][lost_of], received[1][lost_of], ordered[lost_of])
        found.add(losing, target, 1, total[lost_of] * share, moments)
    w, unrepaired = w[every], chain.silences.unrepaired
    for total, first, square in _unrepaired(chain, _before(unrepaired, parts)):
        found.waits(every, S, unrepaired, 0, total[w], (first[w], square[w], first[w]))
    found.waits(every, S, chain.silences.whole_loss, 0, p ** w.astype(np.float64), _nothing(len(every)))
    _timeouts(found, chain.silences, p, S, graph.restart)
    return found.outcomes(S + 2 * LEVELS)


@outcomes.register
def _(chain: BurstChain, parts: Parts = (), states: Ints | None = None) -> Outcomes:  # noqa: ARG001
    graph, p = chain.graph, chain.loss
    q, w, S, W = 1 - p, graph.windows, graph.size, graph.max_window
    found, moves = _Found(), graph.growth
    sent = w[moves.from_state].astype(np.float64)
    found.add(moves.from_state, moves.to_state, 1, q**sent * moves.share, (sent, sent**2, sent))
    short = ShortRounds(p, W)
    usual = np.arange(chain.n_initial_slow_start, S)
    unrepaired, n = chain.silences.unrepaired, np.arange(W + 1, dtype=np.float64)
    for fast, places in ((True, parts), (False, _before(unrepaired, parts))):
        for (first, end), part in product(pairwise(_parts(n, places)), (True, False) if parts else (None,)):
            total, *sums = (one[w[usual]] for one in short.between(first, end, fast, part))
            if fast:
                found.add(usual, np.maximum(chain.recover_to[w[usual]], 0), 2, total, tuple(sums), True)
            else:
                found.waits(usual, S, unrepaired, 1, total, tuple(sums))
    at, delivered, size, window = chain.first_slow_start_losses
    chance = p * q ** delivered.astype(np.float64)
    for fast in (True, False):
        total, mean, square = (one[size] for one in short.after(fast))
        moments = (delivered + mean, delivered**2 + 2 * delivered * mean + square, delivered.astype(np.float64))
        if fast:
            found.add(at, np.maximum(chain.recover_to[window], 0), 2, chance * total, moments, True)
        else:
            found.waits(at, S, chain.silences.unrepaired, 1, chance * total, moments)
    found.waits(np.arange(S), S, chain.silences.whole_loss, 0, np.full(S, p), _nothing(S))
    _timeouts(found, chain.silences, p, S, graph.restart)
    return found.outcomes(S + 2 * LEVELS)


@outcomes.register
def _(chain: VaryingChain, parts: Parts = (), states: Ints | None = None) -> Outcomes:  # noqa: ARG001
    every = [outcomes(part, parts) for part in chain.parts]
    longest = max(int(one.rounds.max()) for one in every)
    chances = np.array([chain.switching.after(d) for d in range(longest + 1)])
    found = []
    for i, j, to in chain.changes():
        one = every[i]
        source, chance = np.repeat(np.arange(one.n_states), np.diff(one.starts)), one.chance * chances[one.rounds, i, j]
        rest = to[one.to], one.rounds, chance, one.mean, one.variance, one.ordered, one.twice
        found.append((source + chain.offsets[i], *rest))
        if chain.known_begin is None:
            first = source == chain.parts[i].first_state
            begun = tuple(column[first] * (chain.begins[i] if k == 2 else 1) for k, column in enumerate(rest))
            found.append((np.full(int(first.sum()), chain.first_state), *begun))
    columns = [np.concatenate(one) for one in zip(*found)]
    kept = columns[3] > 0
    order = np.flatnonzero(kept)[np.argsort(columns[0][kept], kind="stable")]
    from_, to, rounds, chance, mean, variance, ordered, twice = (column[order] for column in columns)
    starts = np.searchsorted(from_, np.arange(chain.n_states + 1))
    return Outcomes(starts, to, rounds, chance, mean, variance, ordered, twice.astype(np.bool_))
