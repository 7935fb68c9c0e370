"""Other rules and links for layered video, of Zink et al."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tcpstream import sim
from tcpstream.layered import valid_of_independent, valid_of_some
from tcpstream.paper.claim import Claim
from tcpstream.sim.application import Server
from tcpstream.sim.hosts import ServerHost
from tcpstream.sim.layers import Forwarded, Layered, Relayed, VideoLayers
from tcpstream.sim.tfrc import Feed, Tfrc
from tcpstream.sim.tfrc.allowed_rate import AllowedRate
from tcpstream.sim.tfrc.tfrc_sender import TfrcSender
from tcpstream.testbeds.measured import Seen
from tcpstream.testbeds.zink_rows import printed, rows

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


class _OnTicks(TfrcSender):
    """Sends with the first tick after a segment may leave, one a tick."""

    def _next(self, host: ServerHost) -> None:
        if not self._short:
            at = max(host.now, self._last + self._size / min(self._allowed.instantaneous, self._cap))
            host.wake("send", max(0.0, TICK * math.ceil(at / TICK) - host.now))


def on_ticks(of: Tfrc, feed: Feed) -> TfrcSender:
    """Return a sender that sees a clock alone."""
    allowed = AllowedRate(of.size, of.initial_window, damping=of.damping)
    return _OnTicks(feed, allowed, of.size, math.inf if of.cap is None else of.cap / 8, of.jitter)


@dataclass(frozen=True)
class TickingLayered(Layered):
    """A server that sees a clock alone."""

    def sender(self, feed: Feed) -> TfrcSender:
        """Return what pulls from a feed."""
        return on_ticks(self, feed)


@dataclass(frozen=True)
class TickingRelayed(Relayed):
    """A cache that sees a clock alone."""

    def sender(self, feed: Feed) -> TfrcSender:
        """Return what pulls from a feed."""
        return on_ticks(self, feed)


def _of(rate: float) -> Any:
    def video(assumed: Mapping[str, float], seconds: float) -> VideoLayers:
        return VideoLayers(rate=rate, size=int(assumed["segment_bytes"]), duration=seconds)

    return {"video": video}


def independent(seen: Seen) -> Iterator[Claim]:
    """Yield the rows, those that are printed from a law of layers that arrive each for itself."""
    law = valid_of_independent([0.5] * 4)
    instead = {row.key: row for row in printed(law)}
    yield from (instead.get(row.key, row) for row in rows(seen))


def conditional(seen: Seen) -> Iterator[Claim]:
    """Yield the rows, that of layers 1 and 2 with the probability of layer 2 where layer 1 is there."""
    law = valid_of_some(4, 2)
    share = float(law[2:].sum() / law[1:].sum())
    for row in rows(seen):
        of_those = row.key == "printed-layers-1-2"
        yield replace(row, found=f"{share:.3f}", holds=abs(share - 0.33) < 0.01) if of_those else row


LAYERS = "tfrc-layer-2", "changes"
MET = "changes", "fig14-backbone"
PRINTED = ("printed-layers-1-2",)

ALTERNATIVES = (
    Alternative("zink", "layers of 250 kbit/s", (*LAYERS, "fig14-backbone"), replaced=_of(250e3)),
    Alternative("zink", "layers of 220 kbit/s", LAYERS, replaced=_of(220e3)),
    Alternative("zink", "queues of 100 packets", (*LAYERS, "cost"), {"queue_packets": 100}),
    Alternative("zink", "the cache forwards with a clock of 10 ms", MET, replaced={"Forwarded": Ticking}),
    Alternative("zink", "the cache forwards after up to 10 ms", MET, replaced={"Forwarded": Waiting}),
    Alternative("zink", "Sections 4.5 and 5.5 of RFC 5348", LAYERS, {"options": 1}),
    Alternative(
        "zink", "TFRC with a clock of 10 ms", ("cost",), replaced={"Layered": TickingLayered, "Relayed": TickingRelayed}
    ),
    Alternative("zink", "a video of 90 s", ("cost",), replaced={"SECONDS": 90.0}),
    Alternative("zink", "layers that arrive independently", PRINTED, replaced={"rows": independent}),
    Alternative("zink", "layer 2 where layer 1 is there", PRINTED, replaced={"rows": conditional}),
)
