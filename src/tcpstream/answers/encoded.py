"""On which lattices a live stream of variable bit rate is followed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..kernels.between_curves import Curves
from ..path import Path
from ..playout.in_time import InTime
from ..playout.latency import Lattice
from .chain_lattices import on_lattices
from .latency_lattices import FINEST, QUANTA, WHOLE, Followed
from .paced import UNBOUNDED, Phased
from .timeline import Timeline


@dataclass(frozen=True, eq=False)
class Encoded:
    """A chain and a live stream on a lattice: what its curve has by a time exists, and is due a startup delay later.

    Attributes
    ----------
    chain : InTime
    on : Timeline
        Of the stream.
    quantum : float
        [packets]
    exact : bool
        Whether quanta are whole packets. Then a packet exists once all of it does, and is due once any of it is.
    """

    chain: InTime
    on: Timeline
    quantum: float
    exact: bool

    @property
    def certain(self) -> float:
        """Quanta of startup delay below which every stream stalls, whatever its curve."""
        return 0

    @property
    def due(self) -> int:
        """Quanta that play in a round, on average."""
        return math.ceil(self.on.packets_due / self.quantum - WHOLE)

    def ended(self, level: float, length: float) -> tuple[float, float]:
        """Return minus the logarithm of the probability that no packet of a stream is late, and its error.

        Parameters
        ----------
        level : float
            Quanta of startup delay, at the mean rate.
        length : float
            Of the stream [rounds].

        Raises
        ------
        AccuracyError
            Where it takes too long, or too much memory.
        """
        delay = level * self.quantum / self.on.packets_due
        rounds = math.ceil(length + delay - WHOLE)
        ends, R = np.arange(rounds + 3.0), self.on.rtt
        exists, due = (self.on.video.due((ends - late) * R) / self.quantum for late in (0.0, delay))
        if self.exact:
            exists, due = np.floor(exists + 1e-6), np.ceil(due - 1e-6)
            exists[ends > length - WHOLE] = math.ceil(self.on.video.packets / self.quantum - 1e-6)
        there = np.rint(exists).astype(np.int64)
        curves = Curves(there, np.minimum(np.rint(due).astype(np.int64), there), rounds)
        return self.chain.lost(curves, parallel=None)


def encoded(path: Path, on: Timeline) -> tuple[Followed[Encoded], Followed[Encoded]]:
    """Return a live stream of variable bit rate on a lattice, and on one to compare with.

    Raises
    ------
    AccuracyError
        For windows that are too large.
    """
    whole = on.packets_due <= FINEST
    quantum = 1.0 if whole else on.packets_due / QUANTA
    fine, coarse = on_lattices(path, on.packets_due, quantum, quantum if whole else 2 * quantum)

    def streamed(one: Lattice) -> Followed[Encoded]:
        chain = InTime(one.moves, one.depths, one.start, UNBOUNDED, one.memory)
        return (Phased if whole else Followed)(Encoded(chain, on, one.quantum, whole), one.quantum, whole)

    return streamed(fine), streamed(coarse or fine)
