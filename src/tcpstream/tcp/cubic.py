"""CUBIC (RFC 9438) with selective acknowledgements, on a path that loses packets independently of each other.

After a loss the window grows on a line that the window at that loss decides: a function of time, in seconds, whose
plateau is the window before. So one line is followed for each window at a loss, and for each answer to whether that
loss came before the plateau of the line before (fast convergence); and with slow start, for each of its thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.cubic_line import cubic_line
from ..path import Path
from ..variants import REACHES_MAX_WINDOW
from .bottleneck import sent_in_a_row
from .chain import MOST_STATES
from .hybrid_slow_start import hystart
from .independent import IndependentChain
from .lines import ALPHA, BETA, CONVERGENCE
from .places import Kind, Places
from .sack_recovery import Repairs, between, grid, leads, repairing
from .slow_start import SlowStartLinks, with_slow_start
from .window_graph import WindowGraph

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

C = 0.4
"""Packets per cubed second (RFC 9438, Section 5)."""

SMALLEST = 2
"""Packets that a loss leaves at least (Section 4.6)."""


def cubic(path: Path, least_loss: float | None = None, ratio: float | None = None) -> IndependentChain:
    """Build the chain of CUBIC with SACK for independent losses; p is then lost over sent packets.

    Parameters
    ----------
    path : Path
        `rounds_per_increase` is 1; `halving` rounds the reduced window.
    least_loss : float, optional
        Loss rate that lines are long enough for; that of the path by default.
    ratio : float, optional
        Of neighbouring windows at a loss that have lines; that of `sack_recovery.grid` by default.

    Raises
    ------
    AccuracyError
        For more than a million states.

    Notes
    -----
    RFC 9438, windows counted as in Linux (`kernels.cubic_line`); losses and timeouts as in `reno_sack`, and recoveries
    (`tcp.sack_recovery`): the first state of a line is the round that repairs. A window between two of `grid` leads to
    both their lines, with the probabilities that keep the mean of the reduced window. Without slow start W_max is 2, K
    is 0 and W_est grows by a packet a round at the start and after a timeout. With it, congestion avoidance begins at
    the threshold with K = 0 (Section 4.8).
    """
    if path.max_window > MOST_STATES:
        raise _too_large(path)
    W = path.max_window
    reduced = _reduced(path)
    at_loss = grid(W, ratio)
    repaired, merged = repairing(at_loss, reduced[at_loss])
    lines = _Lines(path, least_loss or path.loss)
    lines.follow(
        [1, *lines.grown(SMALLEST, SMALLEST, False, growth=1.0)] if W > 1 else [], SMALLEST, (Kind.FIRST_AVOIDANCE, 0)
    )
    repairs = len(lines.firsts)
    for share in (1.0, CONVERGENCE):
        for w, first in zip(at_loss.tolist(), np.minimum(repaired, W).tolist()):
            plateau = int(share * w + 1e-9)
            kind = Kind.AVOIDANCE if share == 1 else Kind.EARLY_AVOIDANCE
            lines.follow([first, *lines.grown(int(reduced[w]), plateau, True)], plateau, (kind, w))
    thresholds = len(lines.firsts)
    if path.initial_window is not None:
        for w in at_loss.tolist():
            lines.follow(lines.grown(w, w, False, fresh=True), 0, (Kind.FRESH_AVOIDANCE, w))
    top = len(lines.windows)
    windows, plateaus = np.array([*lines.windows, W]), np.array([*lines.plateaus, 0])
    packets = np.array([*lines.packets, *sent_in_a_row(path, [W])])
    grow_to = np.minimum(np.arange(1, top + 2), top)
    grow_to[lines.ends] = top
    firsts = np.array([top if first < 0 else first for first in [*lines.firsts, -1]])
    if path.bottleneck is not None:  # the buffer is full
        grow_to[top] = firsts[repairs + len(at_loss) - 1]

    def ways(windows: Ints, early: NDArray[np.bool_]) -> tuple[Ints, Floats]:
        neighbours, shares = between(at_loss, reduced, windows)  # the lines of fast convergence come last
        return firsts[repairs + len(at_loss) * early[:, np.newaxis] + neighbours], shares

    at = firsts[repairs:thresholds]
    after = Repairs(at, np.tile(reduced[at_loss], 2), np.tile(merged, 2), grow_to[at])
    recover_to, recover_share = leads(windows, plateaus, grow_to, ways, after)
    graph = WindowGraph(
        windows=packets,
        grow_to=grow_to,
        start=firsts[0],
        restart=min(1, top),
        max_window=int(packets.max()),
        rounds_per_increase=path.rounds_per_increase,
        places=_places(lines, at, after.windows, W),
    )
    chain = IndependentChain.on_lines(path, graph, recover_to, recover_share)
    if path.initial_window is None:
        return chain
    left = windows.copy()  # of the sender, which sends more in a repair
    left[at] = after.windows
    w = np.arange(W + 1)
    neighbours, shares = between(at_loss, w, w)
    around = SlowStartLinks(reduced[left], reduced, firsts[thresholds + neighbours], shares, ways, hystart(path))
    return with_slow_start(chain, path, around)


def _places(lines: _Lines, repairs: Ints, reduced: Ints, largest: int) -> Places:
    """Return what states stand for: those of lines, of which some repair, and that of the largest window."""
    kinds, begins = np.array([*lines.begins, (Kind.AVOIDANCE, largest)]).T
    windows = np.array([*lines.windows, largest])
    windows[repairs] = reduced
    kinds[repairs] += Kind.REPAIR - Kind.AVOIDANCE
    return Places.of(kinds, begins, windows)


def _reduced(path: Path) -> Ints:
    """Return what a loss leaves of a window of w = 0 .. W_max packets [packets]."""
    w, rounded = np.arange(path.max_window + 1), np.floor if path.halving == "floor" else np.ceil
    return np.maximum(rounded(np.round(BETA * w, 9)), SMALLEST).astype(np.int64)


@dataclass
class _Lines:
    """The states of lines, one line after the other.

    Attributes
    ----------
    path : Path
    least_loss : float
        Of which lines are likely to be followed.
    windows, packets, plateaus : list of int
        Of each state, w, what it sends in a round, and W_max [packets].
    begins : list of (int, int)
        Of each state, kind and line as `Places` has them.
    firsts, ends : list of int
        First state of each line, -1 for a line that begins at the largest window; last states of the others.
    """

    path: Path
    least_loss: float
    windows: list[int] = field(default_factory=list)
    begins: list[tuple[int, int]] = field(default_factory=list)
    packets: list[int] = field(default_factory=list)
    plateaus: list[int] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def grown(self, start: int, plateau: int, repaired: bool, *, growth: float = ALPHA, fresh: bool = False) -> Ints:
        """Return a line of growth, until it reaches the largest window or is not likely to be followed any further.

        The loss was repaired, on average, in the middle of its first round, or that round is the first of all.
        """
        path, already = self.path, start // 2 if repaired else 0
        most = math.log(REACHES_MAX_WINDOW) / math.log1p(-self.least_loss)
        return cubic_line(start, plateau, already, C, path.rtt, growth, fresh, path.max_window, most, path.pipe)

    def follow(self, line: Iterable[int], plateau: int, begin: tuple[int, int]) -> None:
        """Add a line."""
        first = len(self.windows)
        self.windows.extend(int(window) for window in line)
        self.packets.extend(sent_in_a_row(self.path, self.windows[first:]).tolist())
        if len(self.windows) > MOST_STATES:
            raise _too_large(self.path)
        added = len(self.windows) - first
        self.plateaus.extend(added * [plateau])
        self.begins.extend(added * [begin])
        self.firsts.append(first if added else -1)
        if added:
            self.ends.append(len(self.windows) - 1)


def _too_large(path: Path) -> AccuracyError:
    return AccuracyError(
        f"the chain of cubic has more than {MOST_STATES} states for a loss rate of {path.loss:.4g}, a round trip time "
        f"of {path.rtt:.4g} s and a largest window of {path.max_window:.4g} packets: give a smaller max_window"
    )
