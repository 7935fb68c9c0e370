"""What a viewer sees whose player waits for each missing packet, while what is sent does not depend on the player."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..numerics.curves import smallest_delay
from ..path import Path
from ..tcp import chain_of
from ..video import Video
from .answer import check_duration, delay_before, probabilities
from .latency_drift import RISK, Drift, FirstPassage
from .latency_lattices import Followed
from .player import Player
from .stalled_time import Waiting
from .timeline import Timeline

Floats = NDArray[np.float64]
Kind = TypeVar("Kind", bound=FirstPassage)

SEARCHED = 0.02
"""Of a round trip, to which a startup delay is searched."""


class Drifting(Waiting, Generic[Kind]):
    """A video of which the largest lateness of a packet is followed: by so much playback falls behind in all.

    Attributes
    ----------
    start : float
        Startup delay tau [s].
    """

    def __init__(
        self, path: Path, video: Video, player: Player, fine: Followed[Kind],
        coarse: Followed[Kind] | None,
    ) -> None:  # fmt: skip
        check_duration(path, video)
        super().__init__(path, video, player, chain_of(path).packets_per_round / path.rtt)
        assert player.start is not None
        self.start, self._fine = delay_before(player.start, video.duration), fine
        self._length = Timeline.of(path, video).length
        self._drift = Drift(fine, coarse, video.packet_rate, self.start, self._length)

    def _longer_than(self, seconds: Floats) -> tuple[Floats, Floats]:
        return self._drift.longer_than(seconds)

    def _mean_of(self, weight: Callable[[Floats], Floats]) -> tuple[float, float]:
        return self._drift.mean(weight)

    def total_rebuffer_quantile(self, u: float) -> float:
        """Return the least x with P(S <= x) >= u, a quantile of the total stalled time [s].

        It may be a packet too long where packets and rounds have no common lattice.

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
        latency, rate, known = self._fine.latency, self.video.packet_rate, dict[float, float]()

        def stalls(start: float) -> float:
            level = self._fine.level(rate * start)
            if level < latency.certain * (1 - 1e-9):
                return 1.0
            if level not in known:
                known[level] = float(-np.expm1(-latency.ended(level, self._length)[0]))
            return known[level]

        R = self.path.rtt
        return smallest_delay(stalls, wanted, max(self.start, 2 * R), low=R, tolerance=R * SEARCHED)

    def to_dict(self) -> dict[str, Any]:
        """Return the answers and what they were computed from, ready for JSON."""
        return self._with_header(self._told(), **self._settings())

    def _settings(self) -> dict[str, Any]:
        """Return what is asked beside path, video and player."""
        return {}
