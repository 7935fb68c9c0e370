"""Times of a player that fetches segments, in steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Clock:
    """Times in steps.

    Attributes
    ----------
    step : float
        [s]
    segment : int
        Of media in a segment [steps].
    room : float
        Media held up to which there is room for another segment [steps].
    rtt, timer : float
        [s]
    """

    step: float
    segment: int
    room: float
    rtt: float
    timer: float

    def halvings(self, idle: float, most: int) -> int:
        """Return how often an idle time [steps] halves the window; the last packet was sent a round trip before it.

        Once for each timer after which it is not over, but for the first (`tcp_cwnd_restart` of Linux).
        """
        return int(halvings_after(idle * self.step, self.rtt, self.timer, most))


def halvings_after(idle: ArrayLike, rtt: float, timer: float, most: int) -> Ints:
    """Return the same for idle times [s], of their shape."""
    timers = (rtt + np.asarray(idle)) / timer
    return np.asarray(np.clip(np.ceil(timers - 1e-9) - 1, 0, most), dtype=np.int64)


def on_steps(chance: Floats, steps: float) -> Floats:
    """Return the chance of each time, (times, n, n), of downloads of 1, 2, ... rounds of so many steps.

    What lies between two times is shared by both.
    """
    at = (1 + np.arange(len(chance))) * steps
    low = np.floor(at + 1e-9).astype(np.int64)
    share = np.where(at - low > 1e-9, at - low, 0.0)[:, np.newaxis, np.newaxis]
    found = np.zeros((int(low[-1]) + 2, *chance.shape[1:]))
    np.add.at(found, low, chance * (1 - share))
    np.add.at(found, low + 1, chance * share)
    return found
