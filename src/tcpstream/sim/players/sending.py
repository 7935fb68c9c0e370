"""What servers over UDP have in common: packets of a size, sent at a rate that may change, some of them again."""

from __future__ import annotations

from collections.abc import Sequence

from ..application import Server
from ..hosts import ServerHost

TICK = 0.1
"""So often a server looks at what to send [s]."""


class Paced(Server):
    """Sends media at `rate` [bytes/s] as long as there are some, and packets again that it is asked for.

    Parameters
    ----------
    media : float
        How much there is [bytes].
    packet : int
        Bytes of a packet, headers included.
    rate : float
        At first [bytes/s].
    """

    def __init__(self, media: float, packet: int, rate: float) -> None:
        self.rate, self._left, self._packet = rate, media, packet
        self._credit = 0.0
        self._repeated: set[int] = set()

    def start(self, host: ServerHost) -> None:
        """Begin to send."""
        self.timer(host, "tick")

    def timer(self, host: ServerHost, name: str) -> None:
        """Send what is to be sent until the next look, evenly."""
        del name
        self._credit += min(self.rate * TICK, self._left)
        self._left = max(self._left - self.rate * TICK, 0.0)
        packets = int(self._credit // self._packet)
        self._credit -= packets * self._packet
        for k in range(packets):
            host.send(self._packet, after=TICK * k / packets)
        if self._left > 0:
            host.wake("tick", TICK)

    def again(self, host: ServerHost, numbers: Sequence[int]) -> None:
        """Send packets once more, evenly until the next look; those that were sent again before are given up."""
        first = [number for number in numbers if number not in self._repeated]
        for k in range(len(first)):
            self._repeated.add(host.send(self._packet, after=TICK * k / len(first)))
