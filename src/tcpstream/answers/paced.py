"""On which lattices a video is followed that a server paces."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..kernels.between_curves import Curves
from ..path import Path
from ..playout.in_time import InTime
from ..playout.latency import Lattice
from ..stationary.decay import decay_rate
from ..tcp import chain_of
from .chain_lattices import on_lattices
from .latency_lattices import FINEST, QUANTA, WHOLE, Followed, Kind, exact_quanta
from .pacing import Pacing
from .timeline import Timeline

Floats = NDArray[np.float64]

LEVELS = 5
"""Back-off levels that count for the decay of the risk with the lead: rarer ones set it where there is none left."""

RISK, HIGHER_RISK = 1e-5, 3e-4
"""What is left of the risk of the start where more of a lead is not followed; and for comparison."""

UNBOUNDED = 1 << 40
"""Quanta of lead where TCP is slower than the video: all of it."""


@dataclass(frozen=True, eq=False)
class Paced:
    """A chain and a server on a lattice.

    Attributes
    ----------
    chain : InTime
    due_in_round : float
        Quanta that play in a round.
    pace, burst : float
        Quanta of a round that there are to send, and at the start.
    exact : bool
        Whether packets are whole numbers of quanta. Then there are only whole ones to send.
    """

    chain: InTime
    due_in_round: float
    pace: float
    burst: float
    exact: bool

    @property
    def certain(self) -> float:
        """Quanta of startup delay below which every video stalls: nothing is there after one round."""
        return 0.0 if self._exists(0) > 0 else self.due_in_round

    @property
    def due(self) -> int:
        """Whole quanta that play in a round."""
        return math.ceil(self.due_in_round - WHOLE)

    def ended(self, level: float, length: float) -> tuple[float, float]:
        """Return minus the logarithm of the probability that no packet of a video is late, and its error.

        Parameters
        ----------
        level : float
            Quanta of startup delay.
        length : float
            Of the video [rounds].

        Raises
        ------
        AccuracyError
            Where it takes too long, or too much memory.
        """
        packets = math.ceil(length * self.due_in_round - 1e-6)
        rounds = math.ceil((level + packets) / self.due_in_round - WHOLE)
        exists = np.array([min(self._exists(i), packets) for i in range(rounds + 3)])
        due = np.ceil(np.arange(rounds + 3) * self.due_in_round - level - 1e-6).astype(np.int64)
        due = np.minimum(due, packets)
        return self.chain.lost(Curves(exists, due, rounds), parallel=self.pace == self.due_in_round)

    def _exists(self, rounds: int) -> int:
        quanta = self.burst + self.pace * rounds
        return math.floor(quanta + WHOLE) if self.exact else round(quanta)


def paced(path: Path, on: Timeline, pacing: Pacing) -> tuple[Followed[Paced], Followed[Paced]]:
    """Return a video and a server on a lattice, and on one to compare with.

    Parameters
    ----------
    path : Path
    on : Timeline
        Of the video.
    pacing : Pacing

    Raises
    ------
    AccuracyError
        For windows that are too large.
    """
    due = on.packets_due
    exact = exact_quanta(due)
    in_packets = exact is None and due <= FINEST  # a round then ends anywhere in a packet
    quantum = due / exact if exact else 1.0 if in_packets else due / QUANTA
    whole = exact is not None or in_packets
    fine, coarse = on_lattices(path, due, quantum, quantum if whole else 2 * quantum)

    def served(one: Lattice, risk: float) -> Followed[Paced]:
        lead = _safe_lead(path, on, pacing, risk) / one.quantum
        safe = math.ceil(lead) if math.isfinite(lead) else UNBOUNDED
        chain = InTime(one.moves, one.depths, one.start, safe, one.memory)
        burst = pacing.burst * on.video.packet_rate / one.quantum
        a_round = due / one.quantum
        video = Paced(chain, a_round, pacing.pace * a_round, burst, whole)
        return (Phased if in_packets else Followed)(video, one.quantum, whole)

    return served(fine, RISK), served(coarse or fine, HIGHER_RISK)


@dataclass(frozen=True, eq=False)
class Phased(Followed[Kind]):
    """Whole packets, of which other parts are due each round: levels are whole packets and a part of one.

    Attributes
    ----------
    part : float
        The part [packets].
    """

    part: float = 0.0

    @property
    def stepped(self) -> bool:
        """Whether nothing is known between two levels but what they are."""
        return True

    def place(self, packets: Floats) -> Floats:
        """Return levels in packets."""
        return packets - self.part

    def level(self, packets: float) -> float:
        """Return the level itself."""
        return packets

    def begin(self, packets: float) -> float:
        """Return where levels begin that are so many packets or more."""
        return packets - self.part

    def counted_from(self, packets: float) -> Self:
        """Return the same with a level at so many packets."""
        return replace(self, part=packets - math.floor(packets + WHOLE))

    def at_level(self, level: int) -> float:
        """Return the packets of a level."""
        return level + self.part


def _safe_lead(path: Path, on: Timeline, pacing: Pacing, risk: float) -> float:
    """Return how much more than at the start leads are followed [packets]; infinite where TCP is slower than the video.

    The risk that is left decays with the lead. A lead that is no larger than the server allows runs it again and
    again, until the server has let it grow.
    """
    chain, due = chain_of(path), on.packets_due
    if chain.packets_per_round <= due * (1 + WHOLE):
        return math.inf
    theta = decay_rate(chain, due, LEVELS)
    grows = theta * (pacing.pace - 1) * due
    again = min(on.length, 1 / grows) if grows > 0 else on.length
    return chain.largest_round + (math.log1p(again) - math.log(risk)) / theta
