"""Hessler and Welzl: players of UDP and a download behind a link of 1 Mbit/s, under cross traffic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import sim
from ..paper.claim import Claim
from .bed import Bed
from .hessler_rows import rows
from .seen import Seen

CROSS = {
    "none": (0.0, 0.0),
    "little": (60.0, 60.0),
    "medium": (90.0, 60.0),
    "heavy": (150.0, 60.0),
    "burst": (200.0, 0.72),
}
"""Section 2.1: packets/s of 1000 bytes, and for how long [s]."""

FRAME = 14
"""Bytes of an Ethernet header: the router's link counts them (Section 2 limits a network interface)."""

CROSS_PACKET = 1000 + 28 + FRAME
"""Bytes of a packet of cross traffic, with its headers."""

SECONDS = 112.0
"""Length of a run: so long a full link takes for the bytes of the download without cross traffic (Table 2)."""

JITTER = 1.0
"""Cross traffic begins up to so much later [s], at random: else all runs were one."""


class Hessler(Bed):
    """The test bed of Section 2: sender, router, sink; 100 Mbit/s but for the router's leg to the sink."""

    name = "hessler"
    title = "Hessler and Welzl, An Empirical Study of the Congestion Response of RealPlayer, Windows MediaPlayer and Quicktime, 2005"
    runs = 20
    assumed = {"begin_s": (30.0, 20.0, 40.0), "queue_packets": (100.0, 50.0, 200.0), "window_packets": (12.0, 44.0)}

    def conditions(self) -> tuple[str, ...]:
        """Return the sender and the cross traffic of each."""
        return tuple(f"{sender} {cross}" for sender in ("ftp",) for cross in CROSS)

    def simulate(self, condition: str, assumed: Mapping[str, float], rng: np.random.Generator) -> dict[str, Any]:
        """Return what a run shows: bytes sent and received, and the share that is lost."""
        sender, cross = condition.split()
        flows = [_download(int(assumed["window_packets"]))]
        rate, seconds = CROSS[cross]
        if rate:
            steady = sim.Steady(rate, seconds)
            begin = assumed["begin_s"] + JITTER * rng.random()
            flows.append(sim.Flow(("out",), (), None, steady, start=begin, packet_size=CROSS_PACKET))
        links = {
            "in": sim.Link(1e-4, rate=100e6),
            "out": sim.Link(4e-4, rate=1e6, queue=int(assumed["queue_packets"])),
            "back": sim.Link(5e-4, rate=100e6),
        }
        data = sim.simulate(sim.Scenario(links, tuple(flows)), SECONDS, rng).traffic[0].there
        return {"sent": data.sent_bytes, "received": data.received_bytes, "lost": data.dropped_bytes / data.sent_bytes}

    def rows(self, seen: Seen) -> Iterator[Claim]:
        """Yield the rows of Table 2, and what the text says."""
        yield from rows(seen)


def _download(window: int) -> sim.Flow:
    """Return a TCP download of the time."""
    tcp = sim.Tcp(
        "sack", max_window=window, packet_size=1500 + FRAME, min_rto=0.2, initial_rto=1.0, timer="rfc6298",
        granularity=0.2, ack_every=2,
    )  # fmt: skip
    return sim.Flow(("in", "out"), ("back",), tcp)
