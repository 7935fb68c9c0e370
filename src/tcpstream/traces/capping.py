"""Whether something on the path caps the rate of a flow: a queue that grows, or a policer that drops."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..numerics.confidence import wilson
from .transmissions import LOST, Transmissions

#: Losses closer than this many round trips belong to one burst.
_APART = 2
#: Rates this near to their median are the same.
_ALIKE = 0.1
#: Packets sent in slow start over those in flight at its end, by geometric series: 2 if the window doubles every round,
#: 3 if it grows by half of itself, as with delayed acknowledgements.
_SLOW_START = 3
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
    first : float
        Share of the lost packets that were lost in the first burst.
    overshoot : bool
        Whether that one ended the first slow start: not many more packets were sent until then than in the last round.
    least, middle, high : float
        Smallest round trip time, median and 90% quantile [s].
    together : float
        Correlation of the logarithms of the round trip time and of the packets in flight, -1 to 1.
    """

    bursts: int
    burst: float
    rate: float
    alike: int
    first: float
    overshoot: bool
    least: float
    middle: float
    high: float
    together: float

    @property
    def constant(self) -> bool:
        """Whether more than half of the rates between losses are the same (Wilson score, 95%)."""
        trials = self.bursts - 1
        return trials > 0 and wilson(self.alike, trials)[0] > 0.5


def capping(sent: Transmissions, moments: Floats, trips: Floats, opening: int | None) -> Capping:
    """Return what the losses and the round trips of a flow say of a cap.

    Parameters
    ----------
    sent : Transmissions
        All of them.
    moments, trips : array of float
        Times of acknowledgements [s], and the round trip times that they end [s].
    opening : int or None
        Number of the first byte of the connection, from its SYN.

    Notes
    -----
    The packets that pass within the round trip that an acknowledgement ends are those in flight then, wherever the
    capture was taken.
    """
    flight = _passed(sent, moments, trips)
    middle, high = np.quantile(trips, (0.5, 0.9)).tolist()
    lost = sent.having(LOST)
    rows = np.flatnonzero(lost)
    begins = rows[np.diff(sent.time[rows], prepend=-np.inf) > _APART * middle]
    rate, alike, overshoot = 0.0, 0, False
    if len(begins) > 1:
        rates = np.diff(np.cumsum(~lost)[begins]) / np.diff(sent.time[begins])
        rate = float(np.median(rates))
        alike = int(rate > 0) * int(np.count_nonzero(np.abs(rates - rate) <= _ALIKE * rate))
    if len(rows) and opening is not None and int(sent.start[0]) == opening:
        now = sent.time[begins[:1]]
        trip = trips[np.searchsorted(moments, now).clip(max=len(trips) - 1)]
        overshoot = bool(rows[0] + 1 <= _SLOW_START * _passed(sent, now, trip)[0])
    end = int(np.searchsorted(rows, begins[1])) if len(begins) > 1 else len(rows)
    return Capping(
        bursts=len(begins),
        burst=len(rows) / max(len(begins), 1),
        rate=rate,
        alike=alike,
        first=end / max(len(rows), 1),
        overshoot=overshoot,
        least=float(trips.min()),
        middle=middle,
        high=high,
        together=_correlation(flight, trips),
    )


def _passed(sent: Transmissions, moments: Floats, trips: Floats) -> NDArray[np.int64]:
    """Return how many packets passed within a round trip [s] before each of these times [s]."""
    edges = [np.searchsorted(sent.time, at, side="right") for at in (moments - trips, moments)]
    return np.asarray(edges[1] - edges[0], dtype=np.int64)


def _correlation(flight: NDArray[np.int64], trips: Floats) -> float:
    used = (flight > 0) & (trips > 0)
    if not used.any():
        return 0.0
    x, y = (np.log(values) - np.log(values).mean() for values in (flight[used], trips[used]))
    scale = math.sqrt(float((x**2).sum()) * float((y**2).sum()))
    return float((x * y).sum()) / scale if scale > _NOTHING else 0.0
