"""Chung, Claypool and Zhu: RealVideo over UDP and over TCP, side by side, behind a token bucket."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from .. import sim
from ..paper.claim import Claim
from ..sim.players.realplayer import RealPlayer
from ..sim.players.realplayer_tcp import RealPlayerTcp
from .bed import Bed, Variant
from .chung_measures import pair, scaling
from .chung_rows import rows
from .measured import Seen
from .population import Draw, draw

RATES = ("75", "150", "300", "600")
"""Token rates [kbit/s] (Section 3.2)."""

DSL, DSL_QUEUE = 700e3, 50
"""Of the line before the router [bit/s] (Section 3.2), and packets that wait there (assumed)."""

HUB, LAN = 10e6, 15e6
"""Section 3.2; the campus network's way to the Internet (Section 5.4) [bit/s]."""

BUCKET = 1600.0
"""Bytes (Section 3.2)."""

QUEUES = {"35": 5000}
"""Bytes (Section 3.3), where they are not 10000 (Section 3.2)."""

CLIP_65 = Draw(sim.Clip(180.0, (34e3, 45e3, 80e3, 150e3, 225e3, 350e3, 450e3)), 0.095, 0.0, steps=True)
"""Of three minutes, with six changes until it is below 35 kbit/s over UDP and over TCP (Figure 7); which is assumed."""

LONGER = 1.5, 120.0
"""A run takes so many times the length of the clip, and so much more [s]: playback that takes longer is cut off."""


class Chung(Bed):
    """The test bed of Section 3: RealServers on the Internet, a router with a token bucket, two players."""

    name = "chung"
    title = (
        "J. Chung, M. Claypool and Y. Zhu, Measurement of the Congestion Responsiveness of RealPlayer Streaming Video "
        "over UDP"
    )
    runs = 110
    assumed: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "most_loss": (0.05, 0.03, 0.1),
        "clean_s": (20.0, 10.0, 40.0),
        "patience": (2.0, 1.0),
        "endures_s": (1e6, 20.0),
        "report_s": (1.0, 2.0),
        "preroll_s": (10.0, 5.0, 20.0),
        "held_s": (60.0, 30.0),
        "packet_bytes": (1000.0, 600.0),
        "socket_packets": (60.0, 40.0, 75.0),
        "measure_s": (5.0, 2.0),
        "steps_share": (0.5, 0.0, 1.0),
        "window_packets": (44.0, 12.0),
        "rtt_median_s": (0.08, 0.06, 0.12),
        "loss_mean": (0.02, 0.01, 0.04),
    }

    def conditions(self) -> tuple[str, ...]:
        """Return the token rates [kbit/s], the network without one, and Clip-65."""
        return (*RATES, "35", "lan", "clip-65")

    def repeats(self, variant: Variant, condition: str) -> int:
        """Return how many clips are played."""
        if condition == "clip-65":
            return 2
        return 20 if variant.name else self.runs

    def stream(self, condition: str) -> int:
        """Return 0: the same clips are played everywhere."""
        del condition
        return 0

    def simulate(self, condition: str, assumed: Mapping[str, float], rng: np.random.Generator) -> dict[str, Any]:
        """Return what a clip shows, over UDP and over TCP: side by side, or at 35 kbit/s one after the other."""
        drawn = draw(rng, assumed["rtt_median_s"], assumed["loss_mean"], assumed["steps_share"])
        drawn = CLIP_65 if condition == "clip-65" else drawn
        seconds = LONGER[0] * drawn.clip.duration + LONGER[1]
        if condition in ("35", "clip-65"):
            alone = [scenario("35", drawn, assumed, (over,)) for over in ("udp", "tcp")]
            return scaling(drawn.clip, [sim.simulate(one, seconds, rng) for one in alone])
        both = scenario(condition, drawn, assumed, ("udp", "tcp"))
        return pair(drawn.clip, sim.simulate(both, seconds, rng))

    def rows(self, seen: Seen) -> Iterator[Claim]:
        """Yield Table 1, and what the text says."""
        yield from rows(seen)


def scenario(
    condition: str, drawn: Draw, assumed: Mapping[str, float], over: tuple[str, ...], bins: float | None = None
) -> sim.Scenario:
    """Return the network with a ping, and players over "udp", "tcp", or both; with time bins of a width [s]."""
    net = sim.Link(drawn.rtt / 2, loss=sim.Bernoulli(drawn.loss) if drawn.loss else None)
    if condition == "lan":
        ways = {"net": net, "campus": sim.Link(0.0, rate=LAN), "hub": sim.Link(0.0, rate=HUB, queue=DSL_QUEUE)}
    else:
        bucket = sim.TokenBucket(1000 * float(condition), BUCKET)
        ways = {
            "net": net,
            "dsl": sim.Link(0.0, rate=DSL, queue=DSL_QUEUE),
            "router": sim.Link(0.0, rate=HUB, queue_bytes=QUEUES.get(condition, 10_000), bucket=bucket),
        }
    flows = [_flow(tuple(ways), one, drawn, assumed) for one in over]
    flows.append(sim.Flow(tuple(ways), ("up",), None, sim.Ping(), name="ping"))
    return sim.Scenario(ways | {"up": sim.Link(drawn.rtt / 2)}, tuple(flows), bins)


def _flow(there: tuple[str, ...], over: str, drawn: Draw, assumed: Mapping[str, float]) -> sim.Flow:
    """Return a player."""
    settings: dict[str, Any] = {
        "most_loss": assumed["most_loss"],
        "clean": assumed["clean_s"],
        "patience": assumed["patience"],
        "endures": assumed["endures_s"],
        "report": assumed["report_s"],
        "preroll": assumed["preroll_s"],
        "most_held": assumed["held_s"],
    }
    if over == "udp":
        player = RealPlayer(drawn.clip, **settings, most_packet=int(assumed["packet_bytes"]))
        return sim.Flow(there, ("up",), None, player, measured=True, name=over)
    tcp = sim.Tcp(
        "sack", max_window=int(assumed["window_packets"]), send_buffer=int(assumed["socket_packets"]), min_rto=0.2,
        timer="rfc6298", granularity=0.2, ack_every=2, jitter=0.001,
    )  # fmt: skip
    player = RealPlayerTcp(drawn.clip, **settings, measure=assumed["measure_s"], steps=drawn.steps)
    return sim.Flow(there, ("up",), tcp, player, measured=True, name=over)
