"""Slow start: the first windows of a connection, and those after a timeout, as states before congestion avoidance.

A round of slow start sends w packets; each of its ceil(w / b) acknowledgements adds one to the window. A loss ends it
as it ends congestion avoidance. The threshold after a timeout at window w is max(2, h(w)); back-off keeps it, but for
a loss of the first new packet, after which it is 2 (RFC 5681, Section 3.1).

The chain does not remember the threshold through the timeouts: it draws it again, as late as possible, from the
stationary law of all thresholds. So slow start after timeouts has one state a window, 2, 4, 8, ..., and the throughput
is that of the chain that remembers; what is lost is how the windows before and after a timeout go together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from .growth import Growth
from .reno import RenoSource
from .sack import SackSource

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Source = TypeVar("Source", bound=RenoSource)

SETTLED = 1e-12
"""Change of the law of thresholds, all together, at which it is stationary."""

PATIENCE = 100
"""Steps until then."""


def with_slow_start(source: Source, initial_window: int, halves: Ints) -> Source:
    """Return a source that begins at an initial window, and comes back from timeouts, by slow start.

    Parameters
    ----------
    source : RenoSource
        `reno` or `reno_sack`, without slow start.
    initial_window : int
        Window of the first round [packets], 1 to W_max.
    halves : (W_max + 1,) int array
        h(w), the window after a loss at w = 0, 1, ... [packets].

    Raises
    ------
    AccuracyError
        When the law of the thresholds does not settle.

    Notes
    -----
    RFC 6928 (initial window), RFC 5681, Section 3.1 (slow start, and Equation 4 with FlightSize = w).
    """
    thresholds = np.maximum(halves, 2)
    law = np.eye(1, int(thresholds[-1]) + 1, 2)[0]
    for _ in range(PATIENCE):
        made = _slow(source, initial_window, law)
        before, law = law, _thresholds(made, thresholds)
        if float(np.abs(law - before).sum()) < SETTLED:
            return made
    raise AccuracyError(f"the law of slow start thresholds did not settle within {PATIENCE} steps")


def windows(first: int, end: int, rounds_per_increase: int) -> list[int]:
    """Return the windows of slow start from `first` on that are below `end` [packets]."""
    found = []
    while first < end:
        found.append(first)
        first += -(-first // rounds_per_increase)
    return found


def _slow(source: Source, initial_window: int, law: Floats) -> Source:
    """Return a source with slow start, given the law of the threshold t = 0, 1, ... after timeouts."""
    b, top = source.rounds_per_increase, source.rounds_per_increase * (source.max_window - 1)
    opening = windows(initial_window, source.max_window, b)
    climbing = windows(2, len(law) - 1, b)  # below the largest threshold
    slow = np.array([*opening, *climbing], dtype=np.int64)
    again, behind = len(opening), len(slow)
    top += behind
    up = np.append(np.arange(1, again), top)[:again]
    made = replace(
        source,
        windows=np.append(slow, source.windows),
        grow_to=np.concatenate([up, np.full(len(climbing), -1), source.grow_to + behind]).astype(np.int64),
        recover_to=np.where(source.recover_to >= 0, source.recover_to + behind, -1),
        start=0 if opening else top,
        restart=again if climbing else source.restart + behind,
        slow=behind,
        branches=_branches(slow[again:], again, law, source, behind),
    )
    if isinstance(made, SackSource):  # whose arrays of recoveries are by state
        alike = np.searchsorted(source.windows, slow)
        to, shares = made.recover_to, made.recover_share
        made = replace(made, recover_to=np.append(to[alike], to, 0), recover_share=np.append(shares[alike], shares, 0))
    return made


def _branches(climbing: Ints, first: int, law: Floats, source: RenoSource, behind: int) -> Growth:
    """Return where each window of slow start after a timeout leads, its threshold not being below that window."""
    moves = Growth.none()
    above = np.append(np.cumsum(law[::-1])[::-1], 0.0)  # P(threshold >= t)
    for i, w in enumerate(climbing.tolist()):
        last = i + 1 == len(climbing)
        end = len(law) - 1 if last else int(climbing[i + 1])
        reached = np.arange(w + 1, end + 1)  # thresholds at which congestion avoidance begins with the next round
        targets, weights = behind + (reached - 1) * source.rounds_per_increase, law[reached]
        if i == 0:  # a threshold of 2: in congestion avoidance already
            targets, weights = np.append(behind + source.grow_to[source.restart], targets), np.append(law[w], weights)
        if not last:
            targets, weights = np.append(targets, first + i + 1), np.append(weights, above[end + 1])
        total = float(weights.sum())
        shares = weights / total if total > 0 else np.eye(1, len(weights))[0]  # never reached
        moves = moves.joined(Growth(np.full(len(targets), first + i), targets, shares))
    return moves


def _thresholds(source: RenoSource, thresholds: Ints) -> Floats:
    """Return the law of the threshold at the end of a timeout, in the long run."""
    rows, columns, values = source.tilted(0.0, 0.0)
    lost = (rows < source.size) & (columns == source.size)
    flow = np.bincount(thresholds[source.windows[rows[lost]]], source.stationary[rows[lost]] * values[lost])
    law = (1 - source.loss) * flow / flow.sum()
    law[2] += source.loss
    return np.asarray(law)
