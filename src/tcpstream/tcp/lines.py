"""The lines that windows of CUBIC grow on between two losses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .independent import IndependentChain
from .places import Kind
from .window_graph import WindowGraph

Ints = NDArray[np.int64]

BETA = 0.7
"""Share of the window that a loss leaves (RFC 9438, Section 4.6)."""

ALPHA = 3 * (1 - BETA) / (1 + BETA)
"""Packets a round by which a TCP that keeps BETA of its window grows, to be as fast as Reno (Section 4.3)."""

CONVERGENCE = (1 + BETA) / 2
"""Plateau over window at a loss that came before the plateau of its line (Section 4.7)."""

RARE = 1e-6
"""Probability of larger windows in the long run."""


class Line(NamedTuple):
    """The states of a line, one after the other.

    Attributes
    ----------
    first, end : int
        Its states are ``first .. end - 1``.
    kind : Kind
        Of its states, but for the round that repairs.
    begin, plateau : int
        Window at the loss, or threshold, that it began with; that around which it is flat [packets].
    windows : (n,) int array
        The sender's [packets].
    """

    first: int
    end: int
    kind: Kind
    begin: int
    plateau: int
    windows: Ints


def has_lines(graph: WindowGraph) -> bool:
    """Return whether windows grow on several lines."""
    places = graph.places
    return places is not None and len(np.unique(places.line[places.kind == Kind.AVOIDANCE])) > 1


def lines_of(graph: WindowGraph) -> list[Line]:
    """Return the lines of a graph that has several; the largest window, in which they end, is one by itself."""
    places, S = graph.places, graph.size
    assert places is not None
    ends = np.flatnonzero(graph.grow_to[graph.n_preamble : -2] != np.arange(graph.n_preamble + 1, S - 1))
    begins = sorted({graph.n_preamble, *(graph.n_preamble + 1 + ends).tolist(), S - 1})
    found = []
    for first, end in zip(begins, [*begins[1:], S]):
        kind, begin = Kind(places.kind[end - 1]), int(places.line[end - 1])
        plateau = int(CONVERGENCE * begin + 1e-9) if kind == Kind.EARLY_AVOIDANCE else begin
        found.append(Line(first, end, kind, begin, plateau, places.window[first:end]))
    return found


def usual_window(chain: IndependentChain) -> int:
    """Return the window that few are above in the long run [packets]."""
    places = chain.graph.places
    assert places is not None
    by_window = np.bincount(places.window, np.maximum(chain.stationary[: chain.graph.size], 0.0))
    beyond = np.cumsum(by_window[::-1])[::-1]
    return int(np.flatnonzero(beyond > RARE * beyond[0])[-1])
