"""Windows Media Player with a Helix server, as Hessler and Welzl saw it: it does not respond to congestion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import InputError, positive, real, shown, whole, within
from ..application import Application, Client, Server
from ..clip import Clip
from ..hosts import HEADERS, LARGEST, ServerHost
from .reports import Report, Reporter
from .sending import Paced

AUDIENCE = (43e3, 58e3, 282e3, 548e3)
"""Rates of the levels [bit/s] (Section 2.2)."""

TRAILER = Clip(120.0, AUDIENCE)
"""Of two minutes (Section 2.2)."""


@dataclass(frozen=True)
class Wmp(Application):
    """Sends the level that the link has room for, whatever else crosses it, and what is lost once again.

    Parameters
    ----------
    clip : Clip
    link : float
        Rate of the bottleneck [bit/s], as it is estimated before the clip begins: the highest level below it is sent
        (assumed, as Windows Media servers do: Nichols, Section 4.2).
    packet : int
        Bytes, headers included (assumed).
    overhead : float
        What headers add to the rate of a level (assumed: 28 bytes of 1000).
    every : float
        Between reports of the client [s] (assumed).
    hopeless, patience : float
        Where more than this share of the packets is lost for so long [s], the server stops (Section 3.2, heavy traffic:
        after some 80 s; which share is assumed).
    """

    clip: Clip = TRAILER
    link: float = 1e6
    packet: int = 1042
    overhead: float = 0.03
    every: float = 0.5
    hopeless: float = 0.3
    patience: float = 40.0

    def __post_init__(self) -> None:
        if not isinstance(self.clip, Clip):
            raise InputError(f"clip of a player must be a Clip, got {shown(self.clip)}")
        positive("link", self.link, "bit/s")
        whole("packet", self.packet, HEADERS + 1, most=LARGEST, unit="bytes")
        if real("overhead", self.overhead) < 0:
            raise InputError(f"overhead must be at least 0, got {self.overhead:g}")
        positive("every", self.every, "s")
        within("hopeless", self.hopeless, 0.0, 1.0)
        positive("patience", self.patience, "s")

    def server(self) -> Server:
        """Return the server of a run."""
        return _Server(self)

    def client(self) -> Client:
        """Return the client of a run."""
        return Reporter(self.every, self.clip.duration)


class _Server(Paced):
    def __init__(self, player: Wmp) -> None:
        level = player.clip.level(player.link)
        rate = player.clip.rates[level] * (1 + player.overhead) / 8
        super().__init__(rate * player.clip.duration, player.packet, rate)
        self._player, self._level = player, level
        self._bad_since: float | None = None

    def start(self, host: ServerHost) -> None:
        host.note("level", self._level)
        super().start(host)

    def message(self, host: ServerHost, message: Any) -> None:
        """Send again what is missing, or give up."""
        report: Report = message
        if self.rate == 0.0:
            return
        if report.loss <= self._player.hopeless:
            self._bad_since = None
        elif self._bad_since is None:
            self._bad_since = host.now
        elif host.now - self._bad_since >= self._player.patience:
            host.note("gives up")
            self.rate = 0.0
            return
        self.again(host, report.missing)
