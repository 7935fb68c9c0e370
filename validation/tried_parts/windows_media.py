"""Other rules for Windows Streaming Media, of Nichols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcpstream import sim
from tcpstream.sim.application import Server
from tcpstream.sim.hosts import ServerHost
from tcpstream.sim.players.wsm import Wsm
from tcpstream.sim.players.wsm_messages import Missing, Play
from tcpstream.sim.players.wsm_server import WsmServer
from tcpstream.testbeds.nichols_cases import Case
from tcpstream.testbeds.nichols_seen import BIN, Between, figures

from .alternative import Alternative

AT_FIRST = 10.0
"""Packets are sent again so long [s]."""

BY_RATE = (28e3, 340e3, 548e3), (4.0, 2.0, 1.0)


@dataclass(frozen=True)
class AnyMultiple(Wsm):
    """Buffers at any multiple that the estimate allows."""

    def speed(self, rate: float, estimate: float) -> Any:
        """Return how many times as fast as they are played media are buffered."""
        return max(1.0, min(self.most_speed, estimate / rate))


@dataclass(frozen=True)
class ByRate(Wsm):
    """Buffers at a multiple that depends on the rate alone: between those of `BY_RATE` along straight lines."""

    def speed(self, rate: float, estimate: float) -> Any:
        """Return how many times as fast as they are played media are buffered."""
        del estimate
        return float(np.interp(rate, *BY_RATE))


@dataclass(frozen=True)
class AgainAtFirst(Wsm):
    """Sends packets again for some time only."""

    def server(self) -> Server:
        """Return the server of a run."""
        return _AtFirst(self)


@dataclass(frozen=True)
class OldStream(Wsm):
    """Sends packets of the old stream again as well."""

    def server(self) -> Server:
        """Return the server of a run."""
        return _Old(self)


class _AtFirst(WsmServer):
    _until: float | None = None

    def message(self, host: ServerHost, message: Any) -> None:
        """Take a message."""
        if isinstance(message, Play) and self._until is None:
            self._until = host.now + AT_FIRST
        if isinstance(message, Missing) and self._until is not None and host.now > self._until:
            return
        super().message(host, message)


class _Old(WsmServer):
    def message(self, host: ServerHost, message: Any) -> None:
        """Take a message."""
        kept = dict(self.sent)
        super().message(host, message)
        if isinstance(message, Play):
            self.sent = kept | self.sent


def from_arrival(run: sim.Run, case: Case) -> dict[str, Any]:
    """Return what a run shows; what is received while the player buffers counts from the first media that arrive."""
    player = run.traffic[1]
    assert player.bins is not None
    (plays, full), received = (player.noted(name)[0] for name in ("plays", "full")), player.bins.received
    found = figures(run, case)
    if len(full):
        asked = int(plays[0] / BIN) + 1
        first = BIN * (asked + int(np.flatnonzero(received[asked:])[0]))
        found["got"] = Between(player.bins, first, float(full[0])).rate("received")
    return found


LINEAR = "length-linear-1500", "buffering-grows-250", "buffering-grows-1500"
LOSSES = "largest-loss", "after-loss-250"
SETTLED = "250-thinned", "after-rate-250"
RANDOM = "loss-more", "loss-cumulative"

ALTERNATIVES = (
    Alternative("nichols", "any multiple", (*LINEAR, *RANDOM), replaced={"Wsm": AnyMultiple}),
    Alternative("nichols", "a multiple by the rate alone", LINEAR, replaced={"Wsm": ByRate}),
    Alternative("nichols", "nothing sent again", (*LOSSES, *RANDOM), {"resends": 0}),
    Alternative("nichols", "sent again in the first 10 s alone", LOSSES, replaced={"Wsm": AgainAtFirst}),
    Alternative("nichols", "packets of the old stream sent again", SETTLED, replaced={"Wsm": OldStream}),
    Alternative("nichols", "settling after 0.5 s", LOSSES, {"settling_s": 0.5}),
    Alternative("nichols", "patience of 60 s", SETTLED, {"patience_s": 60.0}),
    Alternative("nichols", "window of 44 packets", RANDOM, {"window_packets": 44}),
    Alternative("nichols", "buffering from the first arrival on", ("delay-rate",), replaced={"figures": from_arrival}),
    Alternative(
        "nichols", "the same, window of 44 packets", ("delay-rate",), {"window_packets": 44}, {"figures": from_arrival}
    ),
    Alternative("nichols", "packets of 500 bytes", RANDOM, {"packet_bytes": 500}),
)
