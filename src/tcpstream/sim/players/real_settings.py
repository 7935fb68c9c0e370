"""Settings of RealPlayer and RealServer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import InputError, positive, real, shown, within
from ..application import Application
from ..clip import Clip
from ..hosts import HEADERS
from ..traffic import Traffic
from .viewed import viewed

SPEEDS = ((36e3, 6.0), (45e3, 5.0), (80e3, 4.0), (150e3, 3.0), (225e3, 2.5), (math.inf, 2.0))
"""Up to a coded rate [bit/s]: how many times as fast as they are played media are sent at first, over UDP."""

LEVELS = 100
"""Of a clip at most: a packet's tag is its end in the clip [ms] times this, and its level."""


@dataclass(frozen=True)
class RealSettings(Application):
    """Settings of a player and its server over UDP; sections are those of the paper.

    The server sends the level of the clip (SureStream, Section 2) that the player asked for, at first faster than it is
    played. It changes the level by the player's reports: one down with a report of losses, one up after some time
    without. Nothing is sent again. The player starts when it holds some media, and halts when it holds none.

    Its `figures` are ``join_time_s``, ``rebuffer_count``, ``total_rebuffer_s`` and ``rebuffering_ratio`` as of a viewer
    of ``tcpstream play``, ``end_s``, when all is played (NaN for what does not happen in the run), ``level_changes``,
    and ``coded_bps``, the last coded rate, as the player sees them.

    Parameters
    ----------
    clip : Clip
    preferred : float
        What the player says of its connection [bit/s]: the highest level up to it comes first (assumed: all).
    report : float
        Between reports [s] (assumed).
    most_loss : float
        A report with a larger share of lost packets, and two at least, is one of congestion (assumed).
    clean : float
        The server tries the next level after so long without congestion [s] (assumed; Hessler and Welzl, "An Empirical
        Study of the Congestion Response of RealPlayer, Windows MediaPlayer and Quicktime", 2005, Section 3.1: 20).
    patience : float
        How many times as long it waits after a try that led to congestion (assumed; Figure 7: the level settles).
    hopeless, endures : float
        With a larger share of lost packets at the lowest level for so long [s] the server gives up (Section 6: newer
        versions do in severe congestion, older ones do not; how severe is assumed).
    preroll : float
        Media with which playback starts, and resumes [s] (assumed).
    halt : float
        Playback halts for so long at most once it has begun [s] (Section 2: up to 20).
    burst : float
        Media come faster than they are played for so long at most [s] (Section 7: up to 40),
    most_held : float
        and until the player holds so much [s] (assumed).
    speeds : tuple of (float, float)
        `SPEEDS` (Section 5.4, Figures 10 and 11: 6 at the lowest rates, less at higher ones, that of TCP, 2, at the
        highest ones; between them assumed).
    packet_time : float
        Media in a packet [s] (assumed),
    least_packet, most_packet : int
        in which there are so many bytes, headers included (assumed; Hessler and Welzl, Section 3.1: from 1200 to below
        500),
    spread : float
        by up to this share more or less in each, at random (M. Li, M. Claypool and R. Kinicki, "MediaPlayer versus
        RealPlayer: a comparison of network turbulence", 2002: sizes vary; by how much is assumed).
    """

    clip: Clip
    preferred: float = math.inf
    report: float = 1.0
    most_loss: float = 0.05
    clean: float = 20.0
    patience: float = 2.0
    hopeless: float = 0.5
    endures: float = math.inf
    preroll: float = 10.0
    halt: float = 20.0
    burst: float = 40.0
    most_held: float = 60.0
    speeds: tuple[tuple[float, float], ...] = SPEEDS
    packet_time: float = 0.1
    least_packet: int = 328
    most_packet: int = 1000
    spread: float = 0.5

    def __post_init__(self) -> None:
        if not isinstance(self.clip, Clip):
            raise InputError(f"clip of a player must be a Clip, got {shown(self.clip)}")
        if len(self.clip.rates) > LEVELS:
            raise InputError(f"clip of a player must have at most {LEVELS} levels, got {len(self.clip.rates)}")
        for name in ("report", "clean", "preroll", "halt", "packet_time"):
            positive(name, getattr(self, name), "s")
        for name, unit in (("preferred", "bit/s"), ("burst", "s"), ("most_held", "s"), ("endures", "s")):
            if getattr(self, name) != math.inf:
                positive(name, getattr(self, name), unit)
        if real("patience", self.patience) < 1:
            raise InputError(f"patience must be at least 1, got {self.patience:g}")
        for name in ("most_loss", "hopeless"):
            within(name, getattr(self, name), 0.0, 1.0)
        if not self.speeds or self.speeds[-1][0] != math.inf or not all(speed >= 1 for _, speed in self.speeds):
            raise InputError(f"speeds must be at least 1, the last one of rates up to inf, got {shown(self.speeds)}")
        if not 0 <= real("spread", self.spread) < 1:
            raise InputError(f"spread must be at least 0 and below 1, got {self.spread:g}")
        if not HEADERS < self.least_packet <= self.most_packet:
            raise InputError(
                f"packets must have more than {HEADERS} bytes, least_packet at most most_packet, "
                f"got {self.least_packet} and {self.most_packet}"
            )

    def figures(self, traffic: Traffic, duration: float) -> dict[str, float]:
        """Return what a viewer sees, and the changes of the level."""
        return viewed(traffic, duration)

    def speed(self, rate: float) -> float:
        """Return how many times as fast as it is played a level is sent at first, over UDP."""
        return next(speed for most, speed in self.speeds if rate <= most)

    def packet(self, rate: float, draw: float) -> int:
        """Return the bytes of a packet of a level [bit/s], headers included, by a number that is drawn from 0 to 1."""
        mean = min(max(rate * self.packet_time / 8 + HEADERS, self.least_packet), self.most_packet)
        return max(round(mean * (1 + self.spread * (2 * draw - 1))), HEADERS + 1)
