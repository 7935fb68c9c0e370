"""Solving live streaming (Section 3.3.1): TCP can only send what exists."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

from ..errors import AccuracyError, InputError, NoFiniteDelayError, TimeLimitError, choice
from ..numerics.lattices import lattices, order
from ..path import Path
from ..stationary.solve import solve
from ..system.threads import on_cores
from ..tcp import Chain, Varying, chain_key, chain_of, constant
from ..video import Video
from .answer import check_length, check_pair, check_shortest, pair_of
from .live_streaming import EndlessLive, FiniteLive, LiveStreaming
from .plan import ACCURACIES, check_time, endless_lattices, is_coarse_live
from .timeline import Timeline

if TYPE_CHECKING:
    from ..transient.finite_backlog import FiniteBacklog

__all__ = ["EndlessLive", "FiniteLive", "LiveStreaming", "backlog_key", "live", "live_many", "with_backlogs"]

GROWTHS = ("unlimited", "limited")

ENDLESS = "reno-sack"
"""TCP of the streams without end that are solved on a path that varies: with CUBIC the solve takes minutes and may not
converge."""

INSTEAD = "give the stream a duration, as of 1h"


def live(
    path: Path | Varying, video: Video, *, accuracy: str | None = None, growth: str = "unlimited"
) -> LiveStreaming:
    """Solve live streaming (Section 3.3.1).

    Parameters
    ----------
    path : Path or Varying
        Loss, round trip time, retransmission timer, window limit; or regimes of them.
    video : Video
        Constant rate. With a duration its transient from an empty backlog is solved (Figure 8a), without one the
        stationary distribution.
    accuracy : {"exact", "fine", "fast"}, optional
        Exact; within about 1% of f; or faster. By default exact where that is forecast to take a second at most and,
        without a duration, the backlog has a lattice at this rate, else fine: `lattice_error` says how near each answer
        is.
    growth : {"unlimited", "limited"}
        Whether windows grow on while the stream does not use them up, as in the paper, or stay, and fall after a
        retransmission timer, as Linux's do; the latter without a duration and a bottleneck only.

    Returns
    -------
    EndlessLive, FiniteLive, CoarseLive or LimitedLive
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
    On a path that varies a stream with a duration is solved exactly, one without on coarse lattices, for reno-sack.
    Wang, Kurose, Shenoy and Towsley, Section 3.3.1 and Appendix A; the order of capping follows the text.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> result = tcpstream.live(path, tcpstream.Video(packet_rate=10))
    >>> round(result.late_fraction(1.0), 5)
    0.00117
    >>> round(result.required_delay(), 2)  # seconds
    2.15
    """
    check_pair(path, video)
    if video.curve is not None:
        raise InputError("live streaming takes a constant playback rate, not a playback curve")
    if accuracy is not None:
        choice("accuracy", accuracy, ACCURACIES)
    choice("growth", growth, GROWTHS)
    if isinstance(path, Varying):
        _check_varying(path, video, accuracy, growth)
    timeline, chain = Timeline.of(path, video), chain_of(path)
    m, T = timeline.packets_due, chain.packets_per_round
    if video.duration is not None:
        check_shortest(path, video)
    elif T / path.rtt <= video.packet_rate * (1 + 1e-9):
        raise NoFiniteDelayError(T / path.rtt, video.packet_rate)
    if growth == "limited":
        from .limited_live import limited_live

        return limited_live(constant(path, growth), video, accuracy)
    if isinstance(path, Varying):
        if video.duration is None:
            return _endless_varying(path, video, accuracy)
    elif is_coarse_live(path, video, accuracy):
        from .coarse_live import coarse_live

        found = coarse_live(path, video, accuracy)
        if found is not None:
            return found
    if video.duration is not None:
        check_length(timeline.length, video)
        if accuracy != "exact":
            check_time(path, video)
        return FiniteLive(path, video, _finite(chain, m, timeline.length))
    solved = on_cores(lambda lattice: solve(chain, lattice), endless_lattices(chain, m))
    return EndlessLive(path, video, tuple(solved))


def _check_varying(path: Varying, video: Video, accuracy: str | None, growth: str) -> None:
    """Raise `InputError` for a stream that has no answer on a path that varies."""
    if growth == "limited":
        constant(path, "growth = limited")
    if video.duration is not None:
        if accuracy not in (None, "exact"):
            raise InputError(
                f"a live stream with a duration on a path that varies has an exact answer only, got accuracy={accuracy}"
            )
        return
    endless = "a live stream without end on a path that varies"
    if accuracy == "exact":
        raise InputError(f"{endless} has no exact answer: {INSTEAD}")
    if path.tcp != ENDLESS:
        raise InputError(f"{endless} is solved for tcp = {ENDLESS}, got {path.tcp}: {INSTEAD}")


def _endless_varying(path: Varying, video: Video, accuracy: str | None) -> LiveStreaming:
    """Solve a stream without end on coarse lattices: there is no other way."""
    from .coarse_live import coarse_live

    try:
        found = coarse_live(path, video, accuracy or "fine")
    except TimeLimitError:
        raise
    except AccuracyError as error:
        raise AccuracyError(
            f"no answer for a live stream without end on this path that varies: {INSTEAD} ({error})"
        ) from error
    assert found is not None
    return found


def _finite(chain: Chain, packets_due: float, length: float) -> tuple[FiniteBacklog, ...]:
    """Return the backlogs of a stream of so many rounds, on the lattices around its packets per round."""
    from ..transient.finite_backlog import FiniteBacklog  # only here: a stream without end needs no transient

    found = lattices(packets_due, order(packets_due, chain.packets_per_round, chain.n_cells))
    return tuple(on_cores(lambda lattice: FiniteBacklog(chain, lattice, length), found))


def live_many(cases: Iterable[tuple[Path | Varying, Video]], *, accuracy: str | None = None) -> list[LiveStreaming]:
    """Solve live streaming for many paths and videos, on all cores.

    Cases without a duration that have the same TCP chain and the same packets per round, that is the same distribution
    in rounds, are solved once.

    Parameters
    ----------
    cases : iterable of (Path or Varying, Video)
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

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> cases = [(path, tcpstream.Video(packet_rate=rate)) for rate in (10, 20)]
    >>> [round(result.required_delay(1e-2), 2) for result in tcpstream.live_many(cases)]
    [0.53, 0.99]
    """
    cases = [pair_of(one) for one in cases]
    groups: dict[Hashable, list[int]] = {}
    for i, one in enumerate(cases):
        groups.setdefault(backlog_key(*one), []).append(i)
    solved = on_cores(lambda members: live(*cases[members[0]], accuracy=accuracy), groups.values())
    results = {i: with_backlogs(result, *cases[i]) for members, result in zip(groups.values(), solved) for i in members}
    return [results[i] for i in range(len(cases))]


def backlog_key(path: Path | Varying, video: Video) -> Hashable:
    """Return what is equal for cases with the same distribution in rounds."""
    endless = video.duration is None and video.curve is None
    return (chain_key(path), round(Timeline.of(path, video).packets_due, 12)) if endless else (path, video)


def with_backlogs(result: LiveStreaming, path: Path | Varying, video: Video) -> LiveStreaming:
    """Return the answers for a case whose distribution has been solved for another."""
    return result if (result.path, result.video) == (path, video) else result.of_another(path, video)
