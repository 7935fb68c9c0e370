"""Conditions in which TFRC is looked at: chosen before any of them was run."""

from __future__ import annotations

import math
from typing import NamedTuple

from tcpstream.sim.tfrc.equation import loss_event_rate

SIZE = 1000
"""Of all packets of data [bytes]."""


class Equation(NamedTuple):
    """A flow with independent losses on a path without a queue: loss probability, round trip [s]."""

    loss: float
    rtt: float

    @property
    def key(self) -> str:
        """Name in the record."""
        return f"equation p={self.loss:g} R={self.rtt:g}"

    @property
    def seconds(self) -> float:
        """Length of a run: some 500 losses [s]."""
        return 500 / self.loss * self.rtt * math.sqrt(self.loss)


class Bottleneck(NamedTuple):
    """Flows on a link: how many of each kind, rate [bit/s], propagation there and back [s], queue, loss probability."""

    flows: int
    rate: float
    rtt: float
    queue: int
    loss: float = 0.0

    @property
    def key(self) -> str:
        """Name in the record."""
        drops = f"random {self.loss:.4f}" if self.loss else "drop-tail"
        return f"{self.flows} flows {self.rate / 1e6:g} Mbit/s R={self.rtt:g} queue={self.queue} {drops}"


def fitting(rate: float, rtt: float) -> int:
    """Return the packets that fit a link and its way back, a bandwidth-delay product."""
    return math.ceil(rate * rtt / (8 * SIZE))


EQUATION = [Equation(p, R) for p in (0.002, 0.005, 0.01, 0.02, 0.05) for R in (0.02, 0.1, 0.3)]

ALONE = [
    Bottleneck(1, rate, rtt, times * fitting(rate, rtt))
    for rate in (0.5e6, 2e6, 15e6)
    for rtt in (0.04, 0.12)
    for times in (1, 2)
]

NS2 = [
    Bottleneck(1, 0.512e6, 0.06, 20),
    Bottleneck(1, 1e6, 0.1, 25),
    Bottleneck(1, 2e6, 0.04, 20),
    Bottleneck(4, 4e6, 0.08, 40),
    Bottleneck(8, 8e6, 0.04, 80),
    Bottleneck(1, 10e6, 0.1, 100, 0.01),
    Bottleneck(1, 10e6, 0.04, 100, 0.03),
    Bottleneck(2, 4e6, 0.1, 50, 0.005),
]


def shared(flows: int, megabits: float, rtt: float, drops: str) -> Bottleneck:
    """Return a link that so many flows of TFRC and as many of TCP share.

    Its queue holds a bandwidth-delay product, at least 25 packets. Where packets are dropped at random, it is twice as
    long, and the loss probability is that at which the equation gives each flow its share, at the round trip without
    a queue.
    """
    rate = 1e6 * megabits
    queue = max(25, fitting(rate, rtt))
    if drops == "drop-tail":
        return Bottleneck(flows, rate, rtt, queue)
    return Bottleneck(flows, rate, rtt, 2 * queue, loss_event_rate(rate / (2 * flows) * rtt / (8 * SIZE)))


TCP = [
    shared(1, 2, 0.04, "drop-tail"),
    shared(1, 2, 0.12, "drop-tail"),
    shared(1, 15, 0.04, "random"),
    shared(1, 15, 0.12, "drop-tail"),
    shared(2, 2, 0.04, "random"),
    shared(2, 2, 0.12, "drop-tail"),
    shared(2, 15, 0.04, "drop-tail"),
    shared(2, 15, 0.12, "random"),
    shared(8, 2, 0.12, "drop-tail"),
    shared(8, 15, 0.04, "random"),
]
