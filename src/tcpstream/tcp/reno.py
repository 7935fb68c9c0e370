"""The paper's TCP: Reno as in Table VI (corrected), and with slow start where a path has an initial window."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..path import Path
from .burst import DUPLICATE_ACKS, BurstChain
from .chain import MOST_STATES
from .silences import Silences, Waits, wait
from .slow_start import SlowStartLinks, with_slow_start
from .table_vi import table_vi
from .window_graph import WindowGraph

Ints = NDArray[np.int64]


def reno(path: Path) -> BurstChain:
    """Build the Reno chain of a path: Table VI with the corrections of the theory page.

    With an initial window there is slow start before it and after timeouts.

    Parameters
    ----------
    path : Path
        Its round trip time does not matter: the chain counts rounds.

    Raises
    ------
    AccuracyError
        For more than a million states.
    """
    chain = without_slow_start(path)
    if path.initial_window is None:
        return chain
    thresholds = np.maximum(halves(path), 2)
    begin = (np.arange(path.max_window + 1)[:, np.newaxis] - 1) * path.rounds_per_increase
    links = SlowStartLinks(thresholds[chain.graph.windows], thresholds, begin, np.ones(begin.shape))
    return with_slow_start(chain, path, links)


def without_slow_start(path: Path) -> BurstChain:
    """Build the chain of Table VI, whatever the initial window; as `reno`."""
    W, b = path.max_window, path.rounds_per_increase
    if b * W > MOST_STATES:
        raise AccuracyError(
            f"the TCP chain has {b * W:.4g} states of congestion avoidance for a largest window of {W:.4g} packets, "
            f"more than {MOST_STATES}: give a smaller max_window"
        )
    s = np.arange(b * W)
    w, c = s // b + 1, s % b
    recover_to = np.where(np.arange(W + 1) >= DUPLICATE_ACKS + 1, (halves(path) - 1) * b, -1)
    waits = Waits.of(path)
    graph = WindowGraph(
        windows=w,
        grow_to=np.where(c + 1 < b, s + 1, np.where(w < W, (np.minimum(w + 1, W) - 1) * b, (W - 1) * b)),
        start=0,
        restart=(min(2, W) - 1) * b,
        max_window=W,
        rounds_per_increase=b,
    )
    silences = Silences(
        whole_loss=wait(waits.all_lost),
        unrepaired=wait(max(waits.unseen, 1.0)),
        backoff=tuple(wait(rounds) for rounds in waits.backoff),
    )
    loss = 1 - (1 - path.loss)  # so that p and q = 1 - p add up to 1 exactly
    table = partial(table_vi, path) if path.detection == "duplicates" else None
    return BurstChain(loss, graph, silences, recover_to, table=table)


def halves(path: Path) -> Ints:
    """Return h(w), half of a window of w = 0 .. W_max packets, rounded as the path says [packets]."""
    w = np.arange(path.max_window + 1)
    return w // 2 if path.halving == "floor" else (w + 1) // 2
