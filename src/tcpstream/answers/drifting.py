"""What a viewer sees whose player waits for each missing packet, while what is sent does not depend on the player."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AccuracyError, InputError, real
from ..numerics.curves import smallest_delay
from ..path import Path
from ..tcp import chain_of
from ..video import Video
from .answer import check_duration, probabilities, table
from .latency_drift import RISK, Drift, FirstPassage
from .latency_lattices import Followed
from .player import Player
from .timeline import Timeline
from .viewing import QUANTILES, Viewing

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Kind = TypeVar("Kind", bound=FirstPassage)

SEARCHED = 0.02
"""Of a round trip, to which a startup delay is searched."""


class Drifting(Viewing, Generic[Kind]):
    """A video of which the largest lateness of a packet is followed: by so much playback falls behind in all.

    Attributes
    ----------
    start : float
        Startup delay tau [s].
    """

    player: Player

    def __init__(
        self, path: Path, video: Video, player: Player, fine: Followed[Kind],
        coarse: Followed[Kind] | None,
    ) -> None:  # fmt: skip
        check_duration(path, video)
        super().__init__(path, video, player, chain_of(path).packets_per_round / path.rtt)
        assert player.start is not None
        self.start, self._fine = player.start, fine
        self._length = Timeline.of(path, video).length
        self._drift = Drift(fine, coarse, video.packet_rate, self.start, self._length)

    @cached_property
    def stall_probability(self) -> float:
        """Probability that playback stalls at all."""
        return float(self.longer_than(0.0))

    def longer_than(self, seconds: ArrayLike) -> Any:
        """Return P(S > x), the probability that playback stalls for longer in total, or a live stream drifts by more.

        Parameters
        ----------
        seconds : array_like
            x [s], >= 0.

        Returns
        -------
        float or ndarray
            Of the shape of `seconds`.

        Raises
        ------
        InputError
            For a negative time.
        """
        x = np.array([real("time", one, "s") for one in np.ravel(np.asarray(seconds, dtype=object))])
        if (x < 0).any():
            raise InputError(f"time must not be negative, got {x.min():g} s")
        found = self._drift.longer_than(x)[0]
        return float(found[0]) if np.ndim(seconds) == 0 else found.reshape(np.shape(seconds))

    def longer_than_error(self, seconds: float) -> float:
        """Return by how much P(S > x) may be off, for one x >= 0 [s]."""
        return float(self._drift.longer_than(np.array([float(seconds)]))[1][0])

    def total_rebuffer_quantile(self, u: float) -> float:
        """Return the least x with P(S <= x) >= u, a quantile of the total stalled time [s].

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
    def mean_total_rebuffer(self) -> float:
        """E[S], the mean stalled time of the whole video [s]."""
        return self._mean[0]

    @property
    def rebuffering_ratio(self) -> float:
        """E[S / (S + length)], stalled over watched time; the start-up is not counted."""
        return self._ratio[0]

    @property
    def errors(self) -> dict[str, float]:
        """By how much answers may be off, by the names of the properties; times [s]."""
        return {
            "stall_probability": self.longer_than_error(0.0),
            "mean_total_rebuffer": self._mean[1],
            "rebuffering_ratio": self._ratio[1],
        }

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
            level = self._fine.level(rate * start)
            if level < latency.certain:
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
                "rebuffer_count": None,
                "rebuffering_ratio": self.rebuffering_ratio,
                "error_bound": self.errors,
            },
            **self._settings(),
        )

    def _settings(self) -> dict[str, Any]:
        """Return what is asked beside path, video and player."""
        return {}

    def to_pandas(self, seconds: ArrayLike) -> pd.DataFrame:
        """Return P(S > x) for some times x [s] as a table indexed by them.

        Raises
        ------
        MissingExtraError
            Without pandas.
        """
        x = np.ravel(np.asarray(seconds, dtype=float))
        return table({"total_rebuffer_s": x, "probability_longer": self.longer_than(x)})

    @cached_property
    def _mean(self) -> tuple[float, float]:
        return self._drift.mean(lambda x: x)

    @cached_property
    def _ratio(self) -> tuple[float, float]:
        return self._drift.mean(lambda x: np.asarray(x / (x + self.length)))
