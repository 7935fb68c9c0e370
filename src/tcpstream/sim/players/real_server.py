"""What RealServer does over UDP and over TCP alike: media in time, of a level that changes."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

from ..application import Server
from ..hosts import ServerHost
from .real_client import Report
from .real_settings import LEVELS, RealSettings

TICK = 0.1
"""So often the server looks at what to send [s]."""


class RealServer(Server):
    """Sends a clip.

    Attributes
    ----------
    level : int
        Of the clip, that is sent.
    media : float
        Up to where the clip is sent [s].
    owed : float
        What is due and not sent [s].
    gone : bool
        Whether it gave up.
    """

    def __init__(self, player: RealSettings) -> None:
        self.player = player
        self.level = player.clip.level(player.preferred)
        self.media = self.owed = 0.0
        self.gone = False
        self._last = Report(0.0, 0, 0, 0.0, False)

    @property
    def rate(self) -> float:
        """Coded rate of the level [bit/s]."""
        return self.player.clip.rates[self.level]

    @property
    def sent(self) -> bool:
        """Whether all of the clip is sent."""
        return self.media >= self.player.clip.duration - 1e-9

    def start(self, host: ServerHost) -> None:
        """Begin to send."""
        self._began = self._clean_since = host.now
        self._clean, self._tried = self.player.clean, -math.inf
        self.begin(host)
        self.timer(host, "tick")

    def timer(self, host: ServerHost, name: str) -> None:
        """Send what is due until the next look."""
        if self.gone:
            return
        self.owed += TICK * (self.fast() if self.hurries(host) else 1.0)
        self.send(host)
        if not self.sent:
            host.wake(name, TICK)

    def message(self, host: ServerHost, message: Any) -> None:
        """Take a report."""
        self._last = message
        if not self.gone:
            self.heard(host, message)

    def hurries(self, host: ServerHost) -> bool:
        """Whether media are sent faster than they are played: at first, and while the player halts."""
        at_first = host.now - self._began < self.player.burst and self._last.held < self.player.most_held
        return at_first or not self._last.plays

    def congested(self, host: ServerHost, level: int) -> None:
        """Go down to a level; the next try of a higher one waits longer if the last one led to this."""
        if host.now - self._tried < self._clean:
            self._clean *= self.player.patience
        self._tried, self._clean_since = -math.inf, host.now
        if 0 <= level < self.level:
            self.level = level

    def busy(self, host: ServerHost) -> None:
        """Wait before the next try of a higher level."""
        self._clean_since = host.now

    def quiet(self, host: ServerHost) -> None:
        """Try the next level, if there is one, and it was quiet for long enough."""
        top = len(self.player.clip.rates) - 1
        if self.level < top and host.now - self._clean_since >= self._clean and not self.hurries(host):
            self._tried = self._clean_since = host.now
            self.level += 1

    def tag(self, seconds: float) -> int:
        """Return what is written on a packet with so much of the clip [s]: its level, and where it ends [ms]."""
        self.media = min(self.media + seconds, self.player.clip.duration)
        self.owed -= seconds
        return round(1000 * self.media) * LEVELS + self.level

    @abstractmethod
    def begin(self, host: ServerHost) -> None:
        """Begin."""

    @abstractmethod
    def fast(self) -> float:
        """Return how many times as fast as they are played media are sent at first."""

    @abstractmethod
    def send(self, host: ServerHost) -> None:
        """Send what is owed."""

    @abstractmethod
    def heard(self, host: ServerHost, report: Report) -> None:
        """Act on a report of the player."""
