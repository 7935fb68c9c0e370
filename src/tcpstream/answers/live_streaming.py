"""Answers for live streams (Section 3.3.1): the server's backlog is a queue."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..numerics.curves import smallest_delay
from ..numerics.lattices import Interpolated, Lattice, interpolated
from ..path import Path
from ..stationary.decay import decay_rate
from ..stationary.solve import VISIBLE_LEVELS, StationaryBacklog
from ..tcp import Varying, chain_of
from ..video import Video
from .answer import Streaming
from .several import Several

if TYPE_CHECKING:
    from ..transient.finite_backlog import FiniteBacklog

Floats = NDArray[np.float64]


class LiveStreaming(Streaming):
    """A live stream over a path; made by `live`.

    With D the server's backlog, N = mu tau - D, so one distribution of D gives every startup delay:
    ``f(tau) = E[min(m, (D - mu tau)+)] / m`` with m = mu R.
    """

    kind = "live"

    def required_delay(self, target: float | None = None) -> float:
        """Return the smallest startup delay [s] with at most `target` (default 1e-4) late packets, errors included.

        Raises
        ------
        InputError
            For a target out of range.
        AccuracyError
            For a target finer than the accuracy of the solve.
        """
        wanted = self._target(target)
        return smallest_delay(self.late_at_worst, wanted, self.path.rtt)

    @overload
    def lattice_error(self, startup_delay: float) -> float: ...

    @overload
    def lattice_error(self, startup_delay: Several) -> NDArray[np.float64]: ...

    @overload
    def lattice_error(self, startup_delay: ArrayLike) -> Any: ...

    def lattice_error(self, startup_delay: ArrayLike) -> Any:
        """Return the relative error of f from packets per round that fit no lattice; 0 where they do.

        Parameters
        ----------
        startup_delay : array_like
            tau [s], >= 0.

        Returns
        -------
        float or ndarray
            Of the shape of `startup_delay`; it comes on top of `error_bound`.
        """
        return self._over_delays(startup_delay, self._late_error)

    @overload
    def relative_error(self, startup_delay: float) -> float: ...

    @overload
    def relative_error(self, startup_delay: Several) -> NDArray[np.float64]: ...

    @overload
    def relative_error(self, startup_delay: ArrayLike) -> Any: ...

    def relative_error(self, startup_delay: ArrayLike) -> Any:
        """Return the relative error of f: `lattice_error`, by the name that it has for stored media."""
        return self.lattice_error(startup_delay)

    @cached_property
    def decay_rates(self) -> dict[str, float]:
        """Decay of an endless f in the startup delay [1/s], "asymptotic", set by rare long back-offs, and "visible".

        The first is the true rate of the far tail; above its bend, between f of 1e-4 and 1e-8, the second describes
        what is seen (back-off levels up to 3 only) and is an estimate. Neither bounds f without its constant.
        """
        chain, m = chain_of(self.path), self.timeline.packets_due
        return {
            "asymptotic": decay_rate(chain, m) * self.video.packet_rate,
            "visible": decay_rate(chain, m, VISIBLE_LEVELS) * self.video.packet_rate,
        }

    def columns(self, delays: Floats) -> dict[str, Any]:
        """Return the answers for an array of startup delays [s], by name."""
        return {
            "startup_delay_s": delays,
            "late_fraction": self.late_fraction(delays),
            "lattice_error": self.lattice_error(delays),
        }

    def _late_at(self, tau: float) -> float:
        return self._at(tau).late_fraction

    def _late_error(self, tau: float) -> float:
        return self._at(tau).error

    def _at(self, tau: float) -> Interpolated:
        """Return f at a startup delay [s] with its lattice error."""
        rounds, m = self.timeline.rounds(tau), self.timeline.packets_due
        return interpolated(m, [(lattice.packets_due, late(rounds)) for lattice, late in self._curves])

    def of_another(self, path: Path | Varying, video: Video) -> LiveStreaming:
        """Return the answers for a case with the same distribution in rounds."""
        return type(self)(path, video, self._backlogs)

    _backlogs: Any
    _curves: list[tuple[Lattice, Callable[[float], float]]]


class EndlessLive(LiveStreaming):
    """A live stream long enough for its stationary distribution to hold.

    Attributes
    ----------
    backlogs : tuple of StationaryBacklog
        Distribution of the server's backlog, with residual and truncation: one, or those of the neighbours of a rate
        that fits no lattice.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> tcpstream.live(path, tcpstream.Video(packet_rate=10))
    <EndlessLive: 10 packets/s, T/mu = 5.722>
    """

    def __init__(self, path: Path | Varying, video: Video, backlogs: tuple[StationaryBacklog, ...]) -> None:
        super().__init__(path, video)
        self.backlogs = self._backlogs = backlogs
        self._curves = [(one.lattice, one.late_fraction) for one in backlogs]

    def __reduce__(self) -> tuple[type[EndlessLive], tuple[Any, ...]]:
        """Pickle what the answers are made from: another thread may be asking for decay rates."""
        return type(self), (self.path, self.video, self.backlogs)

    @property
    def error_bound(self) -> float:
        """Bound on the error of f from residual and truncation; `lattice_error` comes on top."""
        return max(one.error_bound for one in self.backlogs)


class FiniteLive(LiveStreaming):
    """A live stream of finite length, from an empty backlog: the transient of the same chain (Figure 8a).

    After the end of generation what is left is still delivered, and judged until playback ends.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> result = tcpstream.live(path, tcpstream.Video(packet_rate=10, duration=8))
    >>> round(result.late_fraction(1.0), 4)
    0.001
    """

    _backlogs: tuple[FiniteBacklog, ...]

    def __init__(self, path: Path | Varying, video: Video, backlogs: tuple[FiniteBacklog, ...]) -> None:
        super().__init__(path, video)
        self._backlogs = backlogs
        self._curves = [(one.lattice, one.late_fraction) for one in backlogs]

    @property
    def error_bound(self) -> float:
        """Bound on the error of f, probability unaccounted for; `lattice_error` comes on top."""
        return max(one.error_bound for one in self._backlogs)
