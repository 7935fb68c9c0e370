"""What a viewer sees whose player waits for each missing packet, while what is sent does not depend on the player."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
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
from .viewing import target

Floats = NDArray[np.float64]
Kind = TypeVar("Kind", bound=FirstPassage)

SEARCHED = 0.02
"""Of a round trip, to which a startup delay is searched."""

NEARER = 0.999
"""Of what is left of a target, that is aimed at next."""


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
        self.start, self._fine, self._coarse = delay_before(player.start, video.duration), fine, coarse
        self._length = Timeline.of(path, video).length
        self._drift = self._drift_from(self.start)

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

    def required_start(self, *, stall_probability: float | None = None, ratio: float | None = None) -> float:
        """Return the least startup delay [s] that meets a target, with the stated error on top of the answer.

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
            For a target finer than the accuracy of the solve.
        """
        name, wanted = target(stall_probability, ratio)
        if wanted <= RISK:
            raise AccuracyError(f"a target of {wanted:g} is finer than the solve, which tells stalls above {RISK:g}")

        if name == "ratio":
            return self._least(lambda start: sum(self._drift_from(start).mean(self._share)), wanted)
        stalls, aim = cache(self._stalls), wanted
        while True:  # the value alone is followed quickly: it is told what its error leaves of the target
            start = self._least(stalls, aim)
            chance, off = (float(one[0]) for one in self._drift_from(start, means=False).longer_than(np.zeros(1)))
            if chance + off <= wanted:
                return start
            if aim <= RISK:
                raise AccuracyError(f"a target of {wanted:g} is finer than the solve, which is off by {off:.2g}")
            aim *= NEARER * wanted / (chance + off)

    def _least(self, curve: Callable[[float], float], wanted: float) -> float:
        """Return the least startup delay [s] at which a curve is at most `wanted`."""
        R = self.path.rtt
        low = R if self._fine.latency.certain > 0 else 0.0
        return smallest_delay(curve, wanted, max(self.start, 2 * R), low=low, tolerance=R * SEARCHED)

    def _stalls(self, start: float) -> float:
        """Return P(any stall) for a startup delay [s], without its error."""
        packets, latency = self.video.packet_rate * start, self._fine.latency
        fine = self._fine.counted_from(packets)
        if packets < latency.certain * fine.quantum * (1 - 1e-9):
            return 1.0
        place = max(float(fine.place(np.array(packets))), math.ceil(latency.certain - 1e-9))
        around = math.floor(place + 1e-9), math.ceil(place - 1e-9)
        less, more = (max(latency.ended(fine.at_level(k), self._length)[0], 1e-300) for k in around)
        return -math.expm1(-less * (more / less) ** (place - around[0]))

    def _drift_from(self, start: float, *, means: bool = True) -> Drift:
        """Return the law of the drift for a startup delay [s], without `means` of P(S > 0) alone."""
        return Drift(self._fine, self._coarse, self.video.packet_rate, start, self._length, means=means)

    def to_dict(self) -> dict[str, Any]:
        """Return the answers and what they were computed from, ready for JSON."""
        return self._with_header(self._told(), **self._settings())

    def _settings(self) -> dict[str, Any]:
        """Return what is asked beside path, video and player."""
        return {}
