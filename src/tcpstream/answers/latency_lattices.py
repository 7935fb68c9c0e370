"""On which lattices the backlog of a live stream is followed, and with which windows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..coarse.resolution import SPREAD, Scale
from ..errors import AccuracyError
from ..path import Path
from ..playout.deliveries import deliveries
from ..playout.latency import Latency
from ..tcp import Chain, chain_of
from ..tcp.independent import IndependentChain

Floats = NDArray[np.float64]

PARTS, FINEST = 4, 24
"""Of a packet, and quanta generated in a round, up to which a lattice is exact."""

QUANTA = 16
"""Generated in a round elsewhere; half as many for comparison."""

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

WHOLE = 1e-9
"""Relative distance from a whole number."""


@dataclass(frozen=True, eq=False)
class Followed:
    """A live stream on a lattice.

    Attributes
    ----------
    latency : Latency
    quantum : float
        [packets]
    exact : bool
        Whether backlogs are whole numbers of quanta.
    """

    latency: Latency
    quantum: float
    exact: bool

    def place(self, packets: Floats) -> Floats:
        """Return levels of the backlog in quanta: what is above a level, and no less, is above so many."""
        if self.exact:
            return np.floor(packets / self.quantum + WHOLE)
        return packets / self.quantum - 0.5  # a quantum stands for half of what is around it


def followed(path: Path, packets_due: float, many: int = QUANTA) -> tuple[Followed, Followed | None]:
    """Return a live stream of so many packets a round on a lattice, and on one to compare with; None for an exact one.

    Parameters
    ----------
    path : Path
    packets_due : float
        Per round.
    many : int
        Quanta of a round where it is not exact; an even number.

    Raises
    ------
    AccuracyError
        For windows that are too large.
    """
    chain = chain_of(path)
    quanta = _exact_quanta(packets_due)
    wide, narrow = (_cap(path, chain, packets_due, k) for k in (False, True))
    step = max(1, int(Scale.of(chain).rounds / LINE)) if chain_of(wide).n_states > FEW else 1
    cubic = isinstance(chain, IndependentChain) and path.tcp == "cubic"
    fine = _on(wide, packets_due, quanta or many, step, RATIO, quanta is not None)
    if quanta is not None and narrow.max_window == path.max_window and step == 1 and not cubic:
        return fine, None
    coarse = _on(narrow, packets_due, quanta or many // 2, 2 * step if step > 1 else 1, COARSER_RATIO, fine.exact)
    return fine, coarse


def _exact_quanta(packets_due: float) -> int | None:
    """Return the quanta of a round where they are packets, or few parts of one."""
    for parts in range(1, PARTS + 1):
        quanta = packets_due * parts
        if 1 <= round(quanta) <= FINEST and abs(quanta - round(quanta)) <= WHOLE * quanta:
            return round(quanta)
    return None


def _cap(path: Path, chain: Chain, packets_due: float, fewer: bool) -> Path:
    """Return a path whose largest window is as large as matters."""
    if not isinstance(chain, IndependentChain):
        return path
    windows, rare = chain.graph.windows, RARE * (RARER_BY if fewer else 1.0)
    by_window = np.bincount(windows, np.maximum(chain.stationary[: len(windows)], 0.0))
    beyond = np.cumsum(by_window[::-1])[::-1] / by_window.sum()
    usual = int(np.flatnonzero(beyond > rare)[-1])
    at_rest = math.ceil(AT_REST * (LESS if fewer else 1.0) * packets_due)
    most = max(usual, at_rest, 2 * (path.initial_window or 1))
    return path if most >= path.max_window else replace(path, max_window=most)


def _on(path: Path, packets_due: float, quanta: int, step: int, ratio: float, exact: bool) -> Followed:
    if path.max_window > LARGEST:
        raise AccuracyError(
            f"a live player is followed for windows of up to {LARGEST} packets, here they reach {path.max_window}: "
            "take a smaller max_window, or a lower rate"
        )
    chain = chain_of(path)
    drift = chain.packets_per_round - packets_due
    variance = SPREAD**2 * Scale.of(chain).packets * chain.packets_per_round
    memory = 2 * variance / drift**2 if drift > 0 else math.inf
    quantum = packets_due / quanta
    drains = quantum / drift if drift > 0 else math.inf
    found = deliveries(chain, step, ratio)
    return Followed(Latency.of(found, packets_due, quanta, memory, drains), quantum, exact)
