"""What is to come when a segment is asked for, on grids whose levels are equally far apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.fft import next_fast_len

from .segment_clock import Clock, on_steps
from .segment_levels import Grid, Levels, on_coarse_steps

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WHOLE = 1e-9
"""Distance from a whole number of round trips that is none."""


@dataclass(frozen=True, eq=False)
class Request:
    """Requests at the levels of one grid.

    Attributes
    ----------
    levels : slice
        Of the grid among all levels.
    lowest : int
        Levels below the lowest one of the grid down to which a download may lead.
    in_time : float
        Part of what lasts as long as a level that is in time: what lies between two levels is shared by them.
    read : sparse array
        Weights of all levels in what is held once the segment has arrived, from the lowest level on; as far as there
        is room.
    idle : (n,) array
        By how many timers the connection is idle where there is none.
    late, damped : (l, n, n) array, list of (l, n, n) arrays
        From one point to another, at the lowest levels: that the download takes longer than the level lasts, and that
        times exp(-u times the rest). None takes longer than any other level.
    late_from : (l, n) array
        The same to any point.
    excess : (l, n) array
        Mean of the rest [steps].
    """

    levels: slice
    lowest: int
    in_time: float
    read: sparse.csr_array
    idle: Ints
    late: Floats
    damped: list[Floats]
    late_from: Floats
    excess: Floats


class Requests:
    """Requests at the levels of grids whose levels are equally far apart.

    Parameters
    ----------
    chance : (rounds, n, n) array
        Of downloads of 1, 2, ... rounds, from one point to another.
    clock : Clock
    levels : Levels
    numbers : list of int
        Of the grids.
    exponents : (k,) array
        u of the columns 1 - E[exp(-u S)] [1/step].
    most : int
        Timers that an idle time is told from longer ones by.
    """

    def __init__(
        self, chance: Floats, clock: Clock, levels: Levels, numbers: list[int], exponents: Floats, most: int
    ) -> None:  # fmt: skip
        grids = [levels.grids[number] for number in numbers]
        apart = grids[0].apart
        self._ahead = 1 if apart > 1 else 0  # a download may be shared by times from -1 on
        cut = on_coarse_steps if apart > 1 else on_steps
        lasts = cut(chance, clock.rtt / clock.step / apart)
        lags = len(lasts) - self._ahead
        lowest = [min(math.floor(grid.low / apart + 1e-9), lags - 1) for grid in grids]
        kept = min(max(low + grid.size for low, grid in zip(lowest, grids)) + self._ahead, len(lasts))
        self._size = next_fast_len(max(
            max(low + self._ahead, kept - 1) + grid.size for low, grid in zip(lowest, grids)
        ), real=True)  # fmt: skip
        self._kernel = np.fft.rfft(lasts[:kept], self._size, axis=0)
        late = _beyond(lasts[self._ahead :], 0.0)
        late_from = late.sum(axis=2)
        excess = late_from + _beyond(late_from, 0.0)[:-1]
        damped = [_beyond(lasts[self._ahead :], u * apart) for u in exponents]
        trips = clock.segment * clock.step / clock.rtt
        together = abs(trips - round(trips)) < WHOLE  # what is held lasts for whole round trips, as downloads do
        half = (1 - (clock.rtt / clock.step / apart if together else 0.0)) / 2
        self.requests = []
        for number, grid, low in zip(numbers, grids, lowest):
            at = grid.low / apart + np.arange(grid.size)
            whole = np.floor(at + 1e-9).astype(np.int64)
            part = np.where(at - whole > 1e-9, at - whole, 0.0)
            here = whole < lags  # nothing lasts longer
            whole, part = whole[here], part[here]
            share = half - part  # of what lasts as long as the level: late
            equal = share[:, np.newaxis, np.newaxis] * lasts[self._ahead :][whole]
            decayed = [
                one[whole] * np.exp(u * apart * part)[:, np.newaxis, np.newaxis] + equal
                for u, one in zip(exponents, damped)
            ]
            rest = excess[whole] - part[:, np.newaxis] * late_from[whole]
            read, idle = self._arrivals(grid, low, clock, levels, most)
            missed = late[whole] + equal
            in_time = 1 - float(share[0]) if here[0] else 1.0
            self.requests.append(
                Request(levels.of(number), low, in_time, read, idle, missed, decayed, missed.sum(axis=2), rest * apart)
            )

    def _arrivals(
        self, grid: Grid, lowest: int, clock: Clock, levels: Levels, most: int
    ) -> tuple[sparse.csr_array, Ints]:  # fmt: skip
        """Return what is held once a segment has arrived, and how long the connection is idle where it is too much."""
        places = np.arange(-lowest, grid.size + self._ahead)
        media = grid.low + grid.apart * places + clock.segment
        over = media > clock.room + 1e-9
        idle = [clock.halvings(more, most) for more in (media[over] - clock.room).tolist()]
        return levels.read(media[~over]), np.array(idle, dtype=np.int64)

    def came(self, arrived: Floats, request: Request) -> Floats:
        """Return the mean, over downloads in time, of what is to come once a segment has arrived, (levels, n, ...)."""
        arrived[0] *= request.in_time
        there = np.fft.rfft(arrived, self._size, axis=0)
        low = request.lowest + self._ahead
        size = request.levels.stop - request.levels.start
        found: Floats = np.fft.irfft(self._kernel @ there, self._size, axis=0)[low : low + size]
        return found


def _beyond(weights: Floats, decay: float) -> Floats:
    """Return the sums over all later places, by place, each times exp(-decay) for each place in between."""
    found = np.zeros((len(weights) + 1, *weights.shape[1:]))
    for k in range(len(weights) - 2, -1, -1):
        found[k] = math.exp(-decay) * (weights[k + 1] + found[k + 1])
    return found
