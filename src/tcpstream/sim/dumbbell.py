"""The topology of Section 4 (Figure 3): sources and sinks on two sides of one bottleneck."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..errors import InputError, positive, real, whole
from .links import Link
from .losses import Loss
from .scenario import Flow, Scenario
from .senders import Tcp
from .sources import Backlogged, Requests, Source, Steady, web_requests

CONNECTIONS = 16
"""Connections of a web source."""

ACCESS_RATE = 100e6
"""Rate of the access links [bit/s]."""

ACCESS_QUEUE = 1000
"""Room in their queues [packets]."""

ACCESS_DELAY = (0.010, 0.020)
"""Their delays are drawn uniformly from here [s]."""

MOST_FLOWS, MOST_REQUESTS = 10_000, 10_000_000
"""Flows besides the video, and requests that are drawn for them."""

WARMUP = 20.0
"""Seconds in which all other flows start, at random, before the video does."""

LATEST_REQUEST = 3_000.0
"""Requests that are drawn for each connection last about as long as this [s]; after that they repeat."""


@dataclass(frozen=True)
class Dumbbell:
    """One video stream among file transfers, web traffic and datagrams, all through one drop-tail bottleneck.

    Parameters
    ----------
    rate : float
        Bottleneck [bit/s].
    delay : float
        Its propagation delay [s].
    queue : int
        Room at the bottleneck [packets].
    transfers : int
        TCP sources besides the video.
    web : int
        Web sources, of 16 connections each.
    round_trip : float, optional
        D, the round-trip propagation delay of the video [s]; by default its access links are drawn as all others.
    think : float
        Mean pause of a web connection between an answer and the next request [s].
    requests : Requests, optional
        Requests that all web connections make, each from another place on, instead of drawn ones.
    datagrams : float
        Constant bit rate of datagrams that cross the bottleneck as well [bit/s].
    loss : Bernoulli, RoundLoss, GilbertElliott or LossTrace, optional
        Of the bottleneck, besides what its queue drops.
    tcp : Tcp
        Of all flows.
    """

    rate: float
    delay: float
    queue: int
    transfers: int = 0
    web: int = 0
    round_trip: float | None = None
    think: float = 15.0
    requests: Requests | None = None
    datagrams: float = 0.0
    loss: Loss | None = None
    tcp: Tcp = field(default_factory=Tcp)

    def __post_init__(self) -> None:
        positive("rate of the bottleneck", self.rate, "bit/s")
        positive("mean pause", self.think, "s")
        Link(self.delay)
        for name, words, least in (
            ("queue", "queue", 1),
            ("transfers", "number of transfers", 0),
            ("web", "number of web sources", 0),
        ):
            object.__setattr__(self, name, whole(words, getattr(self, name), least))
        flows = self.transfers + CONNECTIONS * self.web
        if flows > MOST_FLOWS:
            raise InputError(f"transfers and web connections must be at most {MOST_FLOWS:,} together, got {flows:,}")
        if self.web and self.web * CONNECTIONS * LATEST_REQUEST / self.think > MOST_REQUESTS:
            raise InputError(f"mean pause of {self.web} web sources is too short, {self.think:g} s: fewer or longer")
        if real("rate of datagrams", self.datagrams, "bit/s") < 0:
            raise InputError(f"rate of datagrams must be at least 0 bit/s, got {self.datagrams:g} bit/s")
        if self.round_trip is not None and real("round trip", self.round_trip, "s") < 2 * self.delay:
            raise InputError(
                f"round trip must be at least twice the bottleneck's delay, {2 * self.delay:g} s, got "
                f"{self.round_trip:g} s"
            )

    def scenario(self, rng: np.random.Generator, video: Source | None = None) -> Scenario:
        """Return a scenario with drawn access delays, start times and requests.

        Parameters
        ----------
        rng : numpy.random.Generator
        video : Steady, Backlogged or Stored, optional
            What the video stream sends: live, or stored (default).
        """
        bottleneck = Link(self.delay, self.rate, queue=self.queue, loss=self.loss)
        links = {"bottleneck": bottleneck, "bottleneck back": Link(self.delay, self.rate, queue=self.queue)}

        def route(name: str, access: float | None = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
            left, right = rng.uniform(*ACCESS_DELAY, 2) if access is None else (access, access)
            for side, delay in ((f"{name} left", left), (f"{name} right", right)):
                for end in (side, f"{side} back"):
                    links[end] = Link(float(delay), ACCESS_RATE, queue=ACCESS_QUEUE)
            return (
                (f"{name} left", "bottleneck", f"{name} right"),
                (f"{name} right back", "bottleneck back", f"{name} left back"),
            )

        access = None if self.round_trip is None else (self.round_trip / 2 - self.delay) / 2
        flows = [Flow(*route("video", access), self.tcp, video or Backlogged(), start=WARMUP, measured=True)]
        for i in range(self.transfers):
            flows.append(Flow(*route(f"transfer {i + 1}"), self.tcp, start=float(rng.uniform(0, WARMUP))))
        if self.web:
            number = int(self.web * CONNECTIONS * LATEST_REQUEST / self.think)
            requests = self.requests or web_requests(rng, number, self.think, self.tcp.packet_size)
            for i in range(self.web):
                there, back = route(f"web {i + 1}")
                starts = rng.uniform(0, WARMUP, CONNECTIONS)
                flows += [Flow(there, back, self.tcp, requests, start=float(start)) for start in starts]
        if self.datagrams:
            there, _ = route("datagrams")
            steady = Steady(self.datagrams / (8 * self.tcp.packet_size))
            flows.append(Flow(there, (), None, steady, packet_size=self.tcp.packet_size))
        return Scenario(links, tuple(flows))
