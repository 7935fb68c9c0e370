"""RealPlayer and RealServer over UDP, as Chung, Claypool and Zhu saw them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..application import Client, Server
from ..hosts import HEADERS, ServerHost
from .real_client import GONE, OVER, RealClient, Report
from .real_server import TICK, RealServer
from .real_settings import RealSettings


@dataclass(frozen=True)
class RealPlayer(RealSettings):
    """A player and its server over UDP; `RealSettings` says what each setting is."""

    def server(self) -> Server:
        """Return the server of a run."""
        return _OverUdp(self)

    def client(self) -> Client:
        """Return the client of a run."""
        return RealClient(self)


class _OverUdp(RealServer):
    """Knows from each report what arrives and what is lost."""

    def begin(self, host: ServerHost) -> None:
        self._available = math.inf
        self._next = host.rng.random()
        self._bearable = host.now

    def fast(self) -> float:
        return min(self.player.speed(self.rate), max(1.0, self._available / self.rate))

    def send(self, host: ServerHost) -> None:
        owed = self.owed
        while not self.sent:
            size = self.player.packet(self.rate, self._next)
            seconds = 8 * (size - HEADERS) / self.rate
            if self.owed < seconds:
                return
            host.send(size, self.tag(seconds), after=TICK * (1 - self.owed / owed))
            self._next = host.rng.random()

    def heard(self, host: ServerHost, report: Report) -> None:
        player = self.player
        share = report.lost / max(report.lost + report.packets, 1)
        if self.level > 0 or share <= player.hopeless:
            self._bearable = host.now
        if self.sent:
            host.tell(OVER)
        elif host.now - self._bearable >= player.endures:
            self.gone = True
            host.tell(GONE)
        elif report.lost >= 2 and share > player.most_loss:
            self._available = report.received
            self.congested(host, self.level - 1)
        else:
            self.quiet(host)
