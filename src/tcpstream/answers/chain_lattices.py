"""Chains whose deliveries are quanta: how fine, and with which windows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..coarse.resolution import SPREAD, Scale
from ..errors import AccuracyError
from ..path import Path
from ..playout.deliveries import deliveries
from ..playout.latency import Lattice
from ..playout.latency_groups import grouped
from ..tcp import Chain, chain_of
from ..tcp.independent import IndependentChain

LINE, FEW = 20.0, 700
"""States of a line in the mean time from loss to loss; and states up to which each one is followed: those that stand
for others grow apart from them where losses are rare."""

RATIO, COARSER_RATIO = 1.15, 1.3
"""Of the windows of neighbouring lines of CUBIC."""

RARE, RARER_BY = 1e-9, 1e3
"""Probability of a window in the long run from which on larger ones are as this one; times this for comparison."""

AT_REST, LESS = 8.0, 0.5
"""Rounds of generation in a window that are never taken for fewer; and of that, for comparison."""

LARGEST = 600
"""Window that is followed [packets]."""


def on_lattices(path: Path, packets_due: float, quantum: float, coarser: float) -> tuple[Lattice, Lattice | None]:
    """Return a chain in quanta, and in others to compare with; None where all of it is exact.

    Parameters
    ----------
    path : Path
    packets_due : float
        Per round.
    quantum, coarser : float
        [packets]; the same where the first is exact.

    Raises
    ------
    AccuracyError
        For windows that are too large.
    """
    chain = chain_of(path)
    wide, narrow = (as_large_as_matters(path, chain, packets_due, k) for k in (False, True))
    step = max(1, int(Scale.of(chain).recovered / LINE)) if chain_of(wide).n_states > FEW else 1
    cubic = isinstance(chain, IndependentChain) and path.tcp == "cubic"
    fine = _on(wide, packets_due, quantum, step, RATIO)
    if quantum == coarser and narrow.max_window == path.max_window and step == 1 and not cubic:
        return fine, None
    return fine, _on(narrow, packets_due, coarser, 2 * step if step > 1 else 1, COARSER_RATIO)


def as_large_as_matters(path: Path, chain: Chain, packets_due: float, fewer: bool = False) -> Path:
    """Return a path whose largest window is as large as matters, or fewer for comparison."""
    if not isinstance(chain, IndependentChain) or path.bottleneck is not None:
        return path
    windows, rare = chain.graph.windows, RARE * (RARER_BY if fewer else 1.0)
    by_window = np.bincount(windows, np.maximum(chain.stationary[: len(windows)], 0.0))
    beyond = np.cumsum(by_window[::-1])[::-1] / by_window.sum()
    usual = int(np.flatnonzero(beyond > rare)[-1])
    at_rest = math.ceil(AT_REST * (LESS if fewer else 1.0) * packets_due)
    most = max(usual, at_rest, 2 * (path.initial_window or 1))
    return path if most >= path.max_window else replace(path, max_window=most)


def _on(path: Path, packets_due: float, quantum: float, step: int, ratio: float) -> Lattice:
    if path.max_window > LARGEST:
        raise AccuracyError(
            f"a live player is followed for windows of up to {LARGEST} packets, here they reach {path.max_window}: "
            "take a smaller max_window, or a lower rate"
        )
    chain = chain_of(path)
    drift = chain.packets_per_round - packets_due
    variance = SPREAD**2 * Scale.of(chain).wide * chain.packets_per_round
    memory = 2 * variance / drift**2 if drift > 0 else math.inf
    drains = quantum / drift if drift > 0 else math.inf
    found = deliveries(chain, step, ratio)
    return Lattice(grouped(found, quantum), found.start, memory, drains, quantum)
