"""From which lead over playback nothing is late any more: the decay rate of a chain in steps."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..kernels.back_in_time import radius
from .steps import Steps

Floats = NDArray[np.float64]

RISK = 1e-13
"""Probability that what is followed no longer is late after all."""


def safe_lead(steps: Steps, due: float) -> float:
    """Return a lead [packets] from which a packet is ever late with a probability of 1e-13 at most, about.

    Infinite where the chain delivers no more than `due` packets per round. exp(-theta N) v is a martingale as for
    `stationary.decay.safe_lead`, over the moves of the steps.
    """
    if steps.chain.packets_per_round <= due * (1 + 1e-6):
        return math.inf
    drift = steps.mean - due * steps.elapsed
    pairs, pair = np.unique(steps.source * steps.entries + steps.target, return_inverse=True)
    source, target = pairs // steps.entries, pairs % steps.entries

    def at(theta: float) -> tuple[float, Floats]:
        tilt = np.exp(np.minimum(-theta * drift + theta**2 * steps.variance / 2, 500.0))
        weight = np.bincount(pair.ravel(), steps.weight * tilt, len(pairs)).astype(np.float64)
        vector = np.ones(steps.entries)
        return radius(source, target, weight, vector), vector

    largest = float(np.abs(drift).max())
    low = high = 30 / largest
    while at(high)[0] < 1 and high * largest < 1000:
        low, high = high, 2 * high
    while low == high or at(low)[0] > 1:
        low, high = low / 2, low
        if low * largest < 1e-6:
            return math.inf
    for _ in range(6):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if at(middle)[0] < 1 else (low, middle)
    vector = np.abs(at(low)[1])
    smallest = max(float(vector.min()), 1e-12 * float(vector.max()))
    return float(math.log(vector.max() / smallest) - math.log(RISK)) / low
