"""Players of large buffers, whose sessions are followed from one stall to the next."""

from __future__ import annotations

from dataclasses import replace

from ..coarse.resolution import FINE, Scale, coarser
from ..errors import AccuracyError, TimeLimitError
from ..playout.fineness import Fineness
from ..playout.late_stalls import LONGER, LOSSES, LateStalls
from ..tcp import Chain
from ..tcp.independent import IndependentChain

APART = 1.0
"""Losses while a buffer fills, on average, from which on its time tells what is left of how a stall began."""

DECAYS = 2.0
"""Leads over which a stall gets less probable by a factor of e, that a standard deviation of what TCP delivers has at
most where many losses decide: elsewhere the first ones do."""

DOUBT = 0.1
"""Part of what later stalls add that may be off, times the square of the losses while a buffer fills: a third of it was
seen at most, of CUBIC, and less of Reno."""

AHEAD, ROUNDS = 1.15, 8.0
"""T/mu from which on few players stall again, and rounds of playback that they resume with."""

QUICK = 1e10
"""Products of a pass up to which all stalls are followed at once."""


class StallByStall:
    """Which players are followed so, and what tells stalls after many losses.

    Parameters
    ----------
    chain : Chain
    scale : Scale
        Of the chain.
    length, decay : float
        Rounds of the video, and the lead over which a stall gets less probable by a factor of e [packets].
    fine : Fineness
        Of the finer pass.
    """

    def __init__(self, chain: Chain, scale: Scale, length: float, decay: float, fine: Fineness) -> None:
        self._chain, self._scale, self._length, self._fine = chain, scale, length, fine
        self._rare = DECAYS * decay < scale.spread(LOSSES * scale.packets)
        self._made: dict[Fineness, LateStalls | None] = {}

    def suits(self, resume: float, products: float) -> bool:
        """Return whether players are followed so that resume with so many packets, where a pass takes so much else.

        Or may be, where `doubt` matters little.
        """
        ahead = self._chain.packets_per_round > AHEAD * self._fine.due and resume >= ROUNDS * self._fine.due
        single = isinstance(self._chain, IndependentChain)
        return single and products > QUICK and (self.doubt(resume) < 1.0 or ahead)

    def doubt(self, resume: float) -> float:
        """Return which part of what later stalls add is told as what it may be off; 0 for a large resume buffer."""
        losses = resume / self._scale.packets
        return 0.0 if losses >= APART else min(1.0, DOUBT / losses**2)

    def late(self, on: Fineness) -> LateStalls | None:
        """Return what tells stalls after many losses; None where all is followed."""
        on = replace(on, shift=0.0)
        if on not in self._made:
            self._made[on] = self._late(on)
        return self._made[on]

    def _late(self, on: Fineness) -> LateStalls | None:
        if self._rare or not isinstance(self._chain, IndependentChain):
            return None
        if self._length < LONGER * LOSSES * self._scale.rounds:
            return None
        try:
            return LateStalls(self._chain, on, FINE if on == self._fine else coarser(FINE), self._length)
        except AccuracyError as error:
            if isinstance(error, TimeLimitError):
                raise
            return None
