"""Zink, Griwodz, Schmitt and Steinmetz: layered video through a cache, over a last hop of half its rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from .. import sim
from ..layered import loss_event_rate
from ..paper.claim import Claim
from ..sim.layers import Forwarded, Layered, Relayed, Uncontrolled, VideoLayers
from ..sim.lcrtp import LcRtp
from .bed import Bed, Variant
from .measured import Seen
from .zink_rows import LOSSES, rows
from .zink_seen import copied, equation, shown

BACKBONE, ACCESS, INTERNET = 1e6, 512e3, 1.1e6
"""Links [bit/s]: those of Section 5.1, and one that lets all pass that a cap does not hold back."""

CAP = 384e3
"""Of TFRC over the Internet (Section 5.2.2) [bit/s]."""

SECONDS, COPY_SECONDS, LOSS_SECONDS = 300.0, 60.0, 300.0
"""Of the video; of one whose copy is repaired, and of a flow under independent losses."""

AFTER = 600.0
"""How long a copy may take [s]."""

COPY_LOSS = 0.05
"""Both ways, on the link to the cache, where its copy is repaired."""

HALF = 0.5
"""Of what is forwarded without control passes, where drops are random: two of four layers."""

LAB = ("tfrc", "udp", "none", "tfrc random", "udp random")
"""How the client gets the video: TFRC, or UDP, from a cache that gets it by TFRC; UDP all the way; and where the last
hop drops at random, instead of what its queue has no room for."""

MANY = ("tfrc", "udp", "none")


class Zink(Bed):
    """The test bed of Section 5.1: server, 1 Mbit/s, cache, 512 kbit/s, client."""

    name = "zink"
    title = (
        "M. Zink, C. Griwodz, J. Schmitt and R. Steinmetz, Scalable TCP-friendly Video Distribution for Heterogeneous "
        "Clients, MMCN 2003"
    )
    runs = 5
    assumed: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "access_delay_s": (0.01, 0.005, 0.02),
        "backbone_delay_s": (0.02, 0.05),
        "queue_packets": (20.0, 10.0, 30.0),
        "segment_bytes": (1000.0, 500.0, 1400.0),
        "jitter_s": (0.001, 0.0),
        "rfc3448_start": (1.0, 0.0),
        "options": (0.0, 1.0),
    }

    def conditions(self) -> tuple[str, ...]:
        """Return the names of what is simulated."""
        losses = (f"losses {loss:g}" for loss in LOSSES)
        return (*LAB, "internet tfrc", "internet udp", "copy 0", "copy 1", *losses)

    def repeats(self, variant: Variant, condition: str) -> int:
        """Return how often a condition is simulated; with other assumptions those of the lab alone."""
        if variant.name:
            return 3 if condition in LAB else 0
        return 50 if condition in MANY else self.runs

    def simulate(self, condition: str, assumed: Mapping[str, float], rng: np.random.Generator) -> dict[str, Any]:
        """Return what a run shows: see `zink_seen`."""
        kind, _, value = condition.partition(" ")
        if kind == "losses":
            return _independent(float(value), rng)
        if kind == "copy":
            run = sim.simulate(_copying(int(value), assumed), AFTER, rng)
            return copied(run.traffic[0], video(assumed, COPY_SECONDS))
        made = scenario(condition, assumed)
        return shown(sim.simulate(made, SECONDS + 10, rng), video(assumed, SECONDS))

    def rows(self, seen: Seen) -> Iterator[Claim]:
        """Yield what the text prints and says, judged."""
        yield from rows(seen)


def video(assumed: Mapping[str, float], seconds: float) -> VideoLayers:
    """Return four layers of 256 kbit/s."""
    return VideoLayers(size=int(assumed["segment_bytes"]), duration=seconds)


def scenario(condition: str, assumed: Mapping[str, float]) -> sim.Scenario:
    """Return the network, the flow to the cache, if there is one, and that to the client, which is the last one."""
    network, _, hop = condition.rpartition(" ") if condition.startswith("internet") else ("", "", condition)
    transport = hop.split()[0]
    paced, layers = _paced(assumed), video(assumed, SECONDS)
    links = _links(assumed)
    if network:
        links["access"] = sim.Link(assumed["access_delay_s"], INTERNET, queue=int(assumed["queue_packets"]))
        paced["cap"] = CAP if transport == "tfrc" else None
    elif hop.endswith("random"):
        links["access"] = _random(transport, assumed)
    to_cache = _flow(("backbone",), Layered(video=layers, **{**paced, "cap": None}), "server")
    if transport == "none":
        return sim.Scenario(links, (_flow(("backbone", "access"), Uncontrolled(layers), "client"),))
    onward = Relayed(of="server", video=layers, **paced) if transport == "tfrc" else Forwarded("server")
    return sim.Scenario(links, (to_cache, _flow(("access",), onward, "client")))


def _paced(assumed: Mapping[str, float]) -> dict[str, Any]:
    options = bool(assumed["options"])
    start = "rfc3448" if assumed["rfc3448_start"] else "rfc5348"
    return {"start": start, "discounting": options, "damping": options, "jitter": assumed["jitter_s"]}


def _links(assumed: Mapping[str, float]) -> dict[str, sim.Link]:
    queue = int(assumed["queue_packets"])
    return {
        "backbone": sim.Link(assumed["backbone_delay_s"], BACKBONE, queue=queue),
        "access": sim.Link(assumed["access_delay_s"], ACCESS, queue=queue),
        "up": sim.Link(assumed["backbone_delay_s"]),
    }


def _random(transport: str, assumed: Mapping[str, float]) -> sim.Link:
    """Return a last hop that lets on average 512 kbit/s pass: half, or what the equation makes of its losses."""
    delay = assumed["access_delay_s"]
    rtt = delay + assumed["backbone_delay_s"]
    p = loss_event_rate(ACCESS, rtt, int(assumed["segment_bytes"])) if transport == "tfrc" else HALF
    return sim.Link(delay, loss=sim.Bernoulli(p))


def _flow(there: tuple[str, ...], source: sim.Application, name: str) -> sim.Flow:
    return sim.Flow(there, ("up",), None, source, measured=True, name=name)


def _copying(mode: int, assumed: Mapping[str, float]) -> sim.Scenario:
    """Return a server and a cache, with losses both ways."""
    links = {
        "backbone": sim.Link(assumed["backbone_delay_s"], BACKBONE, queue=int(assumed["queue_packets"]),
                             loss=sim.Bernoulli(COPY_LOSS)),
        "up": sim.Link(assumed["backbone_delay_s"], loss=sim.Bernoulli(COPY_LOSS)),
    }  # fmt: skip
    stream = LcRtp(video=video(assumed, COPY_SECONDS), mode=mode, **_paced(assumed))
    return sim.Scenario(links, (_flow(("backbone",), stream, "server"),))


def _independent(loss: float, rng: np.random.Generator) -> dict[str, Any]:
    """Return what TFRC makes of independent losses, over 100 ms."""
    links = {"there": sim.Link(0.05, loss=sim.Bernoulli(loss)), "back": sim.Link(0.05)}
    flow = sim.Flow(("there",), ("back",), None, sim.Tfrc(), measured=True)
    return equation(sim.simulate(sim.Scenario(links, (flow,)), LOSS_SECONDS, rng))
