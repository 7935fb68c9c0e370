"""In which state a transfer begins over a connection that is there already: with a window, and after an idle time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, choice, real, whole
from ..path import Path
from ..playout.segment_clock import halvings_after
from ..playout.segment_points import on_lines
from ..tcp import chain_of
from ..tcp.idle_restart import RestartingChain, with_idle_restarts
from ..tcp.independent import IndependentChain
from ..tcp.line_restarts import LineRestarts, with_line_restarts
from ..tcp.lines import has_lines
from .chain_lattices import as_large_as_matters

Floats = NDArray[np.float64]

STARTS = ("connection", "stationary")

SLOW_STARTS = 1.1
"""Ratio of the windows that have slow starts after idle times, of CUBIC."""

LONGEST, MOST_HALVINGS = 1e8, 64
"""Idle time [s], and how often it halves a window."""


def idle_time(start: str | int, idle: float) -> float:
    """Return an idle time [s], or raise `InputError`."""
    if isinstance(start, str):
        choice("start", start, STARTS)
    if not 0 <= real("idle", idle, "s") <= LONGEST:
        raise InputError(f"idle must lie between 0 and {LONGEST:g} s, got {idle:g} s")
    if idle and start == "connection":
        raise InputError("a new connection has not been idle: give start = stationary, or a window, or no idle time")
    return float(idle)


def first_state(path: Path, start: str | int, idle: float) -> tuple[IndependentChain, Floats]:
    """Return a chain, and the probability of each of its states when a transfer begins.

    Parameters
    ----------
    path : Path
    start : "stationary" or int
        As in the long run, or in congestion avoidance with a window [packets].
    idle : float
        For so long nothing was sent before [s].

    Raises
    ------
    InputError
        For a chain whose windows are not known, or a window out of range.
    """
    chain = chain_of(path)
    if not isinstance(chain, IndependentChain) or path.bottleneck is not None:
        raise InputError(
            "windows and idle times before a transfer are followed for tcp = cubic or reno-sack without a bottleneck"
        )
    if start != "stationary":
        start = whole("start", start, unit="packets", most=path.max_window)
    smaller = as_large_as_matters(path, chain, 0.0)
    if isinstance(start, int) and start > smaller.max_window:
        smaller = replace(path, max_window=start)
    chain = chain_of(smaller)
    assert isinstance(chain, IndependentChain)
    graph, law = chain.graph, np.zeros(chain.graph.size)
    if start == "stationary":
        law[:] = np.maximum(chain.stationary[: graph.size], 0.0)
    elif has_lines(graph):
        law[graph.n_preamble :] = _with_window(chain, int(start))
    else:
        law[graph.n_preamble + np.searchsorted(graph.windows[graph.n_preamble :], start)] = 1.0
    times = int(halvings_after(idle, path.rtt, path.rto, MOST_HALVINGS)) if idle else 0
    if times < 1:
        return chain, np.append(law, np.zeros(chain.n_states - graph.size))
    if path.initial_window is None:
        raise InputError(
            "an idle connection restarts from its initial window, which this sender has not: give an initial window, "
            "as 10, or no idle time"
        )
    restarts: RestartingChain | LineRestarts
    if has_lines(graph):
        restarts = with_line_restarts(chain, path.initial_window, SLOW_STARTS)
    else:
        restarts = with_idle_restarts(chain, path.initial_window, 1, 1.0)
    targets, shares = restarts.after_idle(times)
    before, found = len(targets) - graph.size, np.zeros(restarts.chain.n_states)
    np.add.at(found, targets[before:], law[:, np.newaxis] * shares[before:])
    return restarts.chain, found


def _with_window(chain: IndependentChain, window: int) -> Floats:
    """Return how likely each state of lines is, for a window on any of them, or between the two nearest ones."""
    assert chain.graph.places is not None
    windows, likely = chain.graph.places.window[chain.graph.n_preamble :], on_lines(chain)
    there = np.unique(windows)
    at = float(np.interp(window, there, np.arange(len(there))))
    low = int(at)
    found = np.zeros(len(windows))
    for one, share in ((low, 1 - (at - low)), (low + 1, at - low)):
        if share > 0:
            mine = windows == there[one]
            found[mine] = share * likely[mine] / likely[mine].sum()
    return found
