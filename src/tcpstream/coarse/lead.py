"""From which lead over playback nothing is late any more: the decay rate of a chain in steps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.back_in_time import radius
from .merged import numbered
from .steps import Steps

Floats = NDArray[np.float64]

RISK = 1e-13
"""Probability that what is followed no longer is late after all."""

TILTS, HALVINGS = (0.5, 0.75), 7
"""Of the decay rate: half of it bounds well how long packets may still be late, more of it where a video starts with a
lead; and steps to find out how well."""


@dataclass(frozen=True)
class Decay:
    """How the probability of a late packet decays with the lead over playback.

    Attributes
    ----------
    rate : float
        theta [1 / packet].
    apart : float
        Logarithm of the ratio of the largest and the smallest probability, over the entries.
    """

    rate: float
    apart: float

    @property
    def safe(self) -> float:
        """Lead [packets] from which a packet is ever late with a probability of 1e-13 at most, about."""
        return (self.apart - math.log(RISK)) / self.rate


class Tilted:
    """The moves between entries, tilted by what they change the lead.

    exp(-theta N) v is a martingale as for `stationary.decay.safe_lead`, over the moves of the steps, where the
    largest eigenvalue is 1.
    """

    def __init__(self, steps: Steps, due: float) -> None:
        self._steps = steps
        self.drift = steps.mean - due * steps.elapsed
        self._pairs, self._pair = numbered(steps.source * steps.entries + steps.target)

    def at(self, theta: float, discount: float = 0.0) -> tuple[float, Floats]:
        """Return the largest eigenvalue and its right eigenvector, where a step counts exp(discount) times."""
        steps = self._steps
        exponent = -theta * self.drift + theta**2 * steps.variance / 2 + discount * steps.lag
        weight = np.bincount(self._pair, steps.weight * np.exp(np.minimum(exponent, 500.0)), len(self._pairs))
        vector = np.ones(steps.entries)
        source, target = self._pairs // steps.entries, self._pairs % steps.entries
        return radius(source, target, weight.astype(np.float64), vector), vector


def decay(steps: Steps, due: float) -> Decay | None:
    """Return how the probability of a late packet decays; None where the chain delivers no more than is `due`."""
    if steps.chain.packets_per_round <= due * (1 + 1e-6):
        return None
    tilted = Tilted(steps, due)
    largest = float(np.abs(tilted.drift).max())
    low = high = 30 / largest
    while tilted.at(high)[0] < 1 and high * largest < 1000:
        low, high = high, 2 * high
    while low == high or tilted.at(low)[0] > 1:
        low, high = low / 2, low
        if low * largest < 1e-6:
            return None
    for _ in range(6):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if tilted.at(middle)[0] < 1 else (low, middle)
    vector = np.abs(tilted.at(low)[1])
    smallest = max(float(vector.min()), 1e-12 * float(vector.max()))
    return Decay(low, math.log(vector.max() / smallest))


def safe_lead(steps: Steps, due: float) -> float:
    """Return a lead [packets] from which a packet is ever late with a probability of 1e-13 at most, about.

    Infinite where the chain delivers no more than `due` packets per round.
    """
    found = decay(steps, due)
    return math.inf if found is None else found.safe


@dataclass(frozen=True)
class LateAfter:
    """Bounds on the probability that a packet is late after some steps: the least of b exp(-theta x) at a lead x.

    Attributes
    ----------
    thetas, bounds : (n,) arrays
        theta [1 / packet] and b.
    """

    thetas: Floats
    bounds: Floats

    def at(self, lead: float) -> float:
        """Return the bound for a lead [packets] at the start."""
        return float((self.bounds * np.exp(-self.thetas * lead)).min())


def late_after(steps: Steps, due: float, rate: float, number: float) -> LateAfter:
    """Return bounds on the probability that a packet is late after so many steps from the start, for a decay rate.

    Where exp(-theta N) v grows by less than exp(-d) a round, it is at most v(start) / min v exp(-d n h - theta x).
    """
    tilted, thetas = Tilted(steps, due), rate * np.array(TILTS)
    return LateAfter(thetas, np.array([_late_after(tilted, steps, due, float(theta), number) for theta in thetas]))


def _late_after(tilted: Tilted, steps: Steps, due: float, theta: float, number: float) -> float:
    """Return b for one theta."""
    found = 1.0
    low, high = 0.0, theta * due  # as if nothing were delivered
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        radius, vector = tilted.at(theta, middle * steps.step)
        if radius < 1:
            low = middle
            smallest = float(np.abs(vector).min())
            if smallest > 0.0:  # else there is no bound
                apart = max(float(vector[steps.start]) / smallest, 1.0)
                found = min(found, apart * math.exp(-middle * steps.step * number))
        else:
            high = middle
    return found
