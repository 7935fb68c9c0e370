"""Other rules for RealPlayer, of Chung, Claypool and Zhu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tcpstream import sim
from tcpstream.sim.application import Server
from tcpstream.sim.hosts import ServerHost
from tcpstream.sim.players.real_client import Report
from tcpstream.sim.players.realplayer import RealPlayer, _OverUdp
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


EFFECTIVE = "effective-75", "effective-150", "effective-300"
FULL = "rtt-75", "ping-loss"
UNCHANGED = ("unchanged-tcp",)
ADAPTED = ("adapted-tcp",)

ALTERNATIVES = (
    Alternative("chung", "pings while the clip comes over UDP", EFFECTIVE, replaced={"pair": while_udp}),
    Alternative("chung", "down only where less arrives than is coded", EFFECTIVE, replaced={"RealPlayer": Arrives}),
    Alternative("chung", "no hurry after the first losses", FULL, replaced={"RealPlayer": NoHurry}),
    Alternative("chung", "servers that give up", (*EFFECTIVE, *FULL), {"endures_s": 20}),
    Alternative("chung", "windows of 12 packets", FULL, {"window_packets": 12}),
    Alternative("chung", "windows of 4 packets", FULL, {"window_packets": 4}),
    Alternative("chung", "socket buffer of 40 packets", UNCHANGED, {"socket_packets": 40}),
    Alternative("chung", "socket buffer of 75 packets", UNCHANGED, {"socket_packets": 75}),
    Alternative("chung", "drains for 2 s", UNCHANGED, {"measure_s": 2}),
    Alternative("chung", "threshold of 3%", UNCHANGED, {"most_loss": 0.03}),
    Alternative("chung", "threshold of 10%", UNCHANGED, {"most_loss": 0.1}),
    Alternative("chung", "all servers go down at once", ADAPTED, {"steps_share": 0}),
    Alternative("chung", "all servers step", ADAPTED, {"steps_share": 1}),
)
