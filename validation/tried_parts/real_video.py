"""Other rules for RealPlayer, of Chung, Claypool and Zhu, and for the players of Hessler and Welzl."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tcpstream import sim
from tcpstream.sim.application import Server
from tcpstream.sim.hosts import ServerHost
from tcpstream.sim.players.real_client import Report
from tcpstream.sim.players.realplayer import RealPlayer, _OverUdp
from tcpstream.sim.players.wmp import Wmp
from tcpstream.testbeds import hessler_real
from tcpstream.testbeds.chung_measures import pair

from .alternative import Alternative


@dataclass(frozen=True)
class NoHurry(RealPlayer):
    """Ends its hurry with the first congestion."""

    def server(self) -> Server:
        """Return the server of a run."""
        return _NoHurry(self)


@dataclass(frozen=True)
class Arrives(RealPlayer):
    """Goes down only where less arrives than is coded."""

    def server(self) -> Server:
        """Return the server of a run."""
        return _Arrives(self)


class _NoHurry(_OverUdp):
    _lost = False

    def congested(self, host: ServerHost, level: int) -> None:
        self._lost = True
        super().congested(host, level)

    def fast(self) -> float:
        return 1.0 if self._lost else super().fast()


class _Arrives(_OverUdp):
    def heard(self, host: ServerHost, report: Report) -> None:
        enough = report.received >= self.rate and not self.sent
        super().heard(host, report._replace(lost=0) if enough else report)


def while_udp(clip: sim.Clip, run: sim.Run) -> dict[str, Any]:
    """Return what a clip shows, with the pings of the time in which it comes over UDP."""
    found = pair(clip, run)
    return found | {"rtt": found["rtt_udp"], "p": found["p_udp"]}


_player = hessler_real.player


def _changed(lowest: int = 0, **settings: Any) -> Any:
    """Return what makes the player of Hessler and Welzl, with other settings, and without the lowest levels."""

    def player(assumed: Any) -> RealPlayer:
        one = _player(assumed)
        return replace(one, clip=sim.Clip(one.clip.duration, one.clip.rates[lowest:]), **settings)

    return {"real_player": player}


TABLE_2 = sim.Clip(120.0, (43e3, 58e3, 282e3, 353e3))
"""5450.9 kB in two minutes, less headers."""

ALTERNATIVES = (
    Alternative("chung", "pings while the clip comes over UDP", replaced={"pair": while_udp}),
    Alternative("chung", "down only where less arrives than is coded", replaced={"RealPlayer": Arrives}),
    Alternative("chung", "no hurry after the first losses", replaced={"RealPlayer": NoHurry}),
    Alternative("chung", "servers that give up", {"endures_s": 20}),
    Alternative("chung", "windows of 12 packets", {"window_packets": 12}),
    Alternative("chung", "windows of 4 packets", {"window_packets": 4}),
    Alternative("chung", "socket buffer of 40 packets", {"socket_packets": 40}),
    Alternative("chung", "socket buffer of 75 packets", {"socket_packets": 75}),
    Alternative("chung", "drains for 2 s", {"measure_s": 2}),
    Alternative("chung", "threshold of 3%", {"most_loss": 0.03}),
    Alternative("chung", "threshold of 10%", {"most_loss": 0.1}),
    Alternative("chung", "all servers go down at once", {"steps_share": 0}),
    Alternative("chung", "all servers step", {"steps_share": 1}),
    Alternative("hessler", "a report each 5 s", {"real_report_s": 5}),
    Alternative("hessler", "no level below 225 kbit/s", replaced=_changed(2)),
    Alternative("hessler", "a report each 5 s, no level below 225 kbit/s", {"real_report_s": 5}, _changed(2)),
    Alternative("hessler", "threshold of 30%", {"real_most_loss": 0.3}),
    Alternative("hessler", "queue of 10 packets", {"queue_packets": 10}),
    Alternative("hessler", "Windows Media Player at the rate of Table 2", replaced={"Wmp": partial(Wmp, clip=TABLE_2)}),
)
