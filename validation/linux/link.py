"""A link of the emulated path: its rate may change while packets wait before it."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

PACKET = 8 * 1500
"""Bits that a waiting packet is taken to have."""


@dataclass
class Link:
    """A link, which sends one packet after the other, and room for packets before it.

    Attributes
    ----------
    begins : sequence of float
        When each rate begins [s]; the first at 0, the last rate lasts.
    rates : sequence of float
        Each above 0 [bit/s].
    queue : int
        Packets that wait at most.
    """

    begins: Sequence[float]
    rates: Sequence[float]
    queue: int
    carried: list[float] = field(init=False)
    taken: float = 0.0

    def __post_init__(self) -> None:
        self.carried = [0.0]
        for begin, end, rate in zip(self.begins, self.begins[1:], self.rates, strict=False):
            self.carried.append(self.carried[-1] + (end - begin) * rate)

    def send(self, now: float, size: int) -> float | None:
        """Return when a packet of so many bytes has left the link [s]; None if there is no room for it."""
        by_now = self._could_have_sent(now)
        if (self.taken - by_now) / PACKET > self.queue:
            return None
        self.taken = max(self.taken, by_now) + 8 * size
        k = bisect_right(self.carried, self.taken) - 1
        return self.begins[k] + (self.taken - self.carried[k]) / self.rates[k]

    def _could_have_sent(self, now: float) -> float:
        """Return the bits that a link that is never idle has sent by then."""
        k = bisect_right(self.begins, now) - 1
        return self.carried[k] + (now - self.begins[k]) * self.rates[k]


def switched(
    rates: Sequence[float], mean_stay: Sequence[float], seconds: float, rng: np.random.Generator
) -> tuple[list[float], list[float]]:
    """Draw a link that stays at each rate for an exponential time, and then takes one of the others.

    Parameters
    ----------
    rates, mean_stay : sequence of float
        [bit/s], [s]. All other rates are equally probable next.
    seconds : float
        For how long at least.
    rng : numpy.random.Generator

    Returns
    -------
    begins, rates : list of float
        As of `Link`; the first rate is drawn with the long-run probabilities.
    """
    stays = np.asarray(mean_stay, dtype=float)
    state = int(rng.choice(len(stays), p=stays / stays.sum()))
    begins, chosen, now = [0.0], [rates[state]], float(rng.exponential(stays[state]))
    while now < seconds:
        others = [k for k in range(len(stays)) if k != state]
        state = int(rng.choice(others))
        begins.append(now)
        chosen.append(rates[state])
        now += float(rng.exponential(stays[state]))
    return begins, chosen


def constant(rate: float, queue: int) -> Link:
    """Return a link whose rate stays [bit/s]."""
    return Link([0.0], [rate], queue)


def long_run(rates: Sequence[float], mean_stay: Sequence[float]) -> float:
    """Return the mean rate of a link that `switched` draws [bit/s]."""
    return math.fsum(rate * stay for rate, stay in zip(rates, mean_stay, strict=True)) / math.fsum(mean_stay)
