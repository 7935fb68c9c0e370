"""What is run: paths whose bottleneck takes two to four rates by turns, drawn from a seed before any was looked at."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np
from link import Link, long_run, switched

from tcpstream import Path, Varying

PACKET_BITS = 12_000
"""Of a packet on the link: 1500 bytes."""

TIMER = 0.2
"""The retransmission timer beyond R, as in Linux [s]."""


@dataclass(frozen=True)
class Case:
    """A path with a bottleneck that changes, and a video.

    Attributes
    ----------
    rates : tuple of float
        Of the bottleneck [packets/s], each in a regime.
    mean_stay : tuple of float
        [s].
    rtt, p : float
        Round trip of an empty queue [s], and the probability that a packet is lost before it reaches the bottleneck.
    queue : int
        Packets that wait before the bottleneck.
    load : float
        The bottleneck's mean rate over that of the video.
    """

    rates: tuple[float, ...]
    mean_stay: tuple[float, ...]
    rtt: float
    p: float
    queue: int
    load: float

    @property
    def rate(self) -> float:
        """The bottleneck's mean rate [packets/s]."""
        return long_run(self.rates, self.mean_stay)

    def link(self, seconds: float, rng: np.random.Generator) -> Link:
        """Draw how the rate changes in so many seconds."""
        bits = [PACKET_BITS * rate for rate in self.rates]
        return Link(*switched(bits, self.mean_stay, seconds, rng), self.queue)

    def path(self) -> Varying:
        """Return the path as the model is told."""
        regimes = [
            Path(loss=self.p, rtt=self.rtt, rto=self.rtt + TIMER, tcp="reno-sack", bottleneck=rate, buffer=self.queue)
            for rate in self.rates
        ]
        return Varying(regimes, mean_stay=self.mean_stay)

    def to_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return asdict(self)


FASTEST, SLOWER = (67.0, 300.0), (0.15, 0.8)
"""Ranges of the fastest rate [packets/s], and of the others over it."""

STAYS, ROUND_TRIPS, LOSSES = (4.0, 20.0), (0.03, 0.15), (1e-4, 3e-3)
"""Ranges of mean stays [s], R [s] and p; like rates they are uniform in their logarithm."""

ROOM, LEAST_ROOM = (0.5, 2.0), 10
"""Range of the queue in bandwidth-delay products of the fastest rate, and the least [packets]."""

LEAST_WINDOW = 2.0
"""A bottleneck of the model carries so many packets in R at least: cases are drawn again until all of theirs do."""

LOADS = (1.15, 2.0)
"""Range of `Case.load`."""

NUMBERS = (2, 3, 4)
"""Of regimes, by turns."""


def drawn(number: int, seed: int, loads: tuple[float, float] = LOADS) -> list[Case]:
    """Draw so many cases."""
    rng = np.random.default_rng(seed)
    return [_possible(regimes, loads, rng) for regimes in islice(cycle(NUMBERS), number)]


def _possible(regimes: int, loads: tuple[float, float], rng: np.random.Generator) -> Case:
    while True:
        case = _drawn(regimes, loads, rng)
        if min(case.rates) * case.rtt >= LEAST_WINDOW:
            return case


def _drawn(regimes: int, loads: tuple[float, float], rng: np.random.Generator) -> Case:
    def between(ends: tuple[float, float]) -> float:
        return float(f"{math.exp(rng.uniform(*np.log(ends))):.3g}")

    fastest = between(FASTEST)
    slower = [float(f"{fastest * between(SLOWER):.3g}") for _ in range(regimes - 1)]
    stays = tuple(between(STAYS) for _ in range(regimes))
    rtt, p = between(ROUND_TRIPS), between(LOSSES)
    queue = max(LEAST_ROOM, round(rng.uniform(*ROOM) * fastest * rtt))
    load = round(float(rng.uniform(*loads)), 2)
    return Case((fastest, *slower), stays, rtt, p, queue, load)
