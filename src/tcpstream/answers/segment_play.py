"""What a viewer sees of a stored video that is fetched in segments, one after the other, over one connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AccuracyError
from ..path import Path
from ..playout.segment_sessions import STALLS
from ..tcp import chain_of
from ..video import Video
from .drawing import Drawing
from .joined import Joined
from .segment_player import SegmentPlayer
from .segment_solve import packets_of, segments_of, solve_sessions
from .several import Several
from .viewing import target

if TYPE_CHECKING:
    from .drawn_sessions import DrawnSessions

Floats = NDArray[np.float64]

HOUR = 3600.0


class SegmentPlay(Joined, Drawing):
    """A stored video as a player shows it that fetches segments; made by `play`.

    The join time is from the first request on, or from the connection where round trips before it are given.

    Attributes
    ----------
    segments : int
        Of the video; a shorter last one counts as a whole one.
    packets : int
        Of a segment; the last one may be filled in part.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", tcp="reno-sack", loss=0.02, rtt=0.1, initial_window=10, max_window=10)
    >>> video = tcpstream.Video(packet_rate=40, duration=8)
    >>> seen = tcpstream.play(path, video, tcpstream.SegmentPlayer(segment=2, client_buffer=6))
    >>> seen
    <SegmentPlay: 4 segments of 2 s, T/mu = 1.761>
    >>> round(seen.mean_stalls, 4)
    0.0191
    """

    player: SegmentPlayer

    def __init__(self, path: Path, video: Video, player: SegmentPlayer) -> None:
        chain = chain_of(path)
        super().__init__(path, video, player, chain.packets_per_round / path.rtt)
        self._found = solve_sessions(path, video, player)
        self.segments, self.packets = segments_of(video, player), packets_of(path, video, player)
        start = min(player.starts_with, self.segments) - 1
        self._answers, self._errors = self._found.answers[start], self._found.errors[start]
        self._unstalled, self._unstalled_error = self._found.unstalled[start], self._found.unstalled_errors[start]

    @property
    def counted(self) -> bool:
        """Whether the law of the number of stalls is known: not where a video is longer than sessions settle in."""
        return self._found.counted

    @property
    def mean_stalls(self) -> float:
        """E[N], the mean number of stalls."""
        return float(self._answers[STALLS])

    @property
    def mean_download_time(self) -> float:
        """Mean time of a segment [s], from its request to its last packet."""
        return float(self._answers[STALLS + 3])

    @property
    def restart_share(self) -> float:
        """Share of the segments before which the connection was idle for longer than its timer."""
        return float(self._answers[STALLS + 4])

    @property
    def stalls_per_hour(self) -> float:
        """Stalls in an hour of playback, in the long run.

        Raises
        ------
        AccuracyError
            Where the pass ends before it is known.
        """
        if not np.isfinite(self._found.long_run_errors[0]):
            raise AccuracyError(
                f"stalls per hour are not known from a video of {self.length:g} s: sessions have not settled; give a "
                "longer duration"
            )
        return float(self._found.long_run[0]) * HOUR / self.player.segment

    @property
    def errors(self) -> dict[str, float]:
        """By how much answers may be off, by the names of the properties; `stall_counts` by the most of any number."""
        off = self._errors
        found = super().errors | {
            "mean_download_time": float(off[STALLS + 3]),
            "restart_share": float(off[STALLS + 4]),
            "no_stall_until": float(self._unstalled_error),
        }
        if np.isfinite(self._found.long_run_errors[0]):
            found["stalls_per_hour"] = float(self._found.long_run_errors[0]) * HOUR / self.player.segment
        return found

    def required_start_buffer(self, *, stall_probability: float | None = None, ratio: float | None = None) -> float:
        """Return the smallest start buffer [s], in whole segments, that meets a target, errors included.

        Parameters
        ----------
        stall_probability : float, optional
            Probability of any stall allowed, between 0 and 1.
        ratio : float, optional
            Rebuffering ratio allowed, between 0 and 1, instead.

        Raises
        ------
        InputError
            For a target out of range, or not exactly one.
        AccuracyError
            Where no start buffer that the client's buffer holds is known to meet it.
        """
        name, wanted = target(stall_probability, ratio)
        column = {"stall_probability": 0, "ratio": STALLS + 2}[name]
        found, off = self._found.answers[:, column], self._found.errors[:, column]
        meets = np.flatnonzero(found + off <= wanted)
        if not len(meets):
            known = "is known to meet" if (found <= wanted).any() else "meets"
            raise AccuracyError(
                f"no start buffer of up to {len(found)} segments {known} the target of {wanted:g}: with so many it is "
                f"{found[-1]:.3g}, and may be off by {off[-1]:.2g}; give a larger target, or client buffer"
            )
        return float(1 + meets[0]) * self.player.segment

    @overload
    def no_stall_until(self, seconds: float) -> float: ...

    @overload
    def no_stall_until(self, seconds: Several) -> NDArray[np.float64]: ...

    @overload
    def no_stall_until(self, seconds: ArrayLike) -> Any: ...

    def no_stall_until(self, seconds: ArrayLike) -> Any:
        """Return P(no stall in so many seconds of playback).

        Parameters
        ----------
        seconds : array_like
            [s], 0 to the duration.

        Returns
        -------
        float or ndarray
            Of the shape of `seconds`.

        Raises
        ------
        InputError
            For times out of range.
        """
        t = self._times(seconds)
        begun = np.ceil(t / self.player.segment * (1 - 1e-12)).astype(np.int64)
        asked = np.clip(begun - self.player.starts_with, 0, self.segments - self.player.starts_with)
        known = len(self._unstalled) - 1
        found = self._unstalled[np.minimum(asked, known)]
        if known and self._unstalled[known - 1] > 0:
            found = found * (self._unstalled[known] / self._unstalled[known - 1]) ** np.maximum(asked - known, 0)
        return float(found) if t.ndim == 0 else found

    def _draw(self, size: int, rng: np.random.Generator) -> DrawnSessions:
        from .draw import draw_segments

        how = self.path, self.video, self.player, self._found.downloads
        return draw_segments(*how, self.setup, size, rng, self.segments)

    def to_dict(self) -> dict[str, Any]:
        """Return the answers and what they were computed from, ready for JSON."""
        return self._with_header(
            {
                "segments": self.segments,
                "segment_packets": self.packets,
                **self._told(),
                "stalls_per_hour": self.stalls_per_hour if "stalls_per_hour" in self.errors else None,
                "download_time_s": {"mean": self.mean_download_time},
                "restart_share": self.restart_share,
            }
        )

    def summary(self) -> str:
        """Return a few lines for people."""
        known = "stalls_per_hour" in self.errors
        return "\n".join(
            [
                f"stored video of {self.length:g} s in {self.segments} segments of {self.player.segment:g} s, T/mu = "
                f"{1 / self.load:.4g}, at most {self.player.client_buffer:g} s held",
                f"join time: mean {self.mean_join_time:.3g} s, 99% of viewers at most "
                f"{self.join_time_quantile(0.99):.3g} s",
                f"P(any stall) {self.stall_probability:.4g}",
                f"stalls: mean {self.mean_stalls:.4g}" + (f", {self.stalls_per_hour:.4g} an hour" if known else ""),
                f"stalled in total: mean {self.mean_total_rebuffer:.4g} s",
                f"rebuffering ratio {self.rebuffering_ratio:.4g}",
            ]
        )

    @property
    def _joined(self) -> Floats:
        return self._found.joined

    def __repr__(self) -> str:
        return f"<SegmentPlay: {self.segments} segments of {self.player.segment:g} s, T/mu = {1 / self.load:.4g}>"
