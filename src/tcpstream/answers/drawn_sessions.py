"""Whole sessions as viewers see them, drawn at random: when playback starts, and each stall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, whole
from ..path import Path
from ..system.html_table import Rows
from ..tcp import Varying
from ..video import Video
from .player import Player
from .segment_player import SegmentPlayer
from .session_files import network_of_rounds, network_of_segments, p1203_input, write_csv
from .shown import Shown, inputs

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DrawnSessions(Shown):
    """Independent sessions of viewers; made by `sessions` of an answer.

    Attributes
    ----------
    path : Path
    video : Video
    player : Player or SegmentPlayer
    join_time : (n,) array
        When playback starts [s].
    stall_session : (k,) int array
        In which session each stall was: 0, 1, ...
    stall_start, stall_length : (k,) arrays
        After how much of the video it began, and for how long it lasted [s]; by sessions, in the order of time.
    packets : (rounds, n) int array or None
        In order after each round; None for a player that fetches segments.
    download_time, arrival_time : (n, segments) arrays or None
        How long each segment takes, and when it is there [s]; None for other players.
    setup : float
        Time before the first round, or request, that counts [s].

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> video = tcpstream.Video(packet_rate=40, duration=8)
    >>> import numpy as np
    >>> seen = tcpstream.play(path, video, tcpstream.Player(start=1))
    >>> drawn = seen.sessions(1000, np.random.default_rng(1))
    >>> len(drawn)
    1000
    >>> share = (drawn.stalls > 0).mean()
    >>> bool(0.18 < share < 0.27)  # the probability of a stall is 0.224
    True
    """

    path: Path | Varying
    video: Video
    player: Player | SegmentPlayer
    join_time: Floats
    stall_session: Ints
    stall_start: Floats
    stall_length: Floats
    setup: float
    packets: NDArray[np.int32] | None = None
    download_time: Floats | None = None
    arrival_time: Floats | None = None

    def __len__(self) -> int:
        """Return how many sessions there are."""
        return len(self.join_time)

    @property
    def length(self) -> float:
        """Of the video [s]."""
        assert self.video.duration is not None
        return self.video.duration

    @cached_property
    def stalls(self) -> Ints:
        """Number of stalls of each session."""
        return np.bincount(self.stall_session, minlength=len(self)).astype(np.int64)

    @cached_property
    def total_rebuffer(self) -> Floats:
        """S, the stalled time of each session [s]."""
        return np.bincount(self.stall_session, self.stall_length, len(self)).astype(np.float64)

    @property
    def rebuffering_ratio(self) -> Floats:
        """S / (S + length) of each session."""
        return self.total_rebuffer / (self.total_rebuffer + self.length)

    def of(self, session: int) -> dict[str, Any]:
        """Return a session, ready for JSON: what is told of it, with lists of its stalls and downloads.

        Raises
        ------
        InputError
            For a number that no session has.
        """
        i = self.numbered(session)
        mine = slice(*np.searchsorted(self.stall_session, [i, i + 1]).tolist())
        found = {
            "session": i,
            "join_time_s": float(self.join_time[i]),
            "stalls": int(self.stalls[i]),
            "total_rebuffer_s": float(self.total_rebuffer[i]),
            "rebuffering_ratio": float(self.rebuffering_ratio[i]),
            "stall_start_s": self.stall_start[mine].tolist(),
            "stall_length_s": self.stall_length[mine].tolist(),
        }
        if self.download_time is not None:
            found["download_time_s"] = self.download_time[i].tolist()
        return found

    def numbered(self, session: int) -> int:
        """Return the number of a session, or raise `InputError`."""
        i = whole("session", session, 0)
        if i >= len(self):
            raise InputError(f"session must be below {len(self):,}, which were drawn, got {i}")
        return i

    def buffer(self, seconds: ArrayLike) -> Floats:
        """Return the media that each session holds at some times.

        Parameters
        ----------
        seconds : (m,) array_like
            [s], on the clock of the join time.

        Returns
        -------
        (n, m) array
            [s]
        """
        t = np.ravel(np.asarray(seconds, dtype=float))
        before = np.cumsum(self.stall_length) - self.stall_length
        first = np.searchsorted(self.stall_session, self.stall_session)
        begins = self.join_time[self.stall_session] + self.stall_start + before - before[first]
        stood = np.zeros((len(self), len(t)))
        np.add.at(stood, self.stall_session, np.clip(t - begins[:, np.newaxis], 0, self.stall_length[:, np.newaxis]))
        played = np.clip(t - self.join_time[:, np.newaxis] - stood, 0, self.length)
        return np.maximum(self._there(t) - played, 0.0)

    def plot(self, *, until: float | None = None, ax: Axes | None = None) -> Axes:
        """Draw the media that sessions hold over time [s]; see `tcpstream.plots.held`."""
        from .. import plots

        return plots.held(self, until=until, ax=ax)

    def write_csv(self, file: str | PathLike[str]) -> None:
        """Write a row for each session: lists of stalls and downloads are separated by semicolons.

        Raises
        ------
        InputError, WriteError
            Where the file cannot be written.
        """
        write_csv((self.of(i) for i in range(len(self))), file)

    def p1203(
        self, session: int, *, codec: str, bitrate: float, resolution: str, fps: float, display_size: str, device: str,
        audio: tuple[str, float] | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Return a session as ITU-T P.1203 wants it in mode 0, ready for JSON.

        Parameters
        ----------
        session : int
        codec : {"h264"}
        bitrate : float
            Of the pictures alone [bit/s].
        resolution, display_size : str
            Width and height in pixels, as 1920x1080.
        fps : float
            Frames a second.
        device : {"pc", "handheld", "mobile"}
        audio : (str, float), optional
            Codec, aaclc, heaac, mp2 or ac3, and bit rate [bit/s]; without it nothing is said of sound.

        Returns
        -------
        dict
            I.GEN, I.13, I.23 and I.11, as the reference implementation of the authors of the standard reads them
            (itu-p1203 1.10). The join time is the first stall, at 0.

        Raises
        ------
        InputError
            For a value that the standard does not have, or out of range.
        """
        step = self.player.segment if isinstance(self.player, SegmentPlayer) else self.length
        return p1203_input(
            self.of(session), self.length, step, codec=codec, bitrate=bitrate, resolution=resolution, fps=fps,
            display_size=display_size, device=device, audio=audio,
        )  # fmt: skip

    def network(self, session: int) -> list[dict[str, float]]:
        """Return the throughput of a session as a network of Sabre, ready for JSON.

        Periods of about a second, in whole round trips, until the video is there, with a latency of a round trip. For
        a player that fetches segments a period for each, until the next request: it has the bit rate of the download,
        request included, and no latency.

        Returns
        -------
        list of dict
            ``duration_ms``, ``bandwidth_kbps`` and ``latency_ms`` of each period.

        Raises
        ------
        InputError
            For a number that no session has.
        """
        i = self.numbered(session)
        if self.download_time is not None and self.arrival_time is not None:
            assert isinstance(self.player, SegmentPlayer)
            bits = self.video.bitrate * self.player.segment
            return network_of_segments(self.download_time[i], self.arrival_time[i], bits)
        assert self.packets is not None
        return network_of_rounds(self.packets[:, i], self.path.rtt, 8 * self.video.packet_size)

    def to_pandas(self) -> pd.DataFrame:
        """Return a table of a row for each session, with lists of stalls and downloads.

        Raises
        ------
        MissingExtraError
            Without pandas.
        """
        from .answer import table

        rows = [self.of(i) for i in range(len(self))]
        return table({name: [row[name] for row in rows] for name in rows[0]})

    def _there(self, t: Floats) -> Floats:
        """Return the media that have arrived at some times."""
        if self.arrival_time is not None:
            assert isinstance(self.player, SegmentPlayer)
            count = np.array([np.searchsorted(one, t + 1e-9, side="right") for one in self.arrival_time])
            return np.minimum(count * self.player.segment, self.length)
        assert self.packets is not None
        at = np.floor((t - self.setup) / self.path.rtt + 1e-9).astype(np.int64)
        found = media(self.video, self.packets[np.clip(at, 0, len(self.packets) - 1)].T)
        return np.asarray(np.where(at >= 0, found, 0.0), dtype=np.float64)

    def _sections(self) -> Mapping[str, Rows]:
        rows = [
            ("sessions", f"{len(self):,}"),
            ("with stalls", f"{int((self.stalls > 0).sum()):,}"),
            ("stalls", f"{len(self.stall_start):,}"),
            ("join time, mean", f"{self.join_time.mean():.4g} s"),
            ("stalled, mean", f"{self.total_rebuffer.mean():.4g} s"),
        ]
        return {"drawn": rows, **inputs(self.path, self.video)}

    def __repr__(self) -> str:
        return f"<DrawnSessions: {len(self):,}, {len(self.stall_start):,} stalls>"


def media(video: Video, packets: NDArray[Any]) -> Floats:
    """Return how long the first packets of a video play [s]."""
    assert video.duration is not None
    if video.curve is None:
        return np.minimum(packets / video.packet_rate, video.duration)
    t, due = (np.array(one) for one in video.curve)
    above = np.searchsorted(due, packets, side="right")
    low = np.clip(above - 1, 0, len(t) - 2)
    rise = np.where(due[low + 1] > due[low], due[low + 1] - due[low], 1.0)
    return np.asarray(np.where(above == len(t), t[-1], t[low] + (packets - due[low]) / rise * (t[low + 1] - t[low])))
