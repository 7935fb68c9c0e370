"""Sessions of a player that fetches segments, drawn at random from the law of its downloads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .pick import Pick
from .segment_clock import halvings_after
from .segment_downloads import Downloads
from .watched import NOISE, Stalls

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Fetching(NamedTuple):
    """How a player fetches segments.

    Attributes
    ----------
    segments : int
        Of the video.
    segment, room : float
        Media of one, and media held up to which the next one is asked for [s].
    starts, resumes : int
        Segments with which playback starts, and resumes.
    rtt, timer : float
        [s]
    """

    segments: int
    segment: float
    room: float
    starts: int
    resumes: int
    rtt: float
    timer: float


class Fetched(NamedTuple):
    """Sessions.

    Attributes
    ----------
    joins : (n,) array
        When playback starts [s since the first request].
    stalls : Stalls
    took, arrived : (n, segments) arrays
        How long each download takes, and when it is over [s].
    """

    joins: Floats
    stalls: Stalls
    took: Floats
    arrived: Floats


def drawn_segments(found: Downloads, how: Fetching, sessions: int, rng: np.random.Generator) -> Fetched:
    """Return independent sessions."""
    rounds, points, _ = found.chance.shape
    laws = found.chance.transpose(1, 0, 2).reshape(points, -1)  # of rounds and the next point, by point
    fetch = Pick(*_rows(laws), points)
    idle = [Pick(*_rows(step), points) for step in found.after_idle]
    point, now = np.full(sessions, found.first), np.zeros(sessions)
    held, joins, since = np.zeros(sessions), np.full(sessions, np.nan), np.zeros(sessions)
    playing = np.zeros(sessions, dtype=np.bool_)
    took, arrived = np.empty((2, sessions, how.segments))
    back: list[Ints] = []
    places: list[Floats] = []
    lengths: list[Floats] = []
    at = np.full(sessions, np.nan)  # how much was played where a stall began
    for k in range(how.segments):
        lasts, point = np.divmod(fetch(point, rng) - point * rounds * points, points)
        took[:, k] = (1 + lasts) * how.rtt
        stands = playing & (took[:, k] > held + NOISE * how.rtt)
        since[stands], at[stands] = (now + held)[stands], k * how.segment
        held = np.where(playing, np.maximum(held - took[:, k], 0.0), held) + how.segment
        playing &= ~stands
        now = now + took[:, k]
        arrived[:, k] = now
        first = np.isnan(joins)
        ready = ~playing & (held > (np.where(first, how.starts, how.resumes) - 0.5) * how.segment)
        ready |= ~playing & (k + 1 == how.segments)
        joins[ready & first] = now[ready & first]
        again = np.flatnonzero(ready & ~first)
        back.append(again)
        places.append(at[again])
        lengths.append((now - since)[again])
        playing |= ready
        waits = np.where(playing, np.maximum(held - how.room, 0.0), 0.0)
        now, held = now + waits, held - waits
        halved = np.where(waits > 0, halvings_after(waits, how.rtt, how.timer, len(idle) - 1), 0)
        for halvings in np.unique(halved[halved > 0]).tolist():
            mine = halved == halvings
            point[mine] = idle[halvings](point[mine], rng) - point[mine] * points
    stalls = Stalls(np.concatenate(back), np.concatenate(places), np.concatenate(lengths)).in_order()
    return Fetched(joins, stalls, took, arrived)


def _rows(laws: Floats) -> tuple[Ints, Floats]:
    """Return the source of each row of some distributions, and its probability."""
    return np.repeat(np.arange(len(laws)), laws.shape[1]), laws.ravel()
