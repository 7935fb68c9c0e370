"""CUBIC (RFC 9438) with selective acknowledgements, on a path that loses packets independently of each other.

After a loss the window grows on a line that the window at that loss decides: a function of time, in seconds, whose
plateau is the window before. So one line is followed for each window at a loss, and for each answer to whether that
loss came before the plateau of the line before (fast convergence).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AccuracyError
from ..path import REACHES_MAX_WINDOW, Path
from .reno import MOST_STATES
from .sack import SackSource

Ints = NDArray[np.int64]

C = 0.4
"""Packets per cubed second (RFC 9438, Section 5)."""

BETA = 0.7
"""Share of the window that a loss leaves (Section 4.6)."""

ALPHA = 3 * (1 - BETA) / (1 + BETA)
"""Packets a round by which a TCP that keeps BETA of its window grows, to be as fast as Reno (Section 4.3)."""

CONVERGENCE = (1 + BETA) / 2
"""Plateau over window at a loss that came before the plateau of its line (Section 4.7)."""

STEEPEST = 1.5
"""Growth of the cubic function in a round, at most (Section 4.2)."""

SMALLEST = 2
"""Packets that a loss leaves at least (Section 4.6)."""

RATIO = 1.1
"""Between neighbouring windows at a loss that have a line, but for whole numbers."""


def growth(start: int, plateau: float, rtt: float, friendly_growth: float = ALPHA) -> Iterator[float]:
    """Yield the congestion window of the rounds after a reduction, the first of which repairs the loss [packets].

    Parameters
    ----------
    start : int
        Window after the reduction, cwnd_epoch [packets].
    plateau : float
        W_max [packets].
    rtt : float
        R [s].
    friendly_growth : float
        Of W_est [packets a round].

    Notes
    -----
    RFC 9438, Sections 4.2 to 4.5, a round at a time: the larger of W_cubic(nR) and of W_est after n rounds. As in
    Linux, W_est grows by `ALPHA` for good, where the RFC would have it grow by 1 once it has reached the window before.
    """
    K = math.cbrt((plateau - start) / C)
    window = friendly = float(start)
    n = 0
    while True:
        yield window
        n += 1
        friendly += friendly_growth
        since = n * rtt - K
        window = max(window, friendly, min(C * since * since * since + plateau, STEEPEST * window))


def grid(max_window: int) -> Ints:
    """Return the windows at a loss that have a line, from 2 to the largest window [packets]."""
    windows = [2]
    while windows[-1] < max_window:
        windows.append(min(max(windows[-1] + 1, int(windows[-1] * RATIO)), max_window))
    return np.array(windows)


def cubic(path: Path) -> SackSource:
    """Build the chain of CUBIC with SACK for independent losses; p is then lost over sent packets.

    Parameters
    ----------
    path : Path
        `rounds_per_increase` is 1; `halving` rounds the reduced window.

    Raises
    ------
    AccuracyError
        For more than a million states.

    Notes
    -----
    RFC 9438; losses and timeouts as in `reno_sack`. A window between two of `grid` leads to both their lines, with
    the probabilities that keep the mean of the reduced window. After a timeout, and at the start, W_max is 2, K is 0
    and W_est grows by a packet a round: the window before the timeout, up to which Section 4.8 would have slow start,
    is not known.
    """
    if path.max_window > MOST_STATES:
        raise _too_large(path)
    W, rounded = path.max_window, np.floor if path.halving == "floor" else np.ceil
    at_loss = grid(W)

    def reduced(windows: ArrayLike) -> Any:
        return np.maximum(rounded(np.round(BETA * np.asarray(windows), 9)), SMALLEST)

    lines = _Lines(path)
    lines.follow(chain([1], growth(SMALLEST, SMALLEST, path.rtt, 1.0)), SMALLEST)
    for share in (1.0, CONVERGENCE):
        for w in at_loss.tolist():
            lines.follow(growth(reduced(w), share * w, path.rtt), share * w)
    top = len(lines.windows)
    w, plateaus = np.array([*lines.windows, W]), np.array([*lines.plateaus, 0.0])
    grow_to = np.minimum(np.arange(1, top + 2), top)
    grow_to[lines.ends] = top
    entries = np.array([top if first < 0 else first for first in lines.firsts])

    lost = np.maximum(w, at_loss[0])
    below = np.searchsorted(at_loss, lost, side="right") - 1
    above = np.minimum(below + 1, len(at_loss) - 1)
    upper = (reduced(lost) - reduced(at_loss[below])) / np.maximum(reduced(at_loss[above]) - reduced(at_loss[below]), 1)
    one = 1 + len(at_loss) * (w < plateaus)  # the lines of fast convergence come last
    recover_to = entries[np.stack([one + below, one + above], axis=1)]
    recover_to[w == 1] = -1
    return SackSource.on_lines(
        path,
        windows=w,
        grow_to=grow_to,
        recover_to=recover_to,
        recover_share=np.stack([1 - upper, upper], axis=1),
        start=entries[0],
        restart=min(1, top),
    )


class _Lines:
    """The states of lines, one line after the other.

    Attributes
    ----------
    windows, plateaus : list
        Of each state, w and W_max [packets].
    firsts, ends : list of int
        First state of each line, -1 for a line that begins at the largest window; last states of the others.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._most = math.log(REACHES_MAX_WINDOW) / math.log1p(-path.loss)
        self.windows: list[int] = []
        self.plateaus: list[float] = []
        self.firsts: list[int] = []
        self.ends: list[int] = []

    def follow(self, line: Iterable[float], plateau: float) -> None:
        """Add a line until it reaches the largest window, or is not likely to be followed any further."""
        path, first, sent = self._path, len(self.windows), 0
        for window in map(int, line):
            if window >= path.max_window or sent > self._most:
                break
            if len(self.windows) == MOST_STATES:
                raise _too_large(path)
            self.windows.append(window)
            self.plateaus.append(plateau)
            sent += window
        if len(self.windows) == first:
            self.firsts.append(-1)
        else:
            self.firsts.append(first)
            self.ends.append(len(self.windows) - 1)


def _too_large(path: Path) -> AccuracyError:
    return AccuracyError(
        f"the chain of cubic has more than {MOST_STATES} states for a loss rate of {path.loss:.4g}, a round trip time "
        f"of {path.rtt:.4g} s and a largest window of {path.max_window:.4g} packets: give a smaller max_window"
    )
