"""The answers for stored media (Section 3.3.2): TCP sends as fast as it can, whatever is played."""

from __future__ import annotations

from collections.abc import Hashable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AccuracyError, InputError
from ..numerics.curves import smallest_delay, smallest_meeting
from ..path import Path
from ..system.threads import on_cores
from ..tcp import Varying
from ..video import Video
from .answer import no_late_target
from .arrivals import Arrivals
from .several import Several
from .stored_rounds import StoredRounds

if TYPE_CHECKING:
    from .late_frames import LateFrames

Floats = NDArray[np.float64]

CERTAIN = 1e-12
"""A probability this close to 1 is 1: the rest is rounding."""


class StoredStreaming(StoredRounds):
    """Stored media over a path: every startup delay from one transient pass.

    Made by `stored.stored`.

    A result is a value: any number of threads may ask it, and copies and pickles give the same answers to the last bit,
    whatever was asked before. A copy shares what has been computed; a pickle is small, and computes it again.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> video = tcpstream.Video(packet_rate=40, duration=8)
    >>> result = tcpstream.stored(path, video)
    >>> result
    <StoredStreaming: 40 packets/s, T/mu = 1.431>
    >>> round(result.no_late_probability(2.0), 3)
    0.949
    """

    def __init__(self, path: Path | Varying, video: Video, horizon: str, arrivals: Arrivals) -> None:
        super().__init__(path, video, horizon, arrivals)
        self._no_late: dict[float, float] = {}
        self._no_late_of: dict[Hashable, float] = {}

    def __reduce__(self) -> tuple[type[StoredStreaming], tuple[Any, ...]]:
        """Pickle what the answers are made from."""
        return type(self), (self.path, self.video, self.horizon, self._arrivals)

    @overload
    def no_late_error(self, startup_delay: float) -> float: ...

    @overload
    def no_late_error(self, startup_delay: Several) -> NDArray[np.float64]: ...

    @overload
    def no_late_error(self, startup_delay: ArrayLike) -> Any: ...

    def no_late_error(self, startup_delay: ArrayLike) -> Any:
        """Return the relative error of 1 - alpha, the probability of a late packet, at startup delays [s].

        0 for an exact solve. On coarse lattices 0 at delays up to a round trip, or three where that is quick, and where
        an exact solve had to help: alpha is exact there. Where that takes too much, at the shortest delays alpha is the
        middle between its lower bound and that after a round trip, and as far off as these.
        """
        return self._over_delays(startup_delay, self._no_late_error)

    @overload
    def no_late_lower_bound(self, startup_delay: float) -> float: ...

    @overload
    def no_late_lower_bound(self, startup_delay: Several) -> NDArray[np.float64]: ...

    @overload
    def no_late_lower_bound(self, startup_delay: ArrayLike) -> Any: ...

    def no_late_lower_bound(self, startup_delay: ArrayLike) -> Any:
        """Return the lower bound of Theorem 1, prod (1 - P_i), on the probability that no packet is late."""
        return self._over_delays(startup_delay, self._lower_bound)

    @overload
    def no_late_probability(self, startup_delay: float) -> float: ...

    @overload
    def no_late_probability(self, startup_delay: Several) -> NDArray[np.float64]: ...

    @overload
    def no_late_probability(self, startup_delay: ArrayLike) -> Any: ...

    def no_late_probability(self, startup_delay: ArrayLike) -> Any:
        """Return alpha, the exact probability that no packet of the video is late.

        One more pass per delay, several at a time: late mass is removed in every round, what is left is alpha.

        Parameters
        ----------
        startup_delay : array_like
            tau [s], >= 0.

        Raises
        ------
        AccuracyError
            When the pass loses more probability than `error_bound`.
        """
        self._find_no_late(self._delays(startup_delay))
        return self._over_delays(startup_delay, self._no_late_at)

    def _find_no_late(self, delays: Floats) -> None:
        """Find alpha at several delays at a time."""
        missing = {self._alike(tau): tau for tau in sorted(set(delays.tolist()) - set(self._no_late))}
        if len(missing) > 1:
            on_cores(self._no_late_at, missing.values())

    def _alike(self, tau: float) -> Hashable:
        """Return what delays have in common that have the same alpha: what is due in each round."""
        return blake2b(np.ceil(self.due_by_round(tau)).tobytes(), digest_size=16).digest()

    def stalled(self, delays: Floats) -> tuple[Floats, Floats]:
        """Return the probability of a late packet, 1 - alpha, and its absolute errors.

        Parameters
        ----------
        delays : (n,) ndarray
            tau [s], 0 to 1e8.

        Returns
        -------
        late, errors : (n,) ndarray

        Raises
        ------
        AccuracyError
            As `no_late_probability`.
        """
        self._find_no_late(delays)
        late = np.array([1 - self._no_late_at(delay) for delay in delays.tolist()])
        share = np.array([self._no_late_error(delay) for delay in delays.tolist()])
        off = np.array([self._no_late_off(delay) for delay in delays.tolist()])
        errors = np.maximum(late * np.where(np.isfinite(share), share, 1.0), off)
        return late, np.minimum(errors, 1.0) + self._no_late_floor

    def stalled_at_worst(self, tau: float) -> float:
        """Return 1 - alpha at one valid startup delay [s] and its stated error together, as `late_at_worst`."""
        late, off = self.stalled(np.array([tau]))
        return float(late[0] + off[0])

    def late_frames(self, startup_delay: ArrayLike) -> LateFrames:
        """Return the fractions of late frames, and of those that cannot be decoded.

        Parameters
        ----------
        startup_delay : array_like
            tau [s], >= 0.

        Returns
        -------
        LateFrames

        Raises
        ------
        InputError
            For a video without frames, or a delay out of range.
        AccuracyError
            Where frames take too long to follow.
        """
        from .late_frames import late_frames

        return late_frames(self.path, self.video, startup_delay)

    def required_delay(self, target: float | None = None, *, no_late: float | None = None) -> float:
        """Return the smallest startup delay that meets a target, with the stated error on top of the answer.

        Parameters
        ----------
        target : float, optional
            Late fraction f wanted, 0 < target < 1; 1e-4 if nothing is given.
        no_late : float, optional
            Probability wanted that no packet is late, 0 < no_late < 1, instead.

        Returns
        -------
        float
            tau [s]; for `no_late` at most a hundredth of a round too long, or a round trip where less may do: what
            shorter delays do is known from an exact solve only.

        Raises
        ------
        InputError
            For a target out of range, or both given.
        AccuracyError
            For a target finer than the accuracy of the solve.
        """
        if no_late is None:
            wanted = self._target(target)
            return smallest_delay(self.late_at_worst, wanted, self.path.rtt)
        if target is not None:
            raise InputError("give a late fraction or a probability of no late packet as the target, not both")
        wanted = no_late_target(no_late)
        if 1 - wanted < 10 * self.error_bound:
            raise AccuracyError(
                f"a probability of a late packet of {1 - wanted:.1e} is finer than ten times the error bound of "
                f"{self.error_bound:.1e}: give a smaller probability of no late packet"
            )
        return self._delay_without_late(wanted)

    def to_dict(self, delays: ArrayLike) -> dict[str, Any]:
        """Return the answers for startup delays [s] and what they were computed from, ready for JSON."""
        return super().to_dict(delays) | {"quantum_packets": self.quantum, "quantum_error": self.quantum_error}

    def columns(self, delays: Floats) -> dict[str, Any]:
        """Return the answers for an array of startup delays [s], by name."""
        return {
            "startup_delay_s": delays,
            "late_fraction": self.late_fraction(delays),
            "no_late_probability": self.no_late_probability(delays),
            "no_late_lower_bound": self.no_late_lower_bound(delays),
        }

    def _lower_bound(self, tau: float) -> float:
        P = self.late_probability_per_round(tau)
        if P.max() >= 1 - CERTAIN:
            return 0.0
        return float(np.exp(np.log1p(-P).sum()))

    def _no_late_at(self, tau: float) -> float:
        if tau not in self._no_late:
            alike = self._alike(tau)
            if alike not in self._no_late_of:
                alpha, unaccounted = self._arrivals.never_late(np.ceil(self.due_by_round(tau)))
                self._accept(unaccounted, tau)
                self._no_late_of[alike] = min(max(alpha, 0.0), 1.0)
            self._no_late[tau] = self._no_late_of[alike]
        return self._no_late[tau]

    @property
    def alpha_known_from(self) -> float:
        """Startup delay [s] from which alpha takes no exact solve beside this one."""
        return 0.0

    def _no_late_error(self, tau: float) -> float:  # noqa: ARG002
        """Return the relative error of 1 - alpha at one valid startup delay [s]."""
        return self.quantum_error

    def _no_late_off(self, tau: float) -> float:  # noqa: ARG002
        """Return by how much 1 - alpha may be off at least, however small it is."""
        return 0.0

    @property
    def _no_late_floor(self) -> float:
        """Error of 1 - alpha that is not relative."""
        return self.error_bound

    def _delay_without_late(self, wanted: float) -> float:
        """Search between delays at which single rounds already miss, and at which Theorem 1 already meets."""
        R = self.path.rtt
        if self.stalled_at_worst(0.0) <= 1 - wanted:
            return 0.0
        low = smallest_delay(lambda tau: float(self.late_probability_per_round(tau).max()), 1 - wanted, R)
        high = max(low, R)
        while self._lower_bound(high) < wanted:
            high *= 2
        high = smallest_meeting(lambda tau: self._lower_bound(tau) >= wanted, 0.0, high, R / 8)
        low = min(low, high)
        return smallest_delay(self.stalled_at_worst, 1 - wanted, high, low=low, tolerance=R / 250)
