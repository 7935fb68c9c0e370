"""What a sender does while its application, not its window, limits it: which states stay, and where losses lead."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..coarse.outcomes import Outcomes, outcomes
from ..tcp.burst import BurstChain
from ..tcp.independent import IndependentChain
from ..tcp.window_chain import WindowChain

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

REORDERING = 0.25
"""Of a round trip: how long RACK waits for what may be late, until three later packets are known (RFC 8985)."""

DUPLICATES = 3
"""Packets that arrive behind a lost one until it is sent again."""

PLACES = (0.25, 0.5, 0.75, 1.0)
"""Of the packets of a round of playback: parts of a round by which a loss is told apart that takes the rest along."""


class Rules(NamedTuple):
    """Outcomes of the rounds of a chain, and what becomes of them where fewer packets are sent than a window allows.

    Attributes
    ----------
    starts, to, rounds, chance, mean, deviation, ordered, twice : arrays
        See `coarse.outcomes.Outcomes`; the deviation is that of the packets received.
    lossless : (k,) bool array
        Outcomes in which nothing is lost; slow start has several.
    intact : (n,) array
        Their probability, by state.
    windows : (n,) array
        [packets]; 1 in timeouts.
    stays : (n,) bool array
        Whether a state is one of growth, in which an unused window stays as it is; repairs and timeouts go on.
    slow : (n,) bool array
        Whether it is one of slow start, which grows up to twice what is sent.
    falls_to : (n,) int array
        State after a retransmission timer in which the window was not used; itself where it stays.
    same_window : (W + 1,) int array
        State of growth whose losses are those of a round of so many packets.
    reduced_starts, reduced_to, reduced_share : arrays
        Where a loss that is repaired leads from each state.
    n_windows : int
        States of windows: timeouts follow.
    """

    starts: Ints
    to: Ints
    rounds: Ints
    chance: Floats
    mean: Floats
    deviation: Floats
    ordered: Floats
    twice: Bools
    lossless: Bools
    intact: Floats
    windows: Floats
    stays: Bools
    slow: Bools
    falls_to: Ints
    same_window: Ints
    reduced_starts: Ints
    reduced_to: Ints
    reduced_share: Floats
    n_windows: int


def rules(chain: WindowChain, packets_due: float, initial_window: int) -> Rules:
    """Return the rules of a chain for a live stream of `packets_due` packets a round.

    Notes
    -----
    Linux: a window that is not used up does not grow; after a retransmission timer it becomes the mean of itself and
    of what was used, which counts as the initial window at least (`tcp_cwnd_validate`,
    `tcp_cwnd_application_limited`).
    """
    places = tuple(packets_due * part for part in PLACES) if isinstance(chain, BurstChain) else ()
    known, graph = outcomes(chain, places), chain.graph
    n, size = known.n_states, graph.size
    windows = np.ones(n)
    windows[:size] = graph.windows
    origin = np.repeat(np.arange(n), np.diff(known.starts))
    lossless = (known.rounds == 1) & (known.mean >= windows[origin])
    intact = np.bincount(origin, known.chance * lossless, n).astype(np.float64)
    repairs = _repairs(chain, n)
    slow = np.zeros(n, dtype=np.bool_)
    slow[: graph.n_preamble] = ~repairs[: graph.n_preamble]
    stays = ~repairs
    stays[size:] = False
    growing = np.flatnonzero(stays[:size] & ~slow[:size])
    same = np.abs(windows[growing] - np.arange(graph.max_window + 1)[:, np.newaxis]).argmin(axis=1)
    used = max(float(np.ceil(packets_due)), float(initial_window))
    falls_to = np.arange(n)
    for s in range(size):
        if stays[s] and windows[s] > used:
            falls_to[s] = _lower(windows, stays, s, (windows[s] + used) / 2)
    starts, to, share = _reduced(known, lossless, size)
    return Rules(
        known.starts, known.to, known.rounds, known.chance, known.mean, np.sqrt(known.variance), known.ordered,
        known.twice, lossless, intact, windows, stays, slow, falls_to, growing[same], starts, to, share, size,
    )  # fmt: skip


def _repairs(chain: WindowChain, n: int) -> Bools:
    """Return which states are rounds that repair losses: where those lead that are none themselves."""
    repairs = np.zeros(n, dtype=np.bool_)
    if not isinstance(chain, IndependentChain):
        return repairs
    targets: Any = chain.recover_to
    reached = np.zeros(chain.graph.size, dtype=np.bool_)
    reached[targets[targets >= 0]] = True
    if reached[: chain.graph.n_preamble].any():  # of Reno they come before all windows, and some lead to these
        repairs[: chain.graph.n_preamble] = reached[: chain.graph.n_preamble]
    else:
        first = targets[~reached]
        repairs[first[first >= 0]] = True
    return repairs


def _lower(windows: Floats, stays: Bools, state: int, window: float) -> int:
    """Return the state before one on its line with the smallest window that is not below another one."""
    while state > 0 and stays[state - 1] and window <= windows[state - 1] <= windows[state]:
        state -= 1
    return state


def _reduced(known: Outcomes, lossless: Bools, size: int) -> tuple[Ints, Ints, Floats]:
    """Return where repaired losses lead, by state, with the probabilities of each."""
    starts, to, shares = [0], [], []
    for s in range(known.n_states):
        at = np.arange(known.starts[s], known.starts[s + 1])
        at = at[(known.to[at] < size) & ~lossless[at]] if s < size else at[:0]
        total = known.chance[at].sum()
        if total > 0:
            targets, which = np.unique(known.to[at], return_inverse=True)
            to.append(targets)
            shares.append(np.bincount(which.ravel(), known.chance[at]) / total)
        starts.append(starts[-1] + (len(to[-1]) if total > 0 else 0))
    return np.array(starts), np.concatenate(to).astype(np.int64), np.concatenate(shares)
