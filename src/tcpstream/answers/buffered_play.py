"""What a viewer sees of a stored video with a player that starts, and resumes, when it holds some seconds of media."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AccuracyError
from ..path import Path
from ..system.threads import on_cores
from ..tcp import Varying, chain_of
from ..video import Video
from .answer import probabilities
from .drawing import Drawing
from .held_at_most import HeldAtMost
from .joined import Joined
from .joining import JoinTimes
from .once_full import solver_of
from .player import Player
from .several import Several
from .start_buffer import smallest_start_buffer
from .two_finenesses import COUNTS
from .viewing import QUANTILES, target

if TYPE_CHECKING:
    from .drawn_sessions import DrawnSessions

Floats = NDArray[np.float64]


LENGTHS = 48
"""Of the video from its begin, for which the probability of no stall is kept."""


class BufferedPlay(Joined, Drawing):
    """A stored video as a player with buffer thresholds shows it; made by `play`.

    The join time is from the first round of data on, or from the connection where round trips before it are given.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", tcp="reno-sack", loss=0.02, rtt=0.1, initial_window=10, max_window=10)
    >>> video = tcpstream.Video(packet_rate=40, duration=8)
    >>> seen = tcpstream.play(path, video, tcpstream.Player(start_buffer=1, resume_buffer=1))
    >>> seen
    <BufferedPlay: start buffer 1 s, resume buffer 1 s, T/mu = 1.761>
    >>> round(seen.no_stall_until(4.0), 4)
    0.9991
    """

    player: Player

    def __init__(
        self, path: Path | Varying, video: Video, player: Player, held: HeldAtMost | None = None
    ) -> None:  # fmt: skip
        chain = chain_of(path)
        super().__init__(path, video, player, chain.packets_per_round / path.rtt)
        assert player.start_buffer is not None
        self._solver = solver_of(chain, path, video, player, held)
        self._start_buffer = player.start_buffer
        self._found = self._solver.solve([player.start_buffer], player.resume_buffer, LENGTHS, on_cores)[0]
        self._answers, self._errors = self._found.answers, self._found.errors

    @property
    def counted(self) -> bool:
        """Whether stalls are counted: not for a player that resumes with the missing packet alone."""
        return self.player.resume_buffer > 0

    @property
    def mean_stalls(self) -> float | None:
        """E[N], the mean number of stalls; None without a resume buffer."""
        return float(self._answers[COUNTS]) if self.counted else None

    @property
    def errors(self) -> dict[str, float]:
        """By how much answers may be off, by the names of the properties; `stall_counts` by the most for any number."""
        joined = {
            "mean_join_time": self._join_times.mean_error * self.path.rtt, "join_time_cdf": self._join_times.error,
        }  # fmt: skip
        return super().errors | joined | {"no_stall_until": self._found.unstalled_error}

    def required_start_buffer(self, *, stall_probability: float | None = None, ratio: float | None = None) -> float:
        """Return the smallest start buffer [s] that meets a target with this resume buffer, errors included.

        Parameters
        ----------
        stall_probability : float, optional
            Probability of any stall allowed, between 0 and 1.
        ratio : float, optional
            Rebuffering ratio allowed, between 0 and 1, instead.

        Returns
        -------
        float
            Whole packets of media; half a percent, or a packet, less does not meet the target, or is not known to where
            players cannot be followed and only rare stalls are bounded.

        Raises
        ------
        InputError
            For a target out of range, or not exactly one.
        AccuracyError
            For a target finer than the accuracy of the solve; where it takes too long, or too much memory.
        """
        name, wanted = target(stall_probability, ratio)
        column = {"stall_probability": 0, "ratio": COUNTS + 2}[name]

        def missed(buffers: Floats) -> tuple[Floats, Floats]:
            return self._solver.missed((buffers / rate).tolist(), self.player.resume_buffer, column)

        rate = self.video.packet_rate
        return smallest_start_buffer(missed, wanted, rate * self._start_buffer, rate * self.length) / rate

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
            Of the shape of `seconds`, linear between 48 lengths.

        Raises
        ------
        InputError
            For times out of range.
        """
        t = self._times(seconds)
        found = np.interp(t, self._found.lengths, self._found.unstalled)
        return float(found) if t.ndim == 0 else found

    def first_stall_quantile(self, u: float) -> float:
        """Return a quantile of when the first stall begins, in seconds of playback, of those viewers that see one.

        Raises
        ------
        InputError
            For a probability out of range.
        AccuracyError
            Where nobody does.
        """
        wanted = float(probabilities("quantile", [u])[0])
        if self.stall_probability <= self.errors["stall_probability"]:
            raise AccuracyError("no first stall: a stall is less probable than the error of the solve")
        stalled = np.maximum.accumulate(1 - self._found.unstalled)
        return float(np.interp(wanted * stalled[-1], stalled, self._found.lengths))

    def _draw(self, size: int, rng: np.random.Generator) -> DrawnSessions:
        from .draw import draw_rounds

        return draw_rounds(self.path, self.video, self.player, self.setup, size, rng)

    def to_dict(self) -> dict[str, Any]:
        """Return the answers and what they were computed from, ready for JSON."""
        seen = self.stall_probability > self.errors["stall_probability"]
        first = {name: self.first_stall_quantile(u) for name, u in QUANTILES.items()} if seen else None
        return self._with_header(self._told() | {"first_stall_s": first})

    def summary(self) -> str:
        """Return a few lines for people."""
        lines = [
            f"stored video of {self.video.duration:g} s, T/mu = {1 / self.load:.4g}, playback starts with "
            f"{self.player.start_buffer:g} s of media and resumes with {self.player.resume_buffer:g} s",
            f"join time: mean {self.mean_join_time:.3g} s, 99% of viewers at most "
            f"{self.join_time_quantile(0.99):.3g} s",
            f"P(any stall) {self._said('stall_probability')}",
        ]
        if self.counted:
            lines.append(f"stalls: mean {self._said('mean_stalls')}")
        lines.append(f"stalled in total: mean {self._said('mean_total_rebuffer')} s")
        lines.append(f"rebuffering ratio {self._said('rebuffering_ratio')}")
        return "\n".join(lines)

    def _said(self, name: str) -> str:
        """Return an answer, or what it is at most where all of it may be error."""
        value, error = getattr(self, name), self.errors[name]
        return f"{value:.4g}" if error < value or not error else f"at most {value + error:.2g}"

    @property
    def _joined(self) -> Floats:
        """Chance that playback begins after 0, 1, 2, ... rounds."""
        return self._join_times.chance

    @cached_property
    def _join_times(self) -> JoinTimes:
        return self._solver.joined([self._start_buffer])[0]

    def __repr__(self) -> str:
        buffers = f"start buffer {self.player.start_buffer:g} s, resume buffer {self.player.resume_buffer:g} s"
        return f"<BufferedPlay: {buffers}, T/mu = {1 / self.load:.4g}>"
