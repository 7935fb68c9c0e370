"""Hessler and Welzl: players of UDP and a download behind a link of 1 Mbit/s, under cross traffic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from .. import sim
from ..paper.claim import Claim
from ..sim.players.quicktime import QuickTime
from ..sim.players.wmp import Wmp
from .bed import Bed, Variant
from .hessler_real import player as real_player
from .hessler_real import shown
from .hessler_rows import rows
from .measured import Seen

CROSS = {
    "none": (0.0, 0.0),
    "little": (60.0, 60.0),
    "medium": (90.0, 60.0),
    "heavy": (150.0, 60.0),
    "burst": (200.0, 0.72),
}
"""Section 2.1: packets/s of 1000 bytes, and for how long [s]."""

CROSS_PACKET = 1042
"""Bytes of a packet of cross traffic with its headers, that of Ethernet included: the router's link counts it."""

SECONDS = 112.0
"""Length of a run: so long a full link takes for the bytes of the download without cross traffic (Table 2)."""

JITTER = 1.0
"""Cross traffic begins up to so much later [s], at random: else all runs were one."""

SENDERS = ("ftp", "wmp", "quicktime", "real")


class Hessler(Bed):
    """The test bed of Section 2: sender, router, sink; 100 Mbit/s but for the router's leg to the sink."""

    name = "hessler"
    title = (
        "S. Hessler and M. Welzl, An Empirical Study of the Congestion Response of RealPlayer, Windows MediaPlayer and "
        "Quicktime"
    )
    runs = 10
    assumed: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "begin_s": (30.0, 20.0, 40.0),
        "queue_packets": (100.0, 50.0, 200.0),
        "window_packets": (12.0, 44.0),
        "wmp_packet_bytes": (1042.0, 642.0, 1442.0),
        "wmp_report_s": (0.5, 0.2, 1.0),
        "wmp_hopeless": (0.3, 0.25, 0.4),
        "quicktime_packet_bytes": (1492.0, 642.0, 1042.0),
        "quicktime_report_s": (0.1, 0.05, 0.25),
        "quicktime_window_bytes": (64e3, 32e3, 128e3),
        "real_top_bps": (540e3, 490e3),
        "real_report_s": (1.0, 0.5, 2.0),
        "real_most_loss": (0.05, 0.03, 0.1),
        "real_patience": (2.0, 1.0),
        "real_hopeless": (0.5, 0.2),
    }

    def conditions(self) -> tuple[str, ...]:
        """Return the sender and the cross traffic of each."""
        return tuple(f"{sender} {cross}" for sender in SENDERS for cross in CROSS)

    def repeats(self, variant: Variant, condition: str) -> int:
        """Return how often a condition is simulated: not at all for what is assumed of another sender."""
        sender = "ftp" if variant.name == "window_packets" else variant.name.split("_")[0]
        return 0 if sender in SENDERS and sender != condition.split()[0] else self.runs

    def simulate(self, condition: str, assumed: Mapping[str, float], rng: np.random.Generator) -> dict[str, Any]:
        """Return what a run shows: bytes sent and received, and the share that is lost."""
        run = sim.simulate(scenario(condition, assumed, rng, bins=1.0), SECONDS, rng)
        data = run.traffic[0].there
        lost = data.dropped_bytes / data.sent_bytes
        found = {"sent": data.sent_bytes, "received": data.received_bytes, "lost": round(lost, 7)}
        return found | (shown(run, assumed) if condition.startswith("real") else {})

    def rows(self, seen: Seen) -> Iterator[Claim]:
        """Yield the rows of Table 2, and what the text says."""
        yield from rows(seen)


def scenario(
    condition: str, assumed: Mapping[str, float], rng: np.random.Generator, bins: float | None = None
) -> sim.Scenario:
    """Return the network, a sender, and the cross traffic; with time bins of a width [s], if there is one."""
    sender, cross = condition.split()
    flows = [_flow(sender, assumed)]
    rate, seconds = CROSS[cross]
    if rate:
        begin = assumed["begin_s"] + JITTER * rng.random()
        flows.append(
            sim.Flow(("out",), (), None, sim.Steady(rate, seconds), start=begin, packet_size=CROSS_PACKET, name=cross)
        )
    links = {
        "in": sim.Link(1e-4, rate=100e6),
        "out": sim.Link(4e-4, rate=1e6, queue=int(assumed["queue_packets"])),
        "back": sim.Link(5e-4, rate=100e6),
    }
    return sim.Scenario(links, tuple(flows), bins)


def _flow(sender: str, assumed: Mapping[str, float]) -> sim.Flow:
    """Return a player, or a TCP download of the time."""
    if sender == "ftp":
        tcp = sim.Tcp(
            "sack", max_window=int(assumed["window_packets"]), packet_size=1514, min_rto=0.2, initial_rto=1.0,
            timer="rfc6298", granularity=0.2, ack_every=2,
        )  # fmt: skip
        return sim.Flow(("in", "out"), ("back",), tcp, name=sender)
    player: sim.Application
    if sender == "real":
        player = real_player(assumed)
    elif sender == "wmp":
        player = Wmp(
            packet=int(assumed["wmp_packet_bytes"]), every=assumed["wmp_report_s"], hopeless=assumed["wmp_hopeless"]
        )
    else:
        player = QuickTime(
            packet=int(assumed["quicktime_packet_bytes"]), every=assumed["quicktime_report_s"],
            window=assumed["quicktime_window_bytes"],
        )  # fmt: skip
    return sim.Flow(("in", "out"), ("back",), None, player, measured=True, name=sender)
