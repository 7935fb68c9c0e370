"""The server of Windows Streaming Media: it sends bursts of media as it is told, and what is missing once more.

What was sent at another rate is not sent again: that is a new stream, and the old one is torn down (Section 2.2.1).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..application import Server
from ..hosts import HEADERS, ServerHost
from .wsm_messages import Missing, Play, Probe
from .wsm_settings import WsmSettings

PROBES, PROBE = 3, 1500
"""Section 2.3.2: packets of so many bytes."""

MICRO = 1e6


class Sent(NamedTuple):
    """A packet of media: its size [bytes], its tag, and how many times it was sent again."""

    size: int
    tag: int
    resends: int


class WsmServer(Server):
    """Sends media; the tag of a packet is the time of the clip that it carries [microseconds]."""

    def __init__(self, player: WsmSettings) -> None:
        self.player = player
        self.play: Play | None = None
        self.media, self.credit, self.free = 0.0, 0.0, 0.0
        self.sent: dict[int, Sent] = {}

    def message(self, host: ServerHost, message: Any) -> None:
        """Act when a message of the client arrives."""
        if isinstance(message, Probe):
            for _ in range(PROBES):
                host.send(PROBE)
        elif isinstance(message, Missing):
            self.again(host, message.numbers)
        else:
            before, self.play = self.play, message
            if before is None:
                self.timer(host, "burst")
            elif before.rate != message.rate:
                self.sent.clear()

    def timer(self, host: ServerHost, name: str) -> None:
        """Send the media until the next burst."""
        assert self.play is not None
        rate, speed, pause = self.play
        media = min(speed * pause, self.player.clip.duration - self.media)
        self.media += media
        self.credit += media * rate / 8
        packets = int(self.credit // self.player.packet)
        self.credit -= packets * self.player.packet
        sizes = [self.player.packet] * packets
        ends = self.media >= self.player.clip.duration - 1e-9
        if ends and self.credit >= HEADERS:
            sizes.append(int(self.credit))
        for size in sizes:
            self.send(host, Sent(size, round(MICRO * 8 * size / rate), 0))
        if ends:
            host.note("end")
        else:
            host.wake(name, pause)

    def again(self, host: ServerHost, numbers: tuple[int, ...]) -> None:
        """Send missing media once more, unless it was often enough."""
        lost = [self.sent.pop(number) for number in numbers if number in self.sent]
        for packet in lost:
            if packet.resends < self.player.resends:
                self.send(host, packet._replace(resends=packet.resends + 1))

    def send(self, host: ServerHost, packet: Sent) -> None:
        """Send a packet after those that wait."""
        at = max(host.now, self.free)
        self.free = at + self.player.spacing
        self.sent[host.send(packet.size, packet.tag, after=at - host.now)] = packet
