"""How far TCP runs ahead of a player, or falls behind: leads and times after which more makes little difference."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..coarse.resolution import SPREAD, Scale
from ..tcp import Chain

DECAYS = 6.0
"""Factors of e by which a stall is less probable at the largest lead, about."""

RELAXATIONS = 30.0
"""Times of relaxation, 2 variance / drift^2 [rounds], after which sessions that play have settled."""

SPREADS = 6.0
"""Standard deviations of what TCP delivers, up to which leads are followed."""

LARGEST = 8.0
"""Times what a mean round sends that few rounds exceed."""


@dataclass(frozen=True, eq=False)
class Reach:
    """A chain, its scale, and the packets due in a round of playback."""

    chain: Chain
    scale: Scale
    due: float

    @property
    def decay(self) -> float:
        """Lead [packets] over which a stall gets less probable by e; infinite where TCP is slower."""
        return self._variance / (2 * self._ahead) if self._ahead > 0 else math.inf

    @property
    def settled(self) -> float:
        """Rounds of playback after which nothing stalls any more, about; infinite where TCP is slower."""
        return RELAXATIONS * 2 * self._variance / self._ahead**2 if self._ahead > 0 else math.inf

    def lead(self, held: float, length: float, whole_packets: bool) -> float:
        """Return a lead from which more seems to make no difference [packets].

        Parameters
        ----------
        held : float
            Packets with which playback begins, or goes on.
        length : float
            Of the video [rounds].
        whole_packets : bool
            Whether leads are followed packet by packet: then beyond a largest window too, which few rounds send.
        """
        times = np.geomspace(1, max(length, 2.0), 200)
        sent = self.chain.packets_per_round
        spread = np.array([self.scale.spread(sent * float(t)) for t in times])
        top = min(float((self._ahead * times + SPREADS * spread).max()), DECAYS * self.decay)
        window = 2 * (min(self.chain.largest_round, LARGEST * sent) + self.due) if whole_packets else 0.0
        return held + top + window

    @property
    def _ahead(self) -> float:
        """Packets by which TCP gets ahead in a round."""
        return self.chain.packets_per_round - self.due

    @property
    def _variance(self) -> float:
        """Of the packets of a round, in the long run."""
        return SPREAD**2 * self.scale.wide * self.chain.packets_per_round
