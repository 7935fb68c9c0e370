"""What a viewer sees of a live stream whose player waits for each missing packet: its latency only grows."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AccuracyError
from ..path import Path
from ..playout.latency import Latency
from ..video import Video
from .answer import probabilities
from .drawing import Drawing
from .drifting import Drifting
from .first_stall import FirstStall
from .latency_lattices import followed
from .player import Player
from .several import Several
from .timeline import Timeline
from .viewing import QUANTILES

if TYPE_CHECKING:
    from .drawn_sessions import DrawnSessions


class LivePlay(Drifting[Latency], Drawing):
    """A live stream as a player shows it that waits for each missing packet; made by `play`.

    Attributes
    ----------
    start : float
        Startup delay tau [s]: the latency at first.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> video = tcpstream.Video(packet_rate=10, duration=8)
    >>> seen = tcpstream.play(path, video, tcpstream.Player(start=1), live=True)
    >>> seen
    <LivePlay: start 1 s, T/mu = 5.722>
    >>> round(seen.stall_probability, 4)
    0.0082
    """

    def __init__(self, path: Path, video: Video, player: Player) -> None:
        fine, coarse = followed(path, Timeline.of(path, video).packets_due)
        super().__init__(path, video, player, fine, coarse)

    @property
    def errors(self) -> dict[str, float]:
        """By how much answers may be off, by the names of the properties; times [s]."""
        return super().errors | {"no_stall_until": self._first.off}

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
            Of the shape of `seconds`, linear between round trips.

        Raises
        ------
        InputError
            For times out of range.
        """
        t = self._times(seconds)
        found = np.interp(t / self.path.rtt, self._first.times, self._first.unstalled)
        return float(found) if t.ndim == 0 else found

    @property
    def mean_first_stall(self) -> float:
        """Mean time until the first stall begins [s of playback], of those viewers that see one.

        Raises
        ------
        AccuracyError
            Where nobody does.
        """
        self._check_seen()
        return self._first.mean * self.path.rtt

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
        self._check_seen()
        return self._first.quantile(wanted) * self.path.rtt

    def to_dict(self) -> dict[str, Any]:
        """Return the answers and what they were computed from, ready for JSON."""
        quantiles = {name: self.first_stall_quantile(u) for name, u in QUANTILES.items()} if self._seen else None
        first = None if quantiles is None else {"mean": self.mean_first_stall} | quantiles
        return super().to_dict() | {"first_stall_s": first}

    def _draw(self, size: int, rng: np.random.Generator) -> DrawnSessions:
        from .draw import draw_live

        return draw_live(self.path, self.video, self.player, size, rng)

    def _settings(self) -> dict[str, Any]:
        """Return what is asked beside path, video and player."""
        return {"live": True, "on_stall": self.player.on_stall}

    def summary(self) -> str:
        """Return a few lines for people."""
        return "\n".join(
            [
                f"live stream of {self.length:g} s, {self.start:g} s behind at first, T/mu = {1 / self.load:.4g}",
                f"P(any stall) {self.stall_probability:.4g}",
                f"latency drifts by {self.mean_total_rebuffer:.4g} s on average, for 99% of viewers by at most "
                f"{self.total_rebuffer_quantile(0.99):.3g} s",
                f"rebuffering ratio {self.rebuffering_ratio:.4g}",
            ]
        )

    def __repr__(self) -> str:
        return f"<LivePlay: start {self.start:g} s, T/mu = {1 / self.load:.4g}>"

    @cached_property
    def _first(self) -> FirstStall:
        chance, off = (float(one[0]) for one in self._drift.longer_than(np.zeros(1)))
        whole = float(-np.log1p(-min(chance, 1.0))) if chance < 1 else np.inf
        level, R = self._drift.level, self.path.rtt
        return FirstStall(self._fine, level, self._length, self.start / R, whole, off / max(chance, 1e-300))

    @property
    def _seen(self) -> bool:
        return self.stall_probability > self.longer_than_error(0.0)

    def _check_seen(self) -> None:
        if not self._seen:
            raise AccuracyError("no first stall: a stall is less probable than the error of the solve")
