"""What an idle time makes of the window of CUBIC: slow start again, and then back to its line.

A sender that has sent nothing for longer than its timer halves its window for each timer that has gone by, but not
below the initial window. Slow start then goes to three quarters of the window before, or to the window that the last
loss left, where that is larger. CUBIC's clock stands still meanwhile (Linux, tcp_cubic.c): from the threshold the
window returns within a round to the line that it was on. Some windows have slow starts of their own, two each: of a
line on which they are below its plateau, and of one on which they are above. Others share these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numerics.weights import around
from .independent import IndependentChain
from .lines import Line, lines_of, usual_window
from .places import Kind, Places
from .slow_start import windows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

KEPT = 0.75
"""Share of the window that the threshold is at least after an idle time."""

BELOW, ABOVE = 0.8, 1.1
"""Windows over the plateau of their line, of those that have slow starts."""

AGAIN = 1
"""Rounds on a line until slow start is back."""


class LineRestarts(NamedTuple):
    """A chain with the states that idle times lead to.

    Attributes
    ----------
    chain : IndependentChain
        Slow start after idle times comes before its other states.
    ladders : list of list of int
        States after an idle time, for one halving, two, ...
    standing, shares : (S, 8) int array, (S, 8) array
        Which of these stand for each state that sends a window; -1 where an idle time changes nothing.
    """

    chain: IndependentChain
    ladders: list[list[int]]
    standing: Ints
    shares: Floats

    @property
    def most_halvings(self) -> int:
        """Halvings beyond which none changes anything."""
        return max((len(one) for one in self.ladders), default=0)

    def after_idle(self, halvings: int) -> tuple[Ints, Floats]:
        """Return where an idle time leads that lasts for so many timers, one at least.

        Returns
        -------
        targets, shares : (S, 8) arrays
            For each state that sends a window.
        """
        graph = self.chain.graph
        own = np.arange(graph.size)[:, np.newaxis]
        down = np.array([one[min(halvings, len(one)) - 1] for one in self.ladders] or [0])
        targets = np.where(self.standing >= 0, down[self.standing], own)
        for first, end in ((graph.start, graph.restart), (graph.restart, graph.n_preamble)):  # slow start as it was
            targets[first:end] = np.maximum(own[first:end] - halvings, first)
        return targets, self.shares


def with_line_restarts(chain: IndependentChain, initial_window: int, ratio: float) -> LineRestarts:
    """Return a chain with slow start after idle times before its states.

    Parameters
    ----------
    chain : IndependentChain
        With several lines, and slow start.
    initial_window : int
        [packets].
    ratio : float
        Of neighbouring windows that have slow starts.
    """
    inner = chain.graph
    lines = [line for line in lines_of(inner) if line.kind >= Kind.AVOIDANCE]
    grid, sizes, grows, ladders = _ladders(lines, initial_window, ratio, inner.rounds_per_increase)
    n = len(sizes)
    to_line = np.where(grows >= 0, grows, n - 1 - grows)
    assert inner.places is not None
    places = inner.places.behind(Places.of(Kind.SLOW_START, 0, sizes))
    graph = inner.behind(sizes, to_line, places)
    to, share = _recoveries(chain, sizes, places.window[to_line])
    standing, shares = np.full((graph.size, 8), -1), np.tile(np.eye(1, 8), (graph.size, 1))
    usual = usual_window(chain)
    for line in lines if len(grid) else []:
        idle = np.flatnonzero(line.windows > initial_window)
        there = n + line.first + idle
        standing[there], shares[there] = _standing(grid, usual, line, line.windows[idle])
    return LineRestarts(chain.behind_slow_start(graph, to + n, share), ladders, standing, shares)


def _ladders(
    lines: list[Line], initial_window: int, ratio: float, rounds_per_increase: int
) -> tuple[Ints, Ints, Ints, list[list[int]]]:
    """Return windows that have slow starts, those of their states, what follows, and the states by halvings.

    For each window there are two: that of a line below its plateau, and above. What follows a state is another one, or
    -1 - s for a state s of a line.
    """
    sizes: list[int] = []
    grows: list[int] = []
    ladders: list[list[int]] = []
    losses = [line for line in lines if line.kind == Kind.AVOIDANCE]
    most = max(int(line.windows[-1]) for line in lines)
    grid = [initial_window + 1] if losses and most > initial_window else []
    while grid and grid[-1] < most:
        grid.append(min(max(grid[-1] + 1, round(grid[-1] * ratio)), most))
    for w in grid:
        for position in (BELOW, ABOVE):
            line = min(losses, key=lambda one: abs(one.begin - w / position))
            back = min(int(np.searchsorted(line.windows, w)) + AGAIN, len(line.windows) - 1)
            threshold = max(int(line.windows[0]), int(KEPT * w), initial_window)
            halved = [w >> i for i in range(1, w.bit_length()) if w >> i > initial_window]
            up = windows(initial_window, threshold, rounds_per_increase)
            first = len(sizes)
            first_up = first + 1 + len(halved)
            sizes += [threshold, *halved, *up]
            grows += [-1 - line.first - back, *range(first, first + len(halved))]
            grows += [*range(first_up + 1, first_up + len(up)), *([first] if up else [])]
            ladders.append([*range(first + 1, first_up), first_up if up else first])
    return np.array(grid), np.array(sizes, dtype=np.int64), np.array(grows, dtype=np.int64), ladders


def _standing(grid: Ints, usual: int, line: Line, sizes: Ints) -> tuple[Ints, Floats]:
    """Return which slow starts stand for windows of a line, and their shares."""
    which, weights = around(grid, sizes, usual)
    above = np.clip((sizes / max(line.plateau, 1) - BELOW) / (ABOVE - BELOW), 0.0, 1.0)[:, np.newaxis]
    return np.hstack([2 * which, 2 * which + 1]), np.hstack([weights * (1 - above), weights * above])


def _recoveries(chain: IndependentChain, sizes: Ints, larger: Ints) -> tuple[Ints, Floats]:
    """Return where losses in slow start lead: the window has grown by the packets before the loss, half of them or so.

    They are losses before the plateau of a line.
    """
    places = chain.graph.places
    assert places is not None
    early = np.flatnonzero((places.kind == Kind.AVOIDANCE) & (places.window < places.line))
    early = early if len(early) else np.arange(chain.graph.n_preamble, chain.graph.size)
    early = early[np.argsort(places.window[early], kind="stable")]
    own, after = (
        early[np.minimum(np.searchsorted(places.window[early], one), len(early) - 1)] for one in (sizes, larger)
    )
    grown = ((sizes - 1) / (2 * sizes))[:, np.newaxis]
    to = np.hstack([chain.recover_to[own], chain.recover_to[after]])
    share = np.hstack([chain.recover_share[own] * (1 - grown), chain.recover_share[after] * grown])
    return np.maximum(to, 0), share
