"""What a sender is known as between two segments: points, for which states stand, and which stand for states."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..numerics.weights import around
from ..tcp.independent import IndependentChain
from ..tcp.lines import has_lines, lines_of, usual_window
from ..tcp.silences import LEVELS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAST = 1e-30
"""Share of what is likely soon after losses in what is likely in the long run: it decides where this is unknown."""

TINY = 1e-100
"""Probability of a state, so that each window has one."""


class Points(NamedTuple):
    """What is known between segments.

    Attributes
    ----------
    known : (n, P) sparse array
        Shares of points in states, where a segment ends.
    states : (P, n) sparse array
        Probability of states at points, where one begins.
    """

    known: sparse.csr_array
    states: sparse.csr_array


def points_of(chain: IndependentChain, ratio: float) -> Points:
    """Return points: states of slow start, and windows of congestion avoidance in a ratio.

    Timeouts are known as the state after them. Where windows grow on several lines, a window is on any of them with the
    probabilities of the long run.

    Parameters
    ----------
    chain : IndependentChain
    ratio : float
        Of neighbouring windows.
    """
    if has_lines(chain.graph):
        return _on_lines(chain, ratio)
    at = _on_one_line(chain, ratio)
    low = at.astype(np.int64)
    columns, weights = np.stack([low, low + 1], axis=1), np.stack([1 - (at - low), at - low], axis=1)
    known = _shares(chain, columns, weights)
    states = np.asarray(known.argmax(axis=0)).ravel()
    P = known.shape[1]
    return Points(known, sparse.csr_array((np.ones(P), (np.arange(P), states)), (P, chain.n_states)))


def _shares(chain: IndependentChain, columns: Ints, weights: Floats) -> sparse.csr_array:
    """Return the shares of points in all states, from those in states of congestion avoidance."""
    graph = chain.graph
    before, S = graph.n_preamble, graph.size
    rows, which = np.nonzero(weights)
    slow, timeouts = np.arange(before), np.arange(S, S + 2 * LEVELS)
    values = np.concatenate([np.ones(before), weights[rows, which], np.ones(len(timeouts))])
    sources = np.concatenate([slow, before + rows, timeouts])
    targets = np.concatenate([slow, before + columns[rows, which], np.full(len(timeouts), graph.restart)])
    return sparse.csr_array(sparse.coo_array((values, (sources, targets))))


def _on_one_line(chain: IndependentChain, ratio: float) -> Floats:
    """Return between which points each state of congestion avoidance lies: shares keep the mean window."""
    graph = chain.graph
    before = graph.n_preamble
    line = graph.windows[before:]
    place = graph.rounds_per_increase * line + np.arange(len(line)) - np.searchsorted(line, line)  # and rounds at it
    grid, last = [0], int(place[0])
    for i, here in enumerate(place.tolist()):
        far = here >= max(last + 1, math.floor(last * ratio))
        if far or before + i == graph.start:  # a connection begins as what it is
            grid.append(i)
            last = here if far else last
    grid = sorted({*grid, len(line) - 1})
    return np.asarray(np.interp(place, place[grid], np.arange(len(grid))))


def _on_lines(chain: IndependentChain, ratio: float) -> Points:
    graph = chain.graph
    assert graph.places is not None
    before, windows = graph.n_preamble, graph.places.window[graph.n_preamble :]
    often = on_lines(chain)
    nodes = _nodes(np.unique(windows), ratio)
    which = np.searchsorted(nodes, windows)
    at = np.flatnonzero(nodes[which] == windows)
    likely = sparse.csr_array((often[at], (which[at], before + at)), (len(nodes), chain.n_states))
    scaled = sparse.diags_array(1 / likely.sum(axis=1)) @ likely
    states = sparse.csr_array(sparse.vstack([sparse.eye_array(before, chain.n_states), scaled]))
    return Points(_shares(chain, *around(nodes, windows, usual_window(chain))), states)


def on_lines(chain: IndependentChain) -> Floats:
    """Return how likely the states of lines are among those with the same window, from the first line on.

    That is how often they come in the long run; of windows that hardly come, soon after a loss or a timeout, which any
    window may have had.
    """
    graph = chain.graph
    assert graph.places is not None
    soon = np.zeros(graph.size)
    for line in lines_of(graph):
        sent = np.cumsum(graph.windows[line.first : line.end])
        soon[line.first : line.end] = np.maximum((1 - chain.loss) ** (sent - sent[0]), TINY)
    often = np.where(graph.places.window > usual_window(chain), 0.0, np.maximum(chain.stationary[: graph.size], 0.0))
    return (often + LEAST * soon)[graph.n_preamble :]


def _nodes(windows: Ints, ratio: float) -> Ints:
    """Return windows in a ratio, of those in order, and the last one."""
    found = [int(windows[0])]
    for w in windows.tolist():
        if w >= max(found[-1] + 1, found[-1] * ratio):
            found.append(w)
    return np.unique([*found, int(windows[-1])])
