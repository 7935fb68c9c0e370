"""Solving stored media (Section 3.3.2), exactly or on coarse lattices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import InputError, choice, whole
from ..path import Path
from ..tcp import Varying, chain_key, chain_of
from ..video import Video
from .answer import check_duration, pair_of
from .arrivals import Arrivals
from .plan import ACCURACIES, is_coarse, plan
from .stored_streaming import StoredStreaming
from .timeline import HORIZONS, Timeline

__all__ = ["StoredStreaming", "stored", "stored_many"]


def stored(
    path: Path | Varying,
    video: Video,
    *,
    horizon: str = "end",
    quantum: int | None = None,
    accuracy: str | None = None,
) -> StoredStreaming:
    """Solve stored-media streaming: a video of finite length, sent as fast as TCP allows (Section 3.3.2).

    Parameters
    ----------
    path : Path or Varying
        Loss, round trip time, retransmission timer, window limit; or regimes of them.
    video : Video
        Rate or playback curve, and duration.
    horizon : {"end", "paper"}
        Judge every packet until playback ends at duration + tau, or stop after duration / rtt rounds as the paper.
    quantum : int, optional
        Packets per step of one lattice: 1 is exact.
    accuracy : {"exact", "fine", "fast"}, optional
        Exact; within about 1% of f; or faster. By default exact where that is forecast to take a second at most, else
        fine: `CoarseStored.relative_error` says how near each answer is.

    Returns
    -------
    StoredStreaming
        Answers for every startup delay.

    Raises
    ------
    InputError
        Without a duration, or with one shorter than a round.
    AccuracyError
        When the pass would need too much time or memory; the message says how much.

    Notes
    -----
    Wang, Kurose, Shenoy and Towsley, Section 3.3.2 and Appendix B; the exact alpha replaces Theorem 1's bound.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> video = tcpstream.Video(packet_rate=40, duration=8)
    >>> result = tcpstream.stored(path, video)
    >>> round(result.late_fraction(1.0), 4)
    0.0639
    >>> round(result.required_delay(1e-4), 1)  # seconds
    4.9
    """
    return stored_many([(path, video)], horizon=horizon, quantum=quantum, accuracy=accuracy)[0]


def stored_many(
    cases: Iterable[tuple[Path | Varying, Video]],
    *,
    horizon: str = "end",
    quantum: int | None = None,
    accuracy: str | None = None,
) -> list[StoredStreaming]:
    """Solve stored-media streaming for many paths and videos at once.

    Cases whose TCP chain is the same, that is paths that differ in the round trip time alone (and not in the timeout
    in round trips), share one transient: every playback rate and length is read from it. It is made when the first
    answer is asked for.

    Parameters
    ----------
    cases : iterable of (Path or Varying, Video)
    horizon : {"end", "paper"}
    quantum, accuracy : optional
        As for `stored`; cases that share a transient share both.

    Returns
    -------
    list of StoredStreaming
        In the order of the cases; each as from `stored`, its answers the same up to their error bounds.

    Raises
    ------
    InputError, AccuracyError
        As `stored`, for the first case that fails.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> videos = [tcpstream.Video(packet_rate=rate, duration=8) for rate in (30, 40)]
    >>> found = tcpstream.stored_many((path, video) for video in videos)
    >>> [round(result.required_delay(1e-2), 2) for result in found]
    [1.09, 2.15]
    """
    choice("horizon", horizon, HORIZONS)
    if quantum is not None:
        quantum = whole("quantum", quantum, unit="packets")
    if accuracy is not None:
        choice("accuracy", accuracy, ACCURACIES)
        if quantum is not None:
            raise InputError("give quantum or accuracy, not both")
    cases = list(cases)
    groups: dict[Any, list[int]] = {}
    for i, one in enumerate(cases):
        path, video = pair_of(one)
        if video.duration is None:
            raise InputError("stored media needs the duration of the video [s]")
        check_duration(path, video)
        groups.setdefault(chain_key(path), []).append(i)
    results: dict[int, StoredStreaming] = {}
    for members in groups.values():
        shared = [cases[i] for i in members]
        if is_coarse(shared, quantum, accuracy):
            from .coarse_arrivals import shared_arrivals
            from .coarse_stored import CoarseStored

            coarse = shared_arrivals(shared, accuracy)
            results |= {i: CoarseStored(*cases[i], horizon, coarse) for i in members}
            continue
        arrivals = _shared(shared, 1 if accuracy == "exact" else quantum)
        results |= {i: StoredStreaming(*cases[i], horizon, arrivals) for i in members}
    return [results[i] for i in range(len(cases))]


def _shared(cases: list[tuple[Path | Varying, Video]], quantum: int | None) -> Arrivals:
    """Return the arrivals that serve all of some cases with the same chain."""
    path, timelines = cases[0][0], [Timeline.of(*one) for one in cases]
    return Arrivals(path, timelines, plan(chain_of(path), timelines, quantum))
