"""RealPlayer's side: it plays what arrives, and reports it."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..application import Client
from ..hosts import ClientHost
from .real_settings import LEVELS, RealSettings
from .screen import Screen

OVER, GONE = "over", "gone"
"""What the server tells the client when all of the clip is sent, or when it gives up."""


class Report(NamedTuple):
    """What the client tells its server.

    Attributes
    ----------
    received : float
        Rate at which data arrived since the last report [bit/s], headers included.
    packets, lost : int
        That arrived since, and that are missing; over TCP none is.
    held : float
        Media that are there and not played [s].
    plays : bool
    """

    received: float
    packets: int
    lost: int
    held: float
    plays: bool


class RealClient(Client):
    """Looks at what has arrived, plays and reports it, until all is played."""

    def __init__(self, player: RealSettings) -> None:
        self._player = player
        self._noted = 0
        self._level = -1

    def start(self, host: ClientHost) -> None:
        """Begin to watch."""
        player = self._player
        self._screen = Screen(player.clip.duration, player.preroll, player.halt, host.now)
        host.note("asks")
        host.wake("report", player.report)

    def timer(self, host: ClientHost, name: str) -> None:
        """Look, and report."""
        new, screen = host.arrived(), self._screen
        for time, tag in zip(new.time.tolist(), new.tag.tolist()):
            end, level = divmod(tag, LEVELS)
            screen.arrive(time, end / 1000)
            if level != self._level:
                self._level = level
                host.note("coded", self._player.clip.rates[level])
        screen.advance(host.now)
        self._write_down(host)
        received = 8 * int(new.size.sum()) / self._player.report
        if not screen.ended:
            host.tell(Report(received, len(new), len(host.overtaken), screen.buffer, screen.plays))
            host.wake(name, self._player.report)

    def message(self, host: ClientHost, message: Any) -> None:
        """Take it that nothing more comes."""
        if message == GONE:
            host.note("gone")
            host.cancel("report")
        else:
            self._screen.arrive(host.now, self._screen.duration)

    def _write_down(self, host: ClientHost) -> None:
        for event in self._screen.events[self._noted :]:
            host.note(event.name, event.time)
        self._noted = len(self._screen.events)
