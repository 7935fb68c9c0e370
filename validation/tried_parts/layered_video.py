"""Other rules and links for layered video, of Zink et al."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tcpstream import sim
from tcpstream.sim.application import Server
from tcpstream.sim.hosts import ServerHost
from tcpstream.sim.layers import Forwarded, VideoLayers

from .alternative import Alternative

TICK = 0.01
"""Of the clock of Linux 2.4 on these machines [s]."""


@dataclass(frozen=True)
class Ticking(Forwarded):
    """Sends on with the next tick of a clock, the segments of a tick in the order in which they came."""

    def server(self) -> Server:
        """Return what sends."""
        return _Ticking()


@dataclass(frozen=True)
class Waiting(Forwarded):
    """Sends on after up to a tick, at random, one after the other."""

    def server(self) -> Server:
        """Return what sends."""
        return _Waiting()


class _Ticking(Server):
    def came(self, host: ServerHost, datagram: sim.Datagram) -> None:
        host.send(datagram.size, datagram.tag, TICK - host.now % TICK)


class _Waiting(Server):
    _left = 0.0

    def came(self, host: ServerHost, datagram: sim.Datagram) -> None:
        self._left = max(self._left, host.now) + TICK * host.rng.random()
        host.send(datagram.size, datagram.tag, self._left - host.now)


def _of(rate: float) -> Any:
    def video(assumed: Mapping[str, float], seconds: float) -> VideoLayers:
        return VideoLayers(rate=rate, size=int(assumed["segment_bytes"]), duration=seconds)

    return {"video": video}


ALTERNATIVES = (
    Alternative("zink", "layers of 250 kbit/s", replaced=_of(250e3)),
    Alternative("zink", "layers of 220 kbit/s", replaced=_of(220e3)),
    Alternative("zink", "queues of 100 packets", {"queue_packets": 100}),
    Alternative("zink", "the cache forwards with a clock of 10 ms", replaced={"Forwarded": Ticking}),
    Alternative("zink", "the cache forwards after up to 10 ms", replaced={"Forwarded": Waiting}),
)
