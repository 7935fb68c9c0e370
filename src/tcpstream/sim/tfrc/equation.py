"""The throughput equation of TCP, and its inverse."""

from __future__ import annotations

import math
from typing import Any

HALVINGS = 200
"""Of the interval in which a loss-event rate is looked for: more than numbers have digits."""


def throughput(size: float, rtt: float, p: float) -> float:
    """Return the rate of a TCP flow with b = 1 and t_RTO = 4 R [bytes/s] (RFC 5348, Section 3.1).

    X = s / (R sqrt(2p/3) + 4R 3 sqrt(3p/8) p (1 + 32 p^2)).

    Parameters
    ----------
    size : float
        s [bytes].
    rtt : float
        R [s], > 0.
    p : float
        Loss-event rate, 0..1, without 0.
    """
    return float(size / (rtt * round_trips(p)))


def round_trips(p: Any, sqrt: Any = math.sqrt) -> Any:
    """Return the round trips that a segment takes at a loss-event rate: they grow with p. Arrays need `numpy.sqrt`."""
    return sqrt(2 * p / 3) + 12 * sqrt(3 * p / 8) * p * (1 + 32 * p * p)


def loss_event_rate(segments: float) -> float:
    """Return the p at which the equation gives so many segments a round trip; 1 for fewer than it ever gives."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if segments * round_trips(middle) < 1:
            low = middle
        else:
            high = middle
    return high
