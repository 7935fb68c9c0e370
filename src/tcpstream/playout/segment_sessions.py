"""A player that fetches segments one after the other: one pass back over them.

The buffer is known when a segment is asked for, in steps of time. A download that takes longer than the buffer lasts is
a stall; one that takes less leaves the rest, and the segment on top. Where there is no room for another one the player
waits until there is, and the connection is idle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..system import watch
from .segment_clock import Clock, on_steps
from .segment_downloads import Downloads

Floats = NDArray[np.float64]

STALLS = 4
"""Numbers of stalls that are told apart: 0 to 3."""

ANY, MEAN, STALLED, FETCHING, IDLE, DAMPED = 0, STALLS, STALLS + 1, STALLS + 2, STALLS + 3, STALLS + 4
"""Columns: P(N > 0), which P(N = k) for k = 1 .. 3 follow; E[N]; E[S] [steps]; the time in which segments arrive
[steps]; idle times after which the window is another one; 1 - E[exp(-u S)] for some u."""

SETTLED, NEARLY = 1e-6, 1e-3
"""Part of the stalls of a segment by which those of any two states differ: where the pass ends; where it is settled."""


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
    """

    def __init__(self, found: Downloads, clock: Clock, resume: int, exponents: Floats) -> None:
        self._found, self._clock, self._resume, self._u = found, clock, resume, exponents
        self.levels = math.floor(clock.room) + 2  # the room lies between the last two
        self._size = 1 << (2 * self.levels - 1).bit_length()
        lasts = on_steps(found.chance, clock.rtt / clock.step)
        lags, P, _ = lasts.shape
        self._kernel = np.fft.rfft(lasts[: self.levels], self._size, axis=0)
        lag, level = np.arange(lags), np.arange(self.levels)

        def beyond(weights: Floats) -> Floats:
            """Return the sums over what lasts longer than each level."""
            sums = np.cumsum((lasts * weights[:, np.newaxis, np.newaxis])[::-1], axis=0)[::-1][1:]
            return np.concatenate([sums, np.zeros((max(self.levels - lags + 1, 0), P, P))])[: self.levels]

        self._late = beyond(np.ones(lags))
        self._excess = (beyond(lag.astype(np.float64)) - level[:, np.newaxis, np.newaxis] * self._late).sum(axis=2)
        self._damped = [beyond(np.exp(-u * lag)) * np.exp(u * level)[:, np.newaxis, np.newaxis] for u in exponents]
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
        value = np.zeros((self.levels, P, columns))
        filling = [np.zeros((P, columns)) for _ in range(self._resume)]  # by the segments held while stalled
        seen = [np.zeros((len(begins), columns))]
        gains, low, high, apart = np.zeros(columns), 0.0, math.inf, np.full(columns, math.inf)
        for n in range(segments):
            watch.at(n, segments, watch.SHORTER)
            before = value
            arrived = self._arrived(before) if n else np.zeros_like(value)
            value = self._asked(arrived, filling[0])
            filling = [self._filled(one) for one in filling[1:]]
            filling.append(self._at(value, self._resume * self._clock.segment))
            held = [self._at(value, k * self._clock.segment) for k in range(1, len(begins) + 1)]
            seen.append(np.array([begin @ one for begin, one in zip(begins, held)]))
            gain = value - before
            low, high = float(gain[..., MEAN].min()), float(gain[..., MEAN].max())
            gains, apart = gain.mean(axis=(0, 1)), np.ptp(gain, axis=(0, 1))
            if n > self._resume and high - low <= SETTLED * high + NONE:
                break
        settled = high - low <= NEARLY * high + NONE
        return SegmentSessions(np.array(seen).transpose(1, 0, 2), gains, apart, settled)

    def _at(self, value: Floats, media: int) -> Floats:
        """Return what is to come once some media are held, (n, columns); the connection is idle if there is no room."""
        room = self._clock.room
        if media <= room:
            held: Floats = value[media]
            return held
        full, share = math.floor(room), room - math.floor(room)
        at_room = (1 - share) * value[full] + share * value[full + 1]
        steps = self._found.after_idle
        halvings = self._clock.halvings(media - room, len(steps) - 1)
        moved: Floats = steps[halvings] @ at_room
        moved[:, IDLE] += halvings > 0
        return moved

    def _arrived(self, value: Floats) -> Floats:
        """Return what is to come once a segment has arrived, by what was held of the others."""
        after = np.empty_like(value)
        whole = max(math.floor(self._clock.room) + 1 - self._clock.segment, 0)
        after[:whole] = value[self._clock.segment : self._clock.segment + whole]
        for level in range(whole, self.levels):
            after[level] = self._at(value, level + self._clock.segment)
        return after

    def _asked(self, arrived: Floats, stalled: Floats) -> Floats:
        """Return what is to come when a segment is asked for, (levels, n, columns), from what follows it."""
        there = np.fft.rfft(arrived, self._size, axis=0)
        value = np.fft.irfft(self._kernel @ there, self._size, axis=0)[: self.levels]
        late = self._late.sum(axis=2)
        after = np.column_stack(
            [np.ones(len(stalled)), 1 - stalled[:, ANY], stalled[:, 1 : STALLS - 1], stalled[:, MEAN:]]
        )
        value[..., :DAMPED] += self._late @ after[:, :DAMPED]
        value[..., MEAN] += late
        value[..., STALLED] += self._excess
        value[..., FETCHING] += self._mean
        for k, damped in enumerate(self._damped):
            value[..., DAMPED + k] += late - damped @ (1 - stalled[:, DAMPED + k])
        return value

    def _filled(self, stalled: Floats) -> Floats:
        """Return what is to come while one more segment is fetched before playback goes on, (n, columns)."""
        value: Floats = self._whole @ stalled
        value[:, STALLED] += self._mean
        value[:, FETCHING] += self._mean
        for k, damped in enumerate(self._whole_damped):
            value[:, DAMPED + k] = 1 - damped @ (1 - stalled[:, DAMPED + k])
        return value
