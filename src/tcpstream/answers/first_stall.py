"""When a live stream stalls first: how long its backlog stays below a level."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..playout.latency import Latency
from .latency_lattices import Followed

Floats = NDArray[np.float64]

POINTS = 2000
"""Times at which the law is kept, beyond those that are followed round by round."""


class FirstStall:
    """The law of when the first stall begins.

    Parameters
    ----------
    on : Followed
    level : float
        mu tau [packets].
    length, start : float
        Of the stream, and its startup delay [rounds].
    whole : float
        Minus the logarithm of the probability that nothing stalls in all of the stream.
    relative : float
        By which part of itself it may be off.

    Attributes
    ----------
    times : (n,) array
        Playback that is shown [rounds], from 0 to the length of the stream.
    unstalled : (n,) array
        Probability that nothing stalls before.
    off : float
        Of any of these, and between them.
    """

    def __init__(
        self, on: Followed[Latency], level: float, length: float, start: float, whole: float, relative: float
    ) -> None:  # fmt: skip
        place = max(float(on.place(np.array(level))), float(on.latency.due))
        generated = math.floor(length + 1e-9)
        low, high = (on.latency.below(k, generated) for k in (math.floor(place), math.ceil(place)))
        followed = np.arange(min(max(len(low.logs), len(high.logs)), generated + 1))
        rounds = np.unique(np.append(followed, np.linspace(0, generated, POINTS).astype(np.int64)))
        share = place - math.floor(place)
        below, above = (np.array([one.passed(n)[0] for n in rounds.tolist()]) for one in (low, high))
        hazards = (1 - share) * below + share * above if share > 0 else below  # either may be infinite
        if level < on.latency.due * on.quantum * (1 - 1e-9):
            hazards[1:] = np.inf  # nothing is there after one round
        rounds, hazards = np.append(rounds, length + start), np.append(np.minimum(hazards, whole), whole)
        shown, at = rounds - start, np.exp(-hazards)
        begun = np.interp(0.0, shown, at)
        self.times = np.append(0.0, shown[shown > 0])
        self.unstalled = np.append(begun, at[shown > 0])
        steps = np.diff(np.exp(-hazards[: len(followed)]))
        self.off = min(1.0, float(np.abs(steps).max(initial=0.0)) + relative * min(whole, 1.0))

    def quantile(self, u: float) -> float:
        """Return when the first stall has begun [rounds] in a part u of the streams that stall."""
        stalled = 1 - self.unstalled
        return float(np.interp(u * stalled[-1], stalled, self.times))

    @property
    def mean(self) -> float:
        """Mean time of it [rounds], in streams that stall."""
        stalled = (1 - self.unstalled) / (1 - self.unstalled[-1])
        return float((np.diff(self.times) * (2 - stalled[1:] - stalled[:-1]) / 2).sum())
