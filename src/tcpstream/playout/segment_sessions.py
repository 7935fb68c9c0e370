"""A player that fetches segments one after the other: one pass back over them.

The buffer is known when a segment is asked for, in steps of time. A download that takes longer than the buffer lasts is
a stall; one that takes less leaves the rest, and the segment on top. Where there is no room for another one the player
waits until there is, and the connection is idle.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..system import watch
from .segment_clock import Clock, on_steps
from .segment_downloads import Downloads
from .segment_levels import Grid, Levels
from .segment_requests import Requests

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STALLS = 4
"""Numbers of stalls that are told apart: 0 to 3."""

ANY, MEAN, STALLED, FETCHING, IDLE, DAMPED = 0, STALLS, STALLS + 1, STALLS + 2, STALLS + 3, STALLS + 4
"""Columns: P(N > 0), which P(N = k) for k = 1 .. 3 follow; E[N]; E[S] [steps]; the time in which segments arrive
[steps]; idle times after which the window is another one; 1 - E[exp(-u S)] for some u."""

SETTLED, NEARLY = 1e-6, 1e-3
"""Part of the stalls of a segment by which those of any two states differ: where the pass ends; where it is settled."""

LONGER = 60
"""Segments that are followed at most once stalls are settled, until times of segments and idle times are nearly."""

NONE = 1e-13
"""Stalls of a segment that are as good as none."""


@dataclass(frozen=True)
class SegmentSessions:
    """What viewers see of segments that are asked for while playback has begun.

    Attributes
    ----------
    seen : (starts, n + 1, columns) array
        By how playback begins, of 0, 1, ..., n segments.
    gains : (columns,) array
        What a segment adds in the long run, to the columns that are means.
    apart : (columns,) array
        By how much what a segment adds differs still between any two sessions: `MEAN` says of the stalls.
    settled : bool
        Whether that is next to nothing.
    """

    seen: Floats
    gains: Floats
    apart: Floats
    settled: bool


class SegmentPass:
    """A pass back over segments.

    Parameters
    ----------
    found : Downloads
    clock : Clock
    resume : int
        Segments with which playback resumes after a stall.
    exponents : (k,) array
        u of the columns 1 - E[exp(-u S)] [1/step].
    grids : list of Grid, optional
        Of the levels of the buffer; without, all of them are a step apart.
    """

    def __init__(
        self, found: Downloads, clock: Clock, resume: int, exponents: Floats, grids: list[Grid] | None = None
    ) -> None:
        self._found, self._clock, self._resume, self._u = found, clock, resume, exponents
        grids = [Grid(0.0, 1, math.floor(clock.room) + 2)] if grids is None else grids
        self._levels = Levels(grids)
        self._room = self._levels.read([clock.room])
        most = len(found.after_idle) - 1
        self._requests = [
            Requests(found.chance, clock, self._levels, [k for k, grid in enumerate(grids) if grid.apart == apart],
                     exponents, most)
            for apart in sorted({grid.apart for grid in grids})
        ]  # fmt: skip
        lasts = on_steps(found.chance, clock.rtt / clock.step)
        lag = np.arange(len(lasts))
        self._whole = lasts.sum(axis=0)
        self._mean = np.einsum("tab,t->a", lasts, lag)
        self._whole_damped = [np.einsum("tab,t->ab", lasts, np.exp(-u * lag)) for u in exponents]

    def run(self, segments: int, begins: list[Floats]) -> SegmentSessions:
        """Return what viewers see of up to so many segments, or until sessions have settled.

        Parameters
        ----------
        segments : int
        begins : list of (n,) arrays
            Distribution of the point when playback begins, with 1, 2, ... segments.
        """
        P, columns = len(self._mean), DAMPED + len(self._u)
        value = np.zeros((self._levels.size, P, columns))
        resumed, started = self._held([self._resume]), self._held(list(range(1, len(begins) + 1)))
        filling = [np.zeros((P, columns)) for _ in range(self._resume)]  # by the segments held while stalled
        seen = [np.zeros((len(begins), columns))]
        gains, low, high, apart = np.zeros(columns), 0.0, math.inf, np.full(columns, math.inf)
        longer = LONGER
        before = value
        for n in range(segments):
            watch.at(n, segments, watch.SHORTER)
            before = value
            value = self._asked(before, filling[0], last=n == 0)
            filling = [self._filled(one) for one in filling[1:]]
            filling.append(resumed(value)[0])
            seen.append(np.array([begin @ one for begin, one in zip(begins, started(value))]))
            more = value[..., MEAN] - before[..., MEAN]
            low, high = float(more.min()), float(more.max())
            if n > self._resume and high - low <= SETTLED * high + NONE:
                times = value[..., FETCHING : IDLE + 1] - before[..., FETCHING : IDLE + 1]
                longer -= 1
                if longer < 0 or (np.ptp(times, axis=(0, 1)) <= NEARLY * times.max(axis=(0, 1)) + NONE).all():
                    break
        if segments:
            gains, apart = (value - before).mean(axis=(0, 1)), np.ptp(value - before, axis=(0, 1))
        settled = high - low <= NEARLY * high + NONE
        return SegmentSessions(np.array(seen).transpose(1, 0, 2), gains, apart, settled)

    def _held(self, segments: list[int]) -> Callable[[Floats], Floats]:
        """Return what makes of the values what is to come once so many segments are held, (segments, n, columns)."""
        media = np.array(segments, dtype=np.float64) * self._clock.segment
        over = media > self._clock.room + 1e-9
        read = self._levels.read(media[~over])
        idle = [self._clock.halvings(more, len(self._found.after_idle) - 1) for more in media[over] - self._clock.room]

        def held(value: Floats) -> Floats:
            return self._with_idle(value, read, np.array(idle, dtype=np.int64))

        return held

    def _with_idle(self, value: Floats, read: sparse.csr_array, idle: Ints) -> Floats:
        """Return what is to come at some levels, and then after some idle times from which there is room again."""
        _, P, columns = value.shape
        flat = value.reshape(len(value), -1)
        there = (read @ flat).reshape(-1, P, columns)
        if not len(idle):
            return there
        at_room = (self._room @ flat).reshape(P, columns)
        moved = np.array([step @ at_room for step in self._found.after_idle])
        moved[1:, :, IDLE] += 1
        return np.concatenate([there, moved[idle]])

    def _asked(self, value: Floats, stalled: Floats, last: bool) -> Floats:
        """Return what is to come when a segment is asked for, (levels, n, columns), from what follows it."""
        found = np.zeros_like(value)
        after = np.column_stack(
            [np.ones(len(stalled)), 1 - stalled[:, ANY], stalled[:, 1 : STALLS - 1], stalled[:, MEAN:]]
        )
        for group in self._requests:
            for request in group.requests:
                if not last:
                    found[request.levels] = group.came(self._with_idle(value, request.read, request.idle), request)
                here = found[request.levels][: len(request.late)]
                here[..., :DAMPED] += request.late @ after[:, :DAMPED]
                here[..., MEAN] += request.late_from
                here[..., STALLED] += request.excess
                for k, damped in enumerate(request.damped):
                    here[..., DAMPED + k] += request.late_from - damped @ (1 - stalled[:, DAMPED + k])
        found[..., FETCHING] += self._mean
        return found

    def _filled(self, stalled: Floats) -> Floats:
        """Return what is to come while one more segment is fetched before playback goes on, (n, columns)."""
        value: Floats = self._whole @ stalled
        value[:, STALLED] += self._mean
        value[:, FETCHING] += self._mean
        for k, damped in enumerate(self._whole_damped):
            value[:, DAMPED + k] = 1 - damped @ (1 - stalled[:, DAMPED + k])
        return value
