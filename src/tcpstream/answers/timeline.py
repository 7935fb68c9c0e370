"""The clock of a video: the only place where seconds become rounds, and rounds packets."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..path import Path
from ..tcp import Varying
from ..video import Video

Floats = NDArray[np.float64]

HORIZONS = ("end", "paper")
"""Judge the whole video, or stop after duration / R rounds, as the paper does."""

ON_TIME = 1e-9
"""Packet counts this close to a whole number are that number: rounding noise must not make a packet late."""


@dataclass(frozen=True)
class Timeline:
    """A video on the clock of a path: ends of rounds, packets due and packets generated.

    Parameters
    ----------
    rtt : float
        R [s], the length of a round.
    video : Video
    horizon : {"end", "paper"}
        Until which round packets are judged.
    """

    rtt: float
    video: Video
    horizon: str = "end"

    @classmethod
    def of(cls, path: Path | Varying, video: Video, horizon: str = "end") -> Timeline:
        """Return the timeline of a video over a path."""
        return cls(path.rtt, video, horizon)

    @property
    def packets_due(self) -> float:
        """m, packets that play in a round at the mean rate."""
        return self.video.packet_rate * self.rtt

    @property
    def length(self) -> float:
        """Of the video [rounds], infinite without an end."""
        return math.inf if self.video.duration is None else self.video.duration / self.rtt

    @property
    def packets(self) -> int:
        """Packets of the video, the last one in part or whole."""
        return math.ceil(_snapped(np.array(self.video.packets)))

    @property
    def judged(self) -> float:
        """Packets of the video that are judged."""
        if self.horizon == "paper":
            return float(self.video.due(self.judged_rounds(0.0) * self.rtt))
        return self.video.packets

    def rounds(self, seconds: float) -> float:
        """Return the rounds of some seconds."""
        return seconds / self.rtt

    def judged_rounds(self, delay: float) -> int:
        """Return the rounds that are judged at a startup delay [s]."""
        assert self.video.duration is not None
        if self.horizon == "paper":
            return int(self.length + ON_TIME)
        return math.ceil((self.video.duration + delay) / self.rtt - ON_TIME)

    def ends(self, rounds: int) -> Floats:
        """Return the ends of the first rounds [s since the request]."""
        return np.asarray(self.rtt * np.arange(1, rounds + 1), dtype=np.float64)

    def due(self, delay: float, rounds: int) -> Floats:
        """Return B_i, the packets due for playback by the end of rounds 1 .. `rounds` at a startup delay [s]."""
        return _snapped(self.video.due(self.ends(rounds) - delay))


def _snapped(packets: Floats) -> Floats:
    """Move packet counts that are whole but for rounding noise to the whole number."""
    whole = np.round(packets)
    return np.where(np.abs(packets - whole) <= ON_TIME * np.maximum(whole, 1.0), whole, packets)
