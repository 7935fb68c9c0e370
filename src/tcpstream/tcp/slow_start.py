"""Slow start: the first windows of a connection, and those after a timeout, as states before congestion avoidance.

A round of slow start sends w packets; each of its ceil(w / b) acknowledgements adds one to the window. A loss ends it
as it ends congestion avoidance. The threshold after a timeout is half of the window before, or what congestion control
makes of it, and 2 at least; back-off keeps it, but for a loss of the first new packet, after which it is 2 (RFC 5681,
Section 3.1). Behind a bottleneck acknowledgements come at its rate, and the first slow start, which no threshold ends,
goes on until the buffer is full.

The chain does not remember the threshold through the timeouts: it draws it again, as late as possible, from the
stationary distribution of all thresholds. So slow start after timeouts has one state a window, 2, 4, 8, ..., and the
throughput is that of the chain that remembers; what is lost is how the windows before and after a timeout go together.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..path import Path
from .bottleneck import sent
from .burst import BurstChain
from .growth import Growth
from .independent import IndependentChain
from .places import Kind, Places
from .sack_recovery import LossTargets, leads, no_repairs
from .silences import LEVELS
from .window_graph import WindowGraph

Family = TypeVar("Family", BurstChain, IndependentChain)
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SETTLED = 1e-12
"""Change of the distribution of thresholds, all together, at which it is stationary."""

NEVER = 1e-20
"""The same times the share of transitions that are timeouts: where these are so rare, rounding makes the thresholds."""

PATIENCE = 100
"""Steps until then."""


class SlowStartLinks(NamedTuple):
    """How slow start leads to the congestion avoidance of a chain, and comes from it.

    Attributes
    ----------
    thresholds : (S,) int array
        After a timeout in each state of the chain, 2 at least [packets].
    reduced : (W_max + 1,) int array
        After a timeout in slow start at a window of w = 0, 1, ..., 2 at least [packets].
    enter_to, enter_share : (W_max + 1, M) arrays
        States in which congestion avoidance begins at a threshold of t = 0, 1, ..., and the probability of each.
    ways : callable, optional
        Of losses in slow start, where a chain has recoveries by state.
    leaves : int, optional
        Window at which the first slow start ends although nothing is lost and no threshold is known [packets].
    """

    thresholds: Ints
    reduced: Ints
    enter_to: Ints
    enter_share: Floats
    ways: LossTargets | None = None
    leaves: int | None = None


def with_slow_start(chain: Family, path: Path, around: SlowStartLinks) -> Family:
    """Return a chain that begins at the initial window of its path, and comes back from timeouts, by slow start.

    Parameters
    ----------
    chain : BurstChain
        Without slow start.
    path : Path
        With an initial window.
    around : Around

    Raises
    ------
    AccuracyError
        When the distribution of the thresholds does not settle.

    Notes
    -----
    RFC 6928 (initial window), RFC 5681, Section 3.1 (slow start, and Equation 4 with FlightSize = w).
    """
    pmf = np.eye(1, int(max(around.thresholds.max(), around.reduced.max())) + 1, 2)[0]
    W, b = path.max_window, path.rounds_per_increase
    assert path.initial_window is not None
    end = around.leaves or (W if path.bottleneck is None else W + 1)
    initial: list[int] = windows(path.initial_window, end, b, path.pipe)
    climbing: list[int] = windows(2, max(len(pmf) - 1, 3), b, path.pipe) if W > 1 else []  # below the largest threshold
    for _ in range(PATIENCE):
        made: Family = _slow(chain, path, initial, climbing, pmf, around)
        slow = np.array([*initial, *climbing], dtype=np.int64)
        before, (pmf, timeouts) = pmf, _thresholds(made, around, slow, len(pmf))
        change = float(np.abs(pmf - before).sum())
        if change < SETTLED or change * timeouts < NEVER:
            return made
    raise AccuracyError(f"the distribution of slow start thresholds did not settle within {PATIENCE} steps")


def windows(first: int, end: int, rounds_per_increase: int, pipe: float = math.inf) -> list[int]:
    """Return the windows of slow start from `first` on that are below `end` [packets].

    No more than `pipe` packets of a round are acknowledged in the next one.
    """
    found = []
    while first < end:
        found.append(first)
        first += math.ceil(min(first, pipe) / rounds_per_increase)
    return found


def _slow(
    chain: Any, path: Path, initial: list[int], climbing: list[int], pmf: Floats, around: SlowStartLinks
) -> Any:  # fmt: skip
    """Return a chain with slow start of given windows, and the pmf of the threshold t = 0, 1, ... after timeouts."""
    slow = np.array([*initial, *climbing], dtype=np.int64)
    again, behind, inner = len(initial), len(slow), chain.graph
    top = behind + inner.size - inner.rounds_per_increase
    end = top if path.bottleneck is None else behind + int(inner.grow_to[-1])
    up = np.append(np.arange(1, again), -1 if around.leaves else end)[:again]
    graph = replace(
        inner,
        windows=np.append(sent(path, slow), inner.windows),
        grow_to=np.concatenate(
            [up, np.full(len(climbing), -1), np.where(inner.grow_to >= 0, inner.grow_to + behind, -1)]
        ).astype(np.int64),
        start=0 if initial else top,
        restart=again if climbing else inner.restart + behind,
        n_preamble=behind + inner.n_preamble,
        branches=_branches(slow[again:], again, pmf, inner, behind, around),
        places=None if inner.places is None else inner.places.behind(_places(initial, climbing)),
    )
    if around.ways is None:
        return chain.behind_slow_start(graph, again)
    known = np.append(slow, path.max_window)  # whose recoveries are by state
    larger = np.append(np.arange(1, again + 1), np.arange(again, behind + 1))
    larger[again - 1 : again] = behind
    to, share = leads(known, np.zeros_like(known), larger, around.ways, no_repairs())
    to = np.where(to >= 0, to + behind, -1)
    return chain.behind_slow_start(graph, to[:behind], share[:behind])


def _places(initial: list[int], climbing: list[int]) -> Places:
    """Return what the states of slow start stand for."""
    first, again = ([kind] * len(one) for kind, one in ((Kind.FIRST_SLOW_START, initial), (Kind.SLOW_START, climbing)))
    return Places.of(np.array([*first, *again], dtype=np.int64), 0, np.array([*initial, *climbing], dtype=np.int64))


def _branches(
    climbing: Ints, first: int, pmf: Floats, inner: WindowGraph, behind: int, around: SlowStartLinks
) -> Growth:
    """Return where states lead whose growth is not one state: those of the chain, and slow start after a timeout.

    The threshold of a window of slow start is not below that window.
    """
    moves = Growth(inner.branches.from_state + behind, inner.branches.to_state + behind, inner.branches.share)
    if around.leaves:
        moves = moves.joined(
            _shares(first - 1, behind + around.enter_to[around.leaves], around.enter_share[around.leaves])
        )
    above = np.append(np.cumsum(pmf[::-1])[::-1], 0.0)  # P(threshold >= t)
    for i, w in enumerate(climbing.tolist()):
        last = i + 1 == len(climbing)
        end = len(pmf) - 1 if last else int(climbing[i + 1])
        reached = np.arange(w + 1, end + 1)  # thresholds at which congestion avoidance begins with the next round
        targets = behind + around.enter_to[reached].ravel()
        weights = (pmf[reached, np.newaxis] * around.enter_share[reached]).ravel()
        if i == 0:  # a threshold of 2: in congestion avoidance already
            targets = np.append(behind + inner.grow_to[around.enter_to[w]], targets)
            weights = np.append(pmf[w] * around.enter_share[w], weights)
        if not last:
            targets, weights = np.append(targets, first + i + 1), np.append(weights, above[end + 1])
        moves = moves.joined(_shares(first + i, targets, weights))
    return moves


def _shares(state: int, targets: Ints, weights: Floats) -> Growth:
    """Return the moves of a state, each target once."""
    to, which = np.unique(targets, return_inverse=True)
    sums = np.bincount(which.ravel(), weights, len(to))
    total = float(sums.sum())
    shares = sums / total if total > 0 else np.eye(1, len(sums))[0]  # never reached
    return Growth(np.full(len(to), state), to, shares)


def _thresholds(chain: Family, around: SlowStartLinks, slow: Ints, size: int) -> tuple[Floats, float]:
    """Return the pmf of the threshold at the end of a timeout, in the long run, and the share of timeouts.

    `slow` are windows of slow start.
    """
    timeouts = chain.n_states - 2 * LEVELS
    rows, columns, values = chain.transform(0.0, 0.0)
    lost = (rows < timeouts) & (columns == timeouts)
    thresholds = np.append(around.reduced[slow], around.thresholds)
    visits = np.maximum(chain.stationary[rows[lost]], 0.0)  # rounding may leave less than nothing
    flow = np.bincount(thresholds[rows[lost]], visits * values[lost], size)
    share = float(flow.sum())
    pmf = (1 - chain.loss) * flow / share if share > 0 else np.zeros(size)
    pmf[2] += chain.loss if share > 0 else 1.0
    return np.asarray(pmf), share
