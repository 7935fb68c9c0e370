"""RealPlayer and RealServer over TCP, as Chung, Claypool and Zhu saw them."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import positive, whole
from ..application import Server
from ..hosts import ServerHost
from .real_client import Report
from .real_server import RealServer
from .realplayer import RealPlayer


@dataclass(frozen=True)
class RealPlayerTcp(RealPlayer):
    """A player and its server over TCP.

    Settings are those of `RealSettings`, whose speeds and packets are for UDP alone, and of what drains. The server
    sees nothing but the room in its socket buffer (Section 5.3: TCP hides losses and round trips). While the buffer is
    full it takes the rate at which it drains, and goes down if that is below the coded rate by more than `most_loss`.
    What it has written before still has to be delivered.

    Parameters
    ----------
    segment : int
        Media in a packet of TCP [bytes]: `Tcp.packet_size` less its headers.
    speed_tcp : float
        How many times as fast as they are played media are written at first (Section 5.4: about 2).
    measure : float
        For how long a full buffer drains before the first change [s] (assumed).
    steps : bool
        Whether it goes down one level, and the next one when a buffer has drained (Figure 7, Clip-65), or at once to
        the level that drains (Clip-78).
    """

    segment: int = 1460
    speed_tcp: float = 2.0
    measure: float = 5.0
    steps: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("segment", self.segment, unit="bytes")
        positive("measure", self.measure, "s")
        positive("speed_tcp", self.speed_tcp)

    def server(self) -> Server:
        """Return the server of a run."""
        return _OverTcp(self)


class _OverTcp(RealServer):
    """Knows how much of what it wrote has left its socket buffer."""

    player: RealPlayerTcp

    def begin(self, host: ServerHost) -> None:
        self._capacity, self._written = host.room, 0
        self._until = 0
        self._full_since: tuple[float, int] | None = None

    def fast(self) -> float:
        return self.player.speed_tcp

    def send(self, host: ServerHost) -> None:
        seconds = 8 * self.player.segment / self.rate
        while self.owed >= seconds and not self.sent and host.room:
            host.write(1, self.tag(seconds))
            self._written += 1
        self._watch(host, full=self.owed >= seconds)

    def heard(self, host: ServerHost, report: Report) -> None:
        del report
        if not self.sent:
            self.quiet(host)

    def _watch(self, host: ServerHost, *, full: bool) -> None:
        """Go down if less drains from a full buffer than is coded."""
        drained = self._written - (self._capacity - host.room)
        if not full:
            self._full_since = None
            return
        self.busy(host)
        if self._full_since is None:
            self._full_since = host.now, drained
            self._until = max(self._until, drained)
        since, before = self._full_since
        if host.now - since < self.player.measure or drained < self._until:
            return
        rate = 8 * self.player.segment * (drained - before) / (host.now - since)
        self._full_since = host.now, drained
        if rate < (1 - self.player.most_loss) * self.rate and self.level > 0:
            self.congested(
                host, self.level - 1 if self.player.steps else min(self.player.clip.level(rate), self.level - 1)
            )
            self._until = self._written
