"""TCP Reno with selective acknowledgements, on a path that loses packets independently of each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..path import Path
from .bottleneck import line, sent, sent_in_a_row
from .growth import Growth
from .independent import IndependentChain
from .places import Kind, Places
from .reno import halves
from .sack_recovery import Repairs, between, grid, leads, repairing
from .slow_start import SlowStartLinks, with_slow_start
from .window_graph import WindowGraph

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def reno_sack(path: Path) -> IndependentChain:
    """Build the chain of Reno with SACK for independent losses; p is then lost over sent packets.

    Parameters
    ----------
    path : Path
        Its round trip time does not matter without a bottleneck: the distribution of the chain counts rounds.

    Raises
    ------
    AccuracyError
        For more than a million states.

    Notes
    -----
    Loss recovery as in RFC 6675, with a window lost whole as the only one that tells the sender nothing: one packet
    that arrives is enough, as with limited transmit (RFC 3042) or RACK (RFC 8985). The rounds that repair losses are
    states of their own, and come first: see `tcp.sack_recovery`. Behind a bottleneck the line of windows ends where its
    buffer is full, and leads to the repair of the largest: see `tcp.bottleneck`.
    """
    b, W = path.rounds_per_increase, path.max_window
    half = np.maximum(halves(path), 1)
    at_loss = grid(W)
    R = len(at_loss)
    repaired, merged = repairing(at_loss, half[at_loss])
    limited = path.bottleneck is not None
    climbing = line(path) if limited else np.repeat(np.arange(1, W + 1), b)
    w, s = np.append(at_loss, climbing), np.arange(R + len(climbing))
    first = R + np.searchsorted(climbing, np.arange(W + 1))
    on = first[half[at_loss]]
    grow_to = np.append(s[1:], R - 1 if limited else s[-b])
    grow_to[:R] = -1

    def ways(windows: Ints, _early: NDArray[np.bool_]) -> tuple[Ints, Floats]:
        return between(at_loss, half, windows)

    recover_to, recover_share = leads(w, np.zeros_like(w), grow_to, ways, Repairs(s[:R], half[at_loss], merged, on))
    windows = np.append(sent(path, repaired), sent_in_a_row(path, climbing))
    graph = WindowGraph(
        windows=windows,
        grow_to=grow_to,
        start=R,
        restart=int(first[min(2, W)]),
        max_window=int(windows.max()),
        rounds_per_increase=1 if limited else b,
        n_preamble=R,
        branches=Growth(s[:R], on, np.ones(R)),
        places=Places.of(Kind.AVOIDANCE, 0, climbing).behind(Places.of(Kind.REPAIR, at_loss, half[at_loss])),
    )
    chain = IndependentChain.on_lines(path, graph, recover_to, recover_share)
    if path.initial_window is None:
        return chain
    thresholds = np.maximum(half, 2)
    by_state = np.append(thresholds[half[at_loss]], thresholds[climbing])
    around = SlowStartLinks(by_state, thresholds, first[:, np.newaxis], np.ones((W + 1, 1)), ways)
    return with_slow_start(chain, path, around)
