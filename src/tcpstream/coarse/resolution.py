"""How fine a coarse lattice is: rounds in a step, packets in a quantum."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..tcp.chain import Chain

SPREAD = 0.6
"""Standard deviation of the packets delivered, over the square root of their number times those from loss to loss."""

COARSER, LITTLE = 2.0, 1.4
"""Between two resolutions that are compared; the same of lines of CUBIC, and of live streams."""


@dataclass(frozen=True)
class Resolution:
    """How fine a lattice is.

    Attributes
    ----------
    steps : float
        In the mean time from loss to loss, and in shorter ones that matter.
    quanta : float
        In a standard deviation of the packets delivered, where a level begins.
    ratio : float
        Of the windows of neighbouring lines of CUBIC.
    lead_quanta : float
        In the packets from loss to loss, of the finest lattice of leads.
    least, least_no_late : float
        What the relative errors of f, and of 1 - alpha, are stated to be at least.
    backlog_steps, backlog_quanta : float
        Of live streams: steps in the mean time from loss to loss, and quanta in the packets of a round of playback.
    least_live : float
        What the relative error of f of live streams is stated to be at least.
    """

    steps: float
    quanta: float
    ratio: float
    lead_quanta: float
    least: float
    least_no_late: float
    backlog_steps: float
    backlog_quanta: float
    least_live: float

    def step(self, rounds: float) -> int:
        """Return the rounds of a step, where something changes within so many."""
        return max(1, int(rounds / self.steps))


FINE = Resolution(7.0, 24.0, 1.15, 40.0, 3e-3, 1e-2, 6.0, 4.0, 1e-2)
FAST = Resolution(3.0, 14.0, 1.3, 24.0, 3e-2, 6e-2, 4.0, 2.5, 5e-2)


def coarser(resolution: Resolution) -> Resolution:
    """Return the resolution to compare with."""
    one = resolution
    return replace(
        one,
        steps=one.steps / COARSER,
        quanta=one.quanta / COARSER,
        ratio=1 + (one.ratio - 1) * LITTLE,
        lead_quanta=one.lead_quanta / COARSER,
        backlog_steps=one.backlog_steps / LITTLE,
        backlog_quanta=one.backlog_quanta / LITTLE,
    )


@dataclass(frozen=True)
class Scale:
    """Natural units of a chain.

    Attributes
    ----------
    packets, rounds : float
        From loss to loss, on average.
    """

    packets: float
    rounds: float

    @classmethod
    def of(cls, chain: Chain) -> Scale:
        """Return those of a chain."""
        packets = chain.packets_between_losses
        return cls(packets, packets / chain.packets_per_round)

    def spread(self, packets: float) -> float:
        """Return about the standard deviation of what is delivered when so many packets are [packets]."""
        return SPREAD * math.sqrt(packets * min(packets, self.packets))
