"""Live streaming (Section 3.3.1): TCP can only send what exists, and the server's backlog is a queue."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, NoFiniteDelayError, choice
from ..numerics.curves import smallest_delay
from ..numerics.lattices import Interpolated, Lattice, interpolated, lattices, order
from ..path import Path
from ..stationary.decay import decay_rate
from ..stationary.solve import VISIBLE_LEVELS, StationaryBacklog, solve
from ..system.threads import on_cores
from ..tcp import Chain, chain_key, chain_of
from ..video import Video
from .answer import Streaming, check_length, check_shortest
from .plan import ACCURACIES, is_coarse_live
from .timeline import Timeline

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
        """Return the smallest startup delay [s] with at most `target` (default 1e-4) late packets.

        Raises
        ------
        InputError
            For a target out of range.
        AccuracyError
            For a target finer than the accuracy of the solve.
        """
        wanted = self._target(target)
        return smallest_delay(self._late_at, wanted, self.path.rtt)

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
        return self._over_delays(startup_delay, lambda tau: self._at(tau).error)

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

    def _at(self, tau: float) -> Interpolated:
        """Return f at a startup delay [s] with its lattice error."""
        rounds, m = self.timeline.rounds(tau), self.timeline.packets_due
        return interpolated(m, [(lattice.packets_due, late(rounds)) for lattice, late in self._curves])

    def of_another(self, path: Path, video: Video) -> LiveStreaming:
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
    """

    def __init__(self, path: Path, video: Video, backlogs: tuple[StationaryBacklog, ...]) -> None:
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
    """

    _backlogs: tuple[FiniteBacklog, ...]

    def __init__(self, path: Path, video: Video, backlogs: tuple[FiniteBacklog, ...]) -> None:
        super().__init__(path, video)
        self._backlogs = backlogs
        self._curves = [(one.lattice, one.late_fraction) for one in backlogs]

    @property
    def error_bound(self) -> float:
        """Bound on the error of f, probability unaccounted for; `lattice_error` comes on top."""
        return max(one.error_bound for one in self._backlogs)


def live(path: Path, video: Video, *, accuracy: str | None = None) -> LiveStreaming:
    """Solve live streaming (Section 3.3.1).

    Parameters
    ----------
    path : Path
        Loss, round trip time, retransmission timer, window limit.
    video : Video
        Constant rate. With a duration its transient from an empty backlog is solved (Figure 8a), without one the
        stationary distribution.
    accuracy : {"exact", "fine", "fast"}, optional
        Exact; within about 1% of f; or faster. By default exact where that is forecast to take a second at most, else
        fine: `lattice_error` says how near each answer is.

    Returns
    -------
    EndlessLive, FiniteLive or CoarseLive
        Answers for every startup delay.

    Raises
    ------
    NoFiniteDelayError
        Without a duration, when TCP does not achieve the playback rate (T <= mu): the backlog grows for ever.
    InputError
        For a playback curve, which live streaming does not take, and for an unknown accuracy.
    AccuracyError
        When the solve does not reach its accuracy or would need too much memory.

    Notes
    -----
    Wang, Kurose, Shenoy and Towsley, Section 3.3.1 and Appendix A; the order of capping follows the text.
    """
    if video.curve is not None:
        raise InputError("live streaming takes a constant playback rate, not a playback curve")
    if accuracy is not None:
        choice("accuracy", accuracy, ACCURACIES)
    timeline, chain = Timeline.of(path, video), chain_of(path)
    m, T = timeline.packets_due, chain.packets_per_round
    if video.duration is not None:
        check_shortest(path, video)
    elif T / path.rtt <= video.packet_rate * (1 + 1e-9):
        raise NoFiniteDelayError(T / path.rtt, video.packet_rate)
    if is_coarse_live(path, video, accuracy):
        from .coarse_live import coarse_live

        found = coarse_live(path, video, accuracy)
        if found is not None:
            return found
    if video.duration is not None:
        check_length(timeline.length, video)
        return FiniteLive(path, video, _finite(chain, m, timeline.length))
    endless = lattices(m, order(m, T, chain.n_cells), T * (1 - 1e-9))
    return EndlessLive(path, video, tuple(on_cores(lambda lattice: solve(chain, lattice), endless)))


def _finite(chain: Chain, packets_due: float, length: float) -> tuple[FiniteBacklog, ...]:
    """Return the backlogs of a stream of so many rounds, on the lattices around its packets per round."""
    from ..transient.finite_backlog import FiniteBacklog  # only here: a stream without end needs no transient

    found = lattices(packets_due, order(packets_due, chain.packets_per_round, chain.n_cells))
    return tuple(on_cores(lambda lattice: FiniteBacklog(chain, lattice, length), found))


def live_many(cases: Iterable[tuple[Path, Video]], *, accuracy: str | None = None) -> list[LiveStreaming]:
    """Solve live streaming for many paths and videos, on all cores.

    Cases without a duration that have the same TCP chain and the same packets per round, that is the same distribution
    in rounds, are solved once.

    Parameters
    ----------
    cases : iterable of (Path, Video)
    accuracy : optional
        As for `live`.

    Returns
    -------
    list of EndlessLive, FiniteLive or CoarseLive
        In the order of the cases; each as from `live`.

    Raises
    ------
    NoFiniteDelayError, InputError, AccuracyError
        As `live`, for the first case that fails.
    """
    cases = list(cases)
    groups: dict[Hashable, list[int]] = {}
    for i, one in enumerate(cases):
        groups.setdefault(backlog_key(*one), []).append(i)
    solved = on_cores(lambda members: live(*cases[members[0]], accuracy=accuracy), groups.values())
    results = {i: with_backlogs(result, *cases[i]) for members, result in zip(groups.values(), solved) for i in members}
    return [results[i] for i in range(len(cases))]


def backlog_key(path: Path, video: Video) -> Hashable:
    """Return what is equal for cases with the same distribution in rounds."""
    endless = video.duration is None and video.curve is None
    return (chain_key(path), round(Timeline.of(path, video).packets_due, 12)) if endless else (path, video)


def with_backlogs(result: LiveStreaming, path: Path, video: Video) -> LiveStreaming:
    """Return the answers for a case whose distribution has been solved for another."""
    return result if (result.path, result.video) == (path, video) else result.of_another(path, video)
