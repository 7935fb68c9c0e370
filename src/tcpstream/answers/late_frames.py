"""Frames of a video that are late, and those that cannot be decoded, of a player that plays on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..coarse.resolution import FACTOR
from ..errors import AccuracyError, InputError
from ..kernels.judged_frames import Judged
from ..path import Path
from ..playout.frames_in_time import judge
from ..playout.stored_frames import judge_stored
from ..system import watch
from ..system.html_table import Rows
from ..system.threads import on_cores
from ..tcp import Chain, Varying, chain_of, constant
from ..video import Video
from .answer import delay_before, table
from .chain_lattices import on_lattices
from .plan import exact_seconds, plan
from .shown import Shown, off_by
from .timeline import ON_TIME, Timeline

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

WHOLE = 1e-6
"""Of a packet, that is none."""

MOST_MINUTES = 5.0
"""CPU time that the frames of a stored video may take."""


@dataclass(frozen=True, eq=False)
class LateFrames(Shown):
    """Fractions of the frames of a video over the startup delay; made by `StoredStreaming.late_frames` and others.

    Attributes
    ----------
    startup_delay : (n,) ndarray
        tau [s].
    late : (n,) ndarray
        Mean fraction of frames of which something has not arrived when they are decoded. A decoder that also decodes
        what comes late, without showing it, shows all others.
    undecodable : (n,) ndarray or None
        Mean fraction of frames that are late, or come after a late one in their group of pictures: what a decoder
        misses that drops what is late. None where key frames are not known.
    late_error, undecodable_error : (n,) ndarray
        By how much each may be off.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> frames = tcpstream.Frames(times=(0.0, 0.5), packets=(8.0, 10.0), keys=(True, False))
    >>> video = tcpstream.Video(curve=([0, 1], [0, 10]), frames=frames)
    >>> found = tcpstream.stored(path, video).late_frames([0, 1])
    >>> found.late.round(3).tolist()
    [0.575, 0.004]
    """

    startup_delay: Floats
    late: Floats
    undecodable: Floats | None
    late_error: Floats
    undecodable_error: Floats

    def to_pandas(self) -> pd.DataFrame:
        """Return the fractions and their errors as a table indexed by the startup delay [s].

        Raises
        ------
        MissingExtraError
            Without pandas.
        """
        names = ("late", "undecodable", "late_error", "undecodable_error")
        columns = {
            name: getattr(self, name) for name in names if self.undecodable is not None or name.startswith("late")
        }
        return table({"startup_delay_s": self.startup_delay} | columns)

    def _sections(self) -> Mapping[str, Rows]:
        late = zip(self.startup_delay.tolist(), self.late.tolist(), self.late_error.tolist())
        return {"late frames": [(f"startup delay {tau:g} s", off_by(one, off)) for tau, one, off in late]}

    def to_dict(self) -> dict[str, Any]:
        """Return the fractions, ready for JSON."""
        lost = self.undecodable
        return {
            "late_frame_fraction": self.late.tolist(),
            "undecodable_frame_fraction": None if lost is None else lost.tolist(),
            "frame_fraction_errors": {
                "late": self.late_error.tolist(),
                "undecodable": None if lost is None else self.undecodable_error.tolist(),
            },
        }


def late_frames(path: Path | Varying, video: Video, startup_delay: ArrayLike, *, live: bool = False) -> LateFrames:
    """Return the fractions of late and of undecodable frames at startup delays.

    Parameters
    ----------
    path : Path
    video : Video
        With frames, as `traces.read_media` reads them.
    startup_delay : array_like
        tau [s], 0 to 1e8.
    live : bool
        Whether its curve is that of an encoder, so that TCP cannot send what does not exist yet.

    Raises
    ------
    InputError
        For a video without frames, a delay out of range, or a path that varies.
    AccuracyError
        Where frames take too long to follow, or windows are too large.
    """
    path = constant(path, "late_frames")
    if video.frames is None:
        raise InputError(
            "frames are known of a video from the sizes of its frames only: ffprobe's JSON or CSV of time_s,bytes,key"
        )
    given = np.ravel(np.asarray(startup_delay, dtype=object))
    delays = np.array([delay_before(tau, video.duration) for tau in given])
    on = Timeline.of(path, video)
    if live:
        chains = [one for one in on_lattices(path, on.packets_due, 1.0, 1.0) if one is not None]
        cases = [(judged(on, tau, live), chain) for tau in delays.tolist() for chain in chains]
        found = on_cores(lambda case: judge(case[1], case[0]), cases)
    else:
        chain = chain_of(path)
        _check(chain, on)
        found = on_cores(lambda tau: judge_stored(chain, judged(on, tau, live)), delays.tolist())
    values = np.reshape(found, (len(delays), -1, 3))
    (late, lost, off), apart = values[:, 0].T, FACTOR * np.abs(values[:, 0] - values[:, -1])
    keys = video.frames.keys is not None
    return LateFrames(delays, late, lost if keys else None, off + apart[:, 0], off + apart[:, 1])


def _check(chain: Chain, on: Timeline) -> None:
    """Raise `AccuracyError` for a stored video that takes too long to follow packet by packet, frame by frame."""
    plan(chain, [on], 1)
    assert on.video.frames is not None
    minutes = exact_seconds(chain, [on]) * (2 + len(on.video.frames.times) / on.length) / 60
    if minutes > MOST_MINUTES:
        raise AccuracyError(
            f"{len(on.video.frames.times):,} frames would take about {minutes:.2g} minutes to follow, more than the "
            f"limit of {MOST_MINUTES:g}: take {watch.SHORTER} or a lower bit rate"
        )


def judged(on: Timeline, delay: float, live: bool) -> Judged:
    """Return the frames of a video on the clock of rounds: what round i delivers is there from (i - 1) R on."""
    frames, R = on.video.frames, on.rtt
    assert frames is not None
    rounds = np.floor((np.array(frames.times) + delay) / R + ON_TIME).astype(np.int64) + 1
    last, n, packets = int(rounds[-1]), len(rounds), max(1, math.ceil(on.video.packets - WHOLE))
    begins = np.zeros(n, dtype=np.bool_) if frames.keys is None else np.array(frames.keys, dtype=np.bool_)
    ends = np.append(np.flatnonzero(begins), n)
    exists = np.full(last + 3, packets, dtype=np.int64)
    if live:
        times = R * np.arange(last + 3)
        there = np.floor(on.video.due(times) + WHOLE).astype(np.int64)
        exists = np.where(times > on.length * R - ON_TIME, packets, there)
    left = ends[np.searchsorted(ends, np.arange(n + 1))] - np.arange(n + 1)
    needs = np.minimum(np.ceil(np.array(frames.packets) - WHOLE).astype(np.int64), packets)
    late_from = np.searchsorted(needs, np.arange(packets + 1), "right")
    return Judged(np.searchsorted(rounds, np.arange(last + 1), "right"), needs, late_from, left, exists)
