"""Transitions of a chain drawn at random, those of many senders at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..tcp.burst import DUPLICATE_ACKS, BurstChain
from ..tcp.chain import Chain
from ..tcp.independent import IndependentChain
from ..tcp.silences import LEVELS, Wait
from ..tcp.varying_chain import VaryingChain
from ..tcp.window_chain import WindowChain
from .pick import Pick

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_ROWS = 20_000_000
"""Of a chain that is written out: states times the packets of its largest round."""


class Moves(NamedTuple):
    """Transitions, one a sender.

    Attributes
    ----------
    to, rounds : (n,) int arrays
    first, later : (n,) int arrays
        Packets in order at the end of the first round, and more of them in order in the next one.
    """

    to: Ints
    rounds: Ints
    first: Ints
    later: Ints


Step = Callable[[Ints, np.random.Generator], Moves]
"""From the states of some senders to their transitions."""


@singledispatch
def drawn_moves(chain: Chain) -> Step:
    """Return what draws the transitions of a chain, as `written_moves`, or without writing it out."""
    return written_moves(chain)


def written_moves(chain: Chain) -> Step:
    """Return what draws the transitions of a chain from its rows; short rounds have states of their own.

    Raises
    ------
    AccuracyError
        For a chain that is too large to be written out.
    """
    if chain.n_states * chain.largest_round > MOST_ROWS:
        raise AccuracyError(
            f"sessions are drawn of chains that can be written out, this one has {chain.n_states:,} states"
        )
    rows = chain.written_out
    pick = Pick(rows.from_state, rows.probability, rows.n_states)

    def step(states: Ints, rng: np.random.Generator) -> Moves:
        row = pick(states, rng)
        return Moves(rows.to_state[row], rows.rounds[row], rows.in_order[row], (rows.received - rows.in_order)[row])

    return step


@drawn_moves.register
def _(chain: IndependentChain) -> Step:
    graph, p, S = chain.graph, chain.loss, chain.graph.size
    grow, wait = _growth(chain), _Waits(chain)
    ways = np.cumsum(chain.recover_share, axis=1)[:, :-1]

    def step(states: Ints, rng: np.random.Generator) -> Moves:
        sends, found = states < S, _nothing(states)
        wait.time_out(found, states, ~sends, rng)
        s = states[sends]
        w, before = graph.windows[s], _before_loss(p, len(s), rng)
        losses = 1 + rng.binomial(np.maximum(w - 1 - before, 0), p)
        whole, lost = before >= w, before < w
        all_lost = lost & (losses == w)
        again = lost & ~all_lost & (rng.random(len(s)) >= (1 - chain.lost_unseen) ** losses)
        repaired = lost & ~all_lost & ~again
        to = grow(s, rng)
        way = (rng.random(len(s))[:, np.newaxis] >= ways[s]).sum(axis=1)
        to = np.where(repaired, chain.recover_to[s, way], np.where(whole, to, S))
        rounds = np.where(all_lost, _wait(chain.silences.whole_loss, len(s), rng), 1)
        rounds = np.where(again, _wait(chain.silences.unrepaired, len(s), rng), rounds)
        first = np.where(whole, w, np.where(all_lost, 0, before))
        later = np.where(repaired, w - losses - before, 0)
        return _with(found, sends, to, rounds, first, later)

    return step


@drawn_moves.register
def _(chain: BurstChain) -> Step:
    graph, p, S = chain.graph, chain.loss, chain.graph.size
    grow, wait, early = _growth(chain), _Waits(chain), chain.n_initial_slow_start
    at, j, sent, window = chain.first_slow_start_losses
    sent_then, halved = np.zeros((2, early, int(j.max(initial=0)) + 1), dtype=np.int64)
    sent_then[at, j], halved[at, j] = sent, window

    def step(states: Ints, rng: np.random.Generator) -> Moves:
        sends, found = states < S, _nothing(states)
        wait.time_out(found, states, ~sends, rng)
        s = states[sends]
        w, before = graph.windows[s], _before_loss(p, len(s), rng)
        whole, nothing = before >= w, before == 0
        short, at_loss = np.minimum(before, w), w.copy()
        slow = (s < early) & ~whole & ~nothing
        short[slow], at_loss[slow] = sent_then[s[slow], before[slow]], halved[s[slow], before[slow]]
        second = np.where(whole | nothing, 0, np.minimum(_before_loss(p, len(s), rng), short))
        fast = second >= DUPLICATE_ACKS
        to = np.where(whole, grow(s, rng), np.where(fast, chain.recover_to[at_loss], S))
        rounds = np.where(fast, 2, 1 + _wait(chain.silences.unrepaired, len(s), rng))
        rounds = np.where(whole, 1, np.where(nothing, _wait(chain.silences.whole_loss, len(s), rng), rounds))
        return _with(found, sends, to, rounds, np.minimum(before, w), second)

    return step


@drawn_moves.register
def _(chain: VaryingChain) -> Step:
    steps, k = [drawn_moves(part) for part in chain.parts], chain.n_regimes
    first = chain.offsets[:-1] + np.array([part.first_state for part in chain.parts])

    def step(states: Ints, rng: np.random.Generator) -> Moves:
        found, states = _nothing(states), states.copy()
        begin = states == chain.offsets[-1]  # before a regime is known
        states[begin] = first[rng.choice(k, int(begin.sum()), p=chain.begins)]
        regimes = chain.regime_of(states)
        for i, draw in enumerate(steps):
            mine = np.flatnonzero(regimes == i)
            moved = draw(states[mine] - chain.offsets[i], rng)
            lasted, u = moved.rounds, rng.random(len(mine))
            to = np.empty_like(moved.to)
            for d in np.unique(lasted).tolist():
                ends = np.cumsum(chain.switching.after(d)[i])[:-1]
                of = np.flatnonzero(lasted == d)
                next_regime = np.searchsorted(ends, u[of], side="right")
                for j in range(k):
                    there = of[next_regime == j]
                    to[there] = chain.maps[i][j][moved.to[there]] + chain.offsets[j]
            _with(found, mine, to, lasted, moved.first, moved.later)
        return found

    return step


class _Waits:
    """Timeouts of a chain of windows."""

    def __init__(self, chain: WindowChain) -> None:
        self._chain, self._first = chain, chain.graph.size

    def time_out(self, found: Moves, states: Ints, at: NDArray[np.bool_], rng: np.random.Generator) -> None:
        """Draw the transitions of those senders that retransmit."""
        s = states[at] - self._first
        if not len(s):
            return
        level, lost = s // 2, rng.random(len(s)) < self._chain.loss
        waits = np.ones(len(s), dtype=np.int64)
        for e, rounds in enumerate(self._chain.silences.backoff):
            mine = lost & (level == e)
            waits[mine] = _wait(rounds, int(mine.sum()), rng)
        up = self._first + 2 * np.minimum(level + 1, LEVELS - 1)
        on = np.where(s % 2 == 0, self._first + s + 1, self._chain.graph.restart)
        _with(found, at, np.where(lost, up, on), waits, np.where(lost, 0, 1), np.zeros_like(s))


def _growth(chain: WindowChain) -> Callable[[Ints, np.random.Generator], Ints]:
    """Return what draws the state after a round that was delivered whole."""
    branches = chain.graph.branches
    pick = Pick(branches.from_state, branches.share, chain.graph.size)

    def grow(states: Ints, rng: np.random.Generator) -> Ints:
        to = chain.graph.grow_to[states]
        forks = to < 0
        if forks.any():
            to[forks] = branches.to_state[pick(states[forks], rng)]
        return to

    return grow


def _before_loss(p: float, n: int, rng: np.random.Generator) -> Ints:
    """Return how many packets arrive before the first loss."""
    return np.asarray(rng.geometric(p, n) - 1, dtype=np.int64)


def _wait(rounds: Wait, n: int, rng: np.random.Generator) -> Ints:
    """Return how long some waits are."""
    values = np.array([d for d, _ in rounds])
    ends = np.cumsum([weight for _, weight in rounds])[:-1]
    return np.asarray(values[np.searchsorted(ends, rng.random(n), side="right")])


def _nothing(states: Ints) -> Moves:
    return Moves(*(np.zeros(len(states), dtype=np.int64) for _ in range(4)))


def _with(found: Moves, at: NDArray[np.bool_] | Ints, *values: Ints) -> Moves:
    """Put transitions in their places."""
    for column, value in zip(found, values):
        column[at] = value
    return found
