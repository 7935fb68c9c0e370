"""The rate of a link while a flow keeps it busy: whether it changes shows without any model of TCP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .delivered_series import DeliveredSeries

QUEUE = 1.1
"""A second in which even the shortest round trip is so many times the shortest of all has a queue from end to end."""

FEWEST = 20
"""Such seconds, below which nothing is said."""

STEADY, PACKETS = 0.03, 1.5
"""From a second to the next a link's rate changes by this share of it, or by so many packets, in the median; what
losses or an application limit changes by more."""

APART = 1.25
"""Quantiles of the rate so many times apart make a link whose rate varies."""

ENDS = 0.05, 0.95
"""These quantiles."""


@dataclass(frozen=True)
class BusyLink:
    """A link that a flow kept busy.

    Attributes
    ----------
    seconds : int
        In which it was busy, of those of the flow.
    low, high : float
        5 and 95% quantiles of its rate in these [packets/s].
    """

    seconds: int
    low: float
    high: float

    @property
    def varied(self) -> bool:
        """Whether its rate was not constant."""
        return self.high > APART * self.low

    def to_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {"busy_s": self.seconds, "low_pps": self.low, "high_pps": self.high, "varied": self.varied}

    def sentence(self) -> str:
        """Return what was seen, as a clause for people."""
        return (
            f"a link was busy in {self.seconds} s of the flow, and carried {self.low:.4g} to {self.high:.4g} packets/s "
            "(5 and 95% quantiles)"
        )


def busy_link(series: DeliveredSeries) -> BusyLink | None:
    """Return the link that a flow kept busy; None where none is seen.

    A queue that stands for a whole second hands on what the link carries, whatever the sender does meanwhile. That it
    is the link that sets the rate shows in how even the rate is from a second to the next.
    """
    rates, trips = np.array(series.acknowledged, dtype=np.float64), np.array(series.shortest)
    if not np.isfinite(trips).any():
        return None
    busy = trips >= QUEUE * np.nanmin(trips)  # not where no round trip ended
    if busy.sum() < FEWEST:
        return None
    pairs = busy[1:] & busy[:-1]
    changes = np.abs(np.diff(rates))[pairs]
    if not len(changes) or np.median(changes - np.maximum(STEADY * rates[1:][pairs], PACKETS)) > 0:
        return None
    low, high = np.quantile(rates[busy], ENDS).tolist()
    return BusyLink(int(busy.sum()), low, high)
