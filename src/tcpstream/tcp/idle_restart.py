"""What an idle time makes of the window: slow start again, up to what the window was, nearly.

A sender that has sent nothing for longer than its timer halves its window for each timer that has gone by, but not
below the initial window. Its threshold is then three quarters of the window before, or the old one where that is larger
(RFC 2861, Section 3, as Linux has it by default, `tcp_slow_start_after_idle`). Slow start after an idle time is a
ladder of windows below a threshold, each twice the one before; thresholds are on a grid, and what lies between two of
them is shared by both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .independent import IndependentChain
from .ladders import Ladder, ladders_below, thresholds_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GUESSED = 0.03
"""Part of what players see that the old thresholds may change, which the chain guesses. 2.5% is the most that was seen
beside simulated sessions whose sender remembers them (P(any stall), and the stalled time)."""


class RestartingChain(NamedTuple):
    """A chain with the states that idle times lead to.

    Attributes
    ----------
    chain : IndependentChain
        The ladders come before its other states.
    ladders : list of Ladder
        By their thresholds.
    initial_window : int
        [packets].
    thresholds : (W_max + 1,) array
        After an idle time, by the window before it [packets].
    """

    chain: IndependentChain
    ladders: list[Ladder]
    initial_window: int
    thresholds: Floats

    @property
    def most_halvings(self) -> int:
        """Halvings beyond which none changes anything."""
        return int(self.chain.graph.max_window / self.initial_window).bit_length() + 1

    def after_idle(self, halvings: int) -> tuple[Ints, Floats]:
        """Return where an idle time leads that lasts for so many timers, one at least.

        Returns
        -------
        targets, shares : (S, 2) arrays
            For each state that sends a window.
        """
        graph = self.chain.graph
        states = np.arange(graph.size)
        targets, shares = np.stack([states, states], axis=1), np.tile([1.0, 0.0], (graph.size, 1))
        for ladder in self.ladders:
            down = [*ladder.halved, *ladder.initial[:1]]
            for i, s in enumerate(ladder.halved):
                targets[s] = down[min(i + halvings, len(down) - 1)]
            for i, s in enumerate(ladder.initial):
                targets[s] = ladder.initial[max(i - halvings, 0)]
        for s in range(graph.start, graph.restart):
            targets[s] = max(s - halvings, graph.start)
        first = graph.n_preamble + np.searchsorted(graph.windows[graph.n_preamble :], np.arange(graph.max_window + 1))
        grid = np.array([one.threshold for one in self.ladders])
        windows = graph.windows.copy()
        repairs = graph.branches.from_state  # which send more than the window that is left
        np.minimum.at(windows, repairs, graph.windows[graph.branches.to_state])
        for s in range(graph.restart, graph.size):
            w = int(windows[s])
            left = max(w >> halvings, min(self.initial_window, w))
            if left == w:
                continue
            threshold = float(self.thresholds[w]) if w == graph.windows[s] else float(w)  # as after the loss
            if left >= threshold:
                targets[s] = first[left]
                continue
            for i, (k, share) in enumerate(_around(grid, threshold)):
                rungs = np.array([*self.ladders[k].halved, *self.ladders[k].initial])
                nearest = np.argmin(np.abs(np.log(graph.windows[rungs] / left)))
                targets[s, i], shares[s, i] = rungs[nearest], share
        return targets, shares


def with_idle_restarts(chain: IndependentChain, initial_window: int, packets: int, ratio: float) -> RestartingChain:
    """Return a chain with ladders before its states.

    Parameters
    ----------
    chain : IndependentChain
        With windows of congestion avoidance on one line.
    initial_window : int
        [packets].
    packets : int
        That are sent between idle times, about.
    ratio : float
        Of neighbouring thresholds.
    """
    inner = chain.graph
    line = inner.windows[inner.n_preamble :]
    thresholds = thresholds_of(inner.max_window, initial_window, packets, inner.rounds_per_increase)
    ladders, windows, grows = ladders_below(thresholds, initial_window, ratio)
    n = len(windows)
    begins = n + inner.n_preamble + np.searchsorted(line, np.arange(inner.max_window + 1))
    grow_to = np.zeros(n, dtype=np.int64)
    for s, to in grows:
        grow_to[s] = to if to >= 0 else begins[-to]
    graph = inner.behind(np.array(windows, dtype=np.int64), grow_to, None)
    towards, share = _recoveries(chain, np.array(windows, dtype=np.int64))
    return RestartingChain(chain.behind_slow_start(graph, towards + n, share), ladders, initial_window, thresholds)


def _recoveries(chain: IndependentChain, windows: Ints) -> tuple[Ints, Floats]:
    """Return where losses in slow start lead: the window has grown by the packets before the loss, half of it or so."""
    graph = chain.graph
    line = graph.windows[graph.n_preamble :]
    own, doubled = (
        graph.n_preamble + np.searchsorted(line, np.minimum(one, graph.max_window)) for one in (windows, 2 * windows)
    )
    grown = ((windows - 1) / (2 * windows))[:, np.newaxis]
    to = np.hstack([chain.recover_to[own], chain.recover_to[doubled]])
    share = np.hstack([chain.recover_share[own] * (1 - grown), chain.recover_share[doubled] * grown])
    return np.maximum(to, 0), share


def _around(grid: Ints, value: float) -> list[tuple[int, float]]:
    """Return the neighbours of a value on a grid, which keep it as their mean, and its end for one beyond."""
    above = int(np.searchsorted(grid, value))
    if above in (0, len(grid)):
        return [(min(above, len(grid) - 1), 1.0)]
    share = float((value - grid[above - 1]) / (grid[above] - grid[above - 1]))
    return [(above - 1, 1 - share), (above, share)]
