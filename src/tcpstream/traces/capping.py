"""Whether something on the path caps the rate of a flow: a queue that grows, or a policer that drops."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .fates import Fates
from .intervals import wilson
from .transmissions import LOST

#: Losses closer than this many round trips belong to one burst.
_APART = 2
#: Rates this near to their median are the same.
_ALIKE = 0.1
#: Sums of squares that rounding alone makes.
_NOTHING = 1e-9

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Capping:
    """The rate between losses, and how the round trip goes with the packets in flight.

    Attributes
    ----------
    bursts : int
        Losses, those within two round trips counted as one.
    burst : float
        Packets lost in one, on average.
    rate : float
        Median of the rates from one to the next [packets/s].
    alike : int
        How many of these, `bursts` - 1, are within 10% of it.
    least : float
        Smallest round trip time [s].
    middle : float
        Its median [s].
    together : float
        Correlation of the logarithms of the round trip time and of the packets in flight, -1 to 1.
    first : float
        Share of the lost packets that were lost in the first burst.
    """

    bursts: int
    burst: float
    rate: float
    alike: int
    least: float
    middle: float
    together: float
    first: float

    @property
    def constant(self) -> bool:
        """Whether more than half of the rates between losses are the same (Wilson score, 95%)."""
        trials = self.bursts - 1
        return trials > 0 and wilson(self.alike, trials)[0] > 0.5


def capping(fates: Fates, trips: Floats, upstream: float, mss: int) -> Capping:
    """Return what the losses and the round trips of a flow say of a cap.

    Parameters
    ----------
    fates : Fates
        The transmissions and acknowledgements.
    trips : array of float
        Round trip times [s], of `fates.delays`.
    upstream : float
        Delay from the point of capture to the sender and back [s].
    mss : int
        Payload of a full packet [bytes].
    """
    sent, middle = fates.sent, float(np.median(trips))
    lost = sent.having(LOST)
    rows = np.flatnonzero(lost)
    begins = rows[np.diff(sent.time[rows], prepend=-np.inf) > _APART * middle]
    rate, alike = 0.0, 0
    if len(begins) > 1:
        rates = np.diff(np.cumsum(~lost)[begins]) / np.diff(sent.time[begins])
        rate = float(np.median(rates))
        alike = int(rate > 0) * int(np.count_nonzero(np.abs(rates - rate) <= _ALIKE * rate))
    end = int(np.searchsorted(rows, begins[1])) if len(begins) > 1 else len(rows)
    return Capping(
        bursts=len(begins),
        burst=len(rows) / max(len(begins), 1),
        rate=rate,
        alike=alike,
        least=float(trips.min()),
        middle=middle,
        together=_together(fates, trips, upstream, mss),
        first=end / max(len(rows), 1),
    )


def _together(fates: Fates, trips: Floats, upstream: float, mss: int) -> float:
    """Correlate round trip times with the packets in flight when they began."""
    sent, begun = fates.sent, fates.moments - fates.delays
    top = np.maximum.accumulate(sent.start + sent.length)[np.searchsorted(sent.time, begun, side="right") - 1]
    heard = np.searchsorted(fates.ack_times + upstream, begun, side="right")
    flight = -(-(top - np.concatenate((sent.start[:1], fates.acks))[heard]) // mss)
    used = (flight > 0) & (trips > 0)
    if not used.any():
        return 0.0
    x, y = (np.log(values) - np.log(values).mean() for values in (flight[used], trips[used]))
    scale = math.sqrt(float((x**2).sum()) * float((y**2).sum()))
    return float((x * y).sum()) / scale if scale > _NOTHING else 0.0
