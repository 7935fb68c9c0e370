"""The backlog of a live stream of finite length, from an empty one to the end of playback (Figure 8a)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..numerics.lattices import Lattice
from ..numerics.stop_loss import Excess
from ..system import watch
from ..tcp.chain import Chain
from .limited import Limited
from .select import limited

Floats = NDArray[np.float64]

NOISE = 1e-9
"""Rounds this close to a whole number are that number."""


class FiniteBacklog:
    """The backlog in every round of a live stream on one lattice; it does not change once made.

    Parameters
    ----------
    chain : Chain
        What sends.
    lattice : Lattice
        Of the backlog, and what is generated per round.
    length : float
        Of the video [rounds], at least 1.

    Attributes
    ----------
    error_bound : float
        Bound on the error of f, probability unaccounted for.
    """

    def __init__(self, chain: Chain, lattice: Lattice, length: float) -> None:
        self.lattice, self.length = lattice, length
        self.packets = lattice.packets_due * length
        self._goal = math.ceil(self.packets * lattice.steps_per_packet - 1e-6)
        self._generating = math.floor(length + NOISE)
        start = (lattice.trace, lattice.steps_per_packet, lattice.trace)
        transient = limited(chain, *start)
        total = np.zeros(1)
        for i in range(1, self._generating + 1):
            watch.at(i - 1, self._generating, watch.SHORTER)
            ceiling = min(self._goal, lattice.steps * i) + lattice.trace
            transient.step(ceiling, final=False)
            total = _summed(total, _by_level(transient, ceiling))
        self._excess = Excess.of(total, lattice)
        self._after: list[Excess] = []
        ceiling = self._goal + lattice.trace
        while not transient.exhausted:
            watch.at(instead=watch.SHORTER)
            transient.step(ceiling, final=True)
            excess = Excess.of(_by_level(transient, ceiling), lattice)
            self._after += [excess] * (1 + transient.rest())
        self.error_bound = transient.account.unaccounted + transient.left

    def late_fraction(self, delay: float) -> float:
        """Return f for a startup delay [rounds], >= 0."""
        m = self.lattice.packets_due
        late = self._excess.between(m * delay, m * (delay + 1))
        rounds = math.ceil(self.length + delay - NOISE) - self._generating
        end = self._goal / self.lattice.steps_per_packet
        for i, excess in enumerate(self._after[:rounds], self._generating + 1):
            due, before = (min(m * max(i - k - delay, 0.0), self.packets) for k in (0, 1))
            late += excess.between(end - due, end - before)
        return max(0.0, late / self.packets)


def _by_level(transient: Limited, ceiling: int) -> Floats:
    """Return the probability of each level of the backlog; what is done has none, and is left out."""
    measure = transient.distribution()
    backlog = np.zeros(max(0, ceiling - measure.origin) + 1)
    backlog[ceiling + 1 - min(measure.end, ceiling + 1) :] = measure.mass[: ceiling + 1 - measure.origin][::-1]
    return backlog


def _summed(total: Floats, measure: Floats) -> Floats:
    if len(measure) > len(total):
        total = np.pad(total, (0, len(measure) - len(total)))
    total[: len(measure)] += measure
    return total
