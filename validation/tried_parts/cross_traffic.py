"""Other rules and links for the players and the download of Hessler and Welzl."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from tcpstream import sim
from tcpstream.sim.application import Client, Server
from tcpstream.sim.hosts import ClientHost, ServerHost
from tcpstream.sim.players.real_client import RealClient
from tcpstream.sim.players.real_server import TICK
from tcpstream.sim.players.real_settings import LEVELS
from tcpstream.sim.players.realplayer import RealPlayer, _OverUdp
from tcpstream.sim.players.wmp import Wmp
from tcpstream.testbeds import hessler, hessler_real

from .alternative import Alternative

_player, _flow = hessler_real.player, hessler._flow


class Again(NamedTuple):
    """What a client says of packets that are newly missing.

    Attributes
    ----------
    packets : int
    """

    packets: int


@dataclass(frozen=True)
class Repeating(RealPlayer):
    """Sends packets again that are missing."""

    def server(self) -> Server:
        """Return the server of a run."""
        return _Repeating(self)

    def client(self) -> Client:
        """Return the client of a run."""
        return _Asking(self)


class _Asking(RealClient):
    def timer(self, host: ClientHost, name: str) -> None:
        super().timer(host, name)
        if host.overtaken and not self._screen.ended:
            host.tell(Again(len(host.overtaken)))


class _Repeating(_OverUdp):
    def message(self, host: ServerHost, message: Any) -> None:
        if not isinstance(message, Again):
            super().message(host, message)
        elif not self.gone:
            size = self.player.packet(self.rate, 0.5)
            for k in range(message.packets):
                host.send(size, round(1000 * self.media) * LEVELS + self.level, after=TICK * k / message.packets)


def _changed(lowest: int = 0, kind: type[RealPlayer] = RealPlayer, **settings: Any) -> Any:
    """Return what makes the player, of a kind, with other settings, and without the lowest levels."""

    def player(assumed: Mapping[str, float]) -> RealPlayer:
        one = _player(assumed)
        clip = sim.Clip(one.clip.duration, one.clip.rates[lowest:])
        return kind(**{**vars(one), "clip": clip, **settings})

    return {"real_player": player}


def _download(**settings: Any) -> Any:
    """Return what makes the flows, with other settings of the download."""

    def flow(sender: str, assumed: Mapping[str, float]) -> sim.Flow:
        made = _flow(sender, assumed)
        return replace(made, tcp=replace(made.tcp, **settings)) if made.tcp else made

    return {"_flow": flow}


TABLE_2 = sim.Clip(120.0, (43e3, 58e3, 282e3, 353e3))
"""5450.9 kB in two minutes, less headers."""

LOSSES = "real-loss-little", "real-loss-medium", "real-loss-heavy"
BYTES = "real-bytes-little", "real-bytes-heavy"
LEFT = ("ftp-bytes-medium",)
STARVED = "ftp-bytes-heavy", "below-the-download"
FULL = ("ftp-loss-burst",)
INCREASES = ("real-increases",)
STOPS = ("real-last-medium",)

ALTERNATIVES = (
    Alternative("hessler", "a report each 5 s", (*LOSSES, *BYTES, *INCREASES), {"real_report_s": 5}),
    Alternative("hessler", "no level below 225 kbit/s", (*LOSSES, *BYTES, *STOPS), replaced=_changed(2)),
    Alternative("hessler", "a report each 5 s, no level below 225 kbit/s", LOSSES, {"real_report_s": 5}, _changed(2)),
    Alternative("hessler", "threshold of 30%", LOSSES, {"real_most_loss": 0.3}),
    Alternative("hessler", "queue of 10 packets", LOSSES, {"queue_packets": 10}),
    Alternative("hessler", "lost packets sent again", (*LOSSES, *INCREASES), replaced=_changed(kind=Repeating)),
    Alternative(
        "hessler",
        "lost packets sent again, a report each 5 s",
        INCREASES,
        {"real_report_s": 5},
        _changed(kind=Repeating),
    ),
    Alternative("hessler", "a server that gives up at 20%", STOPS, {"real_hopeless": 0.2}),
    Alternative("hessler", "a single level, given up at 20%", (*LOSSES, *STOPS), {"real_hopeless": 0.2}, _changed(4)),
    Alternative(
        "hessler",
        "Windows Media Player at the rate of Table 2",
        ("below-the-download",),
        replaced={"Wmp": partial(Wmp, clip=TABLE_2)},
    ),
    Alternative("hessler", "a queue of 200 packets", (*FULL, *LEFT), {"queue_packets": 200}),
    Alternative("hessler", "a window of 44 packets", (*FULL, *LEFT, *STARVED), {"window_packets": 44}),
    Alternative("hessler", "packets of 1000 bytes with headers", (*FULL, *LEFT), replaced={"CROSS_PACKET": 1000}),
    Alternative("hessler", "preambles and gaps that count", (*FULL, *LEFT), replaced={"CROSS_PACKET": 1066}),
    Alternative("hessler", "a download that sees lost retransmissions", STARVED, replaced=_download(variant="rack")),
    Alternative("hessler", "a download by NewReno", STARVED, replaced=_download(variant="newreno")),
    Alternative("hessler", "a download with a least timer of 1 s", STARVED, replaced=_download(min_rto=1.0)),
)
