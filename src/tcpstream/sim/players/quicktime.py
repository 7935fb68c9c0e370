"""QuickTime with a Darwin server, as Hessler and Welzl saw it: it cuts its rate at once, and recovers quickly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import InputError, positive, real, whole
from ..application import Application, Client, Server
from ..hosts import HEADERS, LARGEST, ServerHost
from .reports import Report, Reporter

LOST = 1.0
"""After so long without a report of anything new, all that is under way is given up [s]."""


@dataclass(frozen=True)
class QuickTime(Application):
    """Sends a clip at its rate, and what it is behind as fast as a window lets it, which losses halve.

    The paper says that the rate is cut significantly in congestion, and increased quickly after it (Section 3.3). That
    a window does it is assumed: the reliable UDP of Darwin servers has one, as TCP.

    Parameters
    ----------
    rate, duration : float
        Of the clip [bytes/s], headers included (Table 2, without cross traffic), and [s] (Section 2.2).
    packet : int
        Bytes, headers included (assumed: 1450 and 42 of headers).
    every : float
        Between reports of the client [s] (assumed).
    window : float
        At first and at most [bytes] (assumed).
    """

    rate: float = 43_400.0
    duration: float = 120.0
    packet: int = 1492
    every: float = 0.1
    window: float = 64_000.0

    def __post_init__(self) -> None:
        positive("rate", self.rate, "bytes/s")
        positive("duration", self.duration, "s")
        whole("packet", self.packet, HEADERS + 1, most=LARGEST, unit="bytes")
        positive("every", self.every, "s")
        if real("window", self.window, "bytes") < self.packet:
            raise InputError(f"window must hold a packet of {self.packet} bytes, got {self.window:g} bytes")

    def server(self) -> Server:
        """Return the server of a run."""
        return _Server(self)

    def client(self) -> Client:
        """Return the client of a run."""
        return Reporter(self.every, self.duration)


class _Server(Server):
    def __init__(self, player: QuickTime) -> None:
        self._player, self._window = player, player.window
        self._sent = self._over = 0
        self._behind_of = 0
        self._news = 0.0

    def start(self, host: ServerHost) -> None:
        self._begun = self._news = host.now
        self.timer(host, "tick")

    def timer(self, host: ServerHost, name: str) -> None:
        """Send what is due by now and the window has room for."""
        del name
        one = self._player
        if host.now - self._news > LOST and self._sent > self._over:
            self._over, self._news = self._sent, host.now
            self._cut()
        due = int(one.rate * min(host.now - self._begun, one.duration) / one.packet)
        while self._sent < due and (self._sent - self._over + 1) * one.packet <= self._window:
            host.send(one.packet)
            self._sent += 1
        if self._sent < int(one.rate * one.duration / one.packet):
            host.wake("tick", one.packet / one.rate)

    def message(self, host: ServerHost, message: Any) -> None:
        """Change the window, and send what it has room for."""
        report: Report = message
        over = report.packets + len(report.missing)
        if over == 0:
            return
        self._over = min(self._over + over, self._sent)
        self._news = host.now
        one = self._player
        if report.missing and report.missing[-1] >= self._behind_of:
            self._cut()
        elif not report.missing:
            self._window = min(self._window + report.packets * one.packet**2 / self._window, one.window)
        self.timer(host, "tick")

    def _cut(self) -> None:
        """Halve the window, once for all that is under way."""
        self._window = max(self._window / 2, float(self._player.packet))
        self._behind_of = self._sent
