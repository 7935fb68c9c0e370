"""What a viewer sees of a live stream whose player waits for each missing packet: its latency only grows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AccuracyError
from ..numerics.curves import smallest_delay
from ..path import Path
from ..tcp import chain_of
from ..video import Video
from .answer import check_duration, delay_before, probabilities
from .first_stall import FirstStall
from .latency_drift import RISK, Drift
from .latency_lattices import followed
from .player import Player
from .stalled_time import Waiting
from .timeline import Timeline
from .viewing import QUANTILES

Floats = NDArray[np.float64]

SEARCHED = 0.02
"""Of a round trip, to which a startup delay is searched."""


class LivePlay(Waiting):
    """A live stream as a player shows it that waits for each missing packet; made by `play`.

    Attributes
    ----------
    start : float
        Startup delay tau [s]: the latency at first.
    """

    def __init__(self, path: Path, video: Video, player: Player) -> None:
        check_duration(path, video)
        super().__init__(path, video, player, chain_of(path).packets_per_round / path.rtt)
        assert player.start is not None
        self.start, timeline = delay_before(player.start, video.duration), Timeline.of(path, video)
        self._length = timeline.length
        self._fine, coarse = followed(path, timeline.packets_due)
        self._drift = Drift(self._fine, coarse, video.packet_rate, self.start, self._length)

    def _longer_than(self, seconds: Floats) -> tuple[Floats, Floats]:
        return self._drift.longer_than(seconds)

    def _mean_of(self, weight: Callable[[Floats], Floats]) -> tuple[float, float]:
        return self._drift.mean(weight)

    def total_rebuffer_quantile(self, u: float) -> float:
        """Return the least x with P(S <= x) >= u, a quantile of the drift of the latency [s].

        Parameters
        ----------
        u : float
            0 < u < 1.

        Raises
        ------
        InputError
            For a probability out of range.
        AccuracyError
            For a probability so near 1 that it is not followed.
        """
        return self._drift.quantile(float(probabilities("quantile", [u])[0]))

    @property
    def errors(self) -> dict[str, float]:
        """By how much answers may be off, by the names of the properties; times [s]."""
        return super().errors | {"no_stall_until": self._first.off}

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

    def required_start(self, *, stall_probability: float) -> float:
        """Return the least startup delay [s] with at most this probability of any stall, between 0 and 1.

        Raises
        ------
        InputError
            For a target out of range.
        AccuracyError
            For a target finer than the accuracy of the solve.
        """
        wanted = float(probabilities("stall probability", [stall_probability])[0])
        if wanted <= RISK:
            raise AccuracyError(f"a target of {wanted:g} is finer than the solve, which tells stalls above {RISK:g}")
        latency, rate, known = self._fine.latency, self.video.packet_rate, dict[int, float]()

        def stalls(start: float) -> float:
            level = int(np.ceil(self._fine.place(np.array(rate * start)) - 1e-9))
            if level < latency.due:
                return 1.0
            if level not in known:
                known[level] = float(-np.expm1(-latency.ended(level, self._length)[0]))
            return known[level]

        R = self.path.rtt
        return smallest_delay(stalls, wanted, max(self.start, 2 * R), low=R, tolerance=R * SEARCHED)

    def to_dict(self) -> dict[str, Any]:
        """Return the answers and what they were computed from, ready for JSON."""
        return self._with_header(
            {
                "join_time_s": dict.fromkeys(("mean", *QUANTILES), self.start),
                "stall_probability": self.stall_probability,
                "total_rebuffer_s": {"mean": self.mean_total_rebuffer}
                | {name: self.total_rebuffer_quantile(u) for name, u in QUANTILES.items()},
                "first_stall_s": {"mean": self.mean_first_stall}
                | {name: self.first_stall_quantile(u) for name, u in QUANTILES.items()}
                if self._seen
                else None,
                "rebuffer_count": None,
                "rebuffering_ratio": self.rebuffering_ratio,
                "error_bound": self.errors,
            },
            live=True,
            on_stall=self.player.on_stall,
        )

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
