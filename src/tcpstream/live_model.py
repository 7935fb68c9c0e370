"""Live streaming (Section 3.3.1): TCP can only send what exists, and the server's backlog is a queue."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .cores import on_cores
from .curves import smallest_delay
from .errors import InputError, NoFiniteDelayError
from .path import Path
from .result import Streaming, check_length
from .stationary import VISIBLE_LEVELS, StationaryBacklog, lattice, solve
from .tcp import SackSource, source_key, source_of
from .tcp.decay import decay_rate
from .video import Video

if TYPE_CHECKING:
    from .transient import Transient

Floats = NDArray[np.float64]

OFF_LATTICE_ERROR = 0.03
"""Relative error of f where packets per round fit no fine lattice, above the largest of validation/lattice.py."""


class LiveStreaming(Streaming):
    """A live stream over a path; made by `live`.

    With D the server's backlog, N = mu tau - D, so one law of D gives every startup delay:
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

    @property
    def lattice_error(self) -> float:
        """Relative error of f from packets per round that fit no fine lattice; 0 where they do."""
        return 0.0 if self._on_lattice else OFF_LATTICE_ERROR

    def columns(self, delays: Floats) -> dict[str, Any]:
        """Return the answers for an array of startup delays [s], by name."""
        return {"startup_delay_s": delays, "late_fraction": self.late_fraction(delays)}

    def to_dict(self, delays: ArrayLike) -> dict[str, Any]:
        """Return the answers for startup delays [s] and what they were computed from, ready for JSON."""
        return super().to_dict(delays) | {"lattice_error": self.lattice_error}

    @property
    def _packets_due(self) -> float:
        return self.video.packet_rate * self.path.rtt

    _on_lattice: bool


class EndlessLive(LiveStreaming):
    """A live stream long enough for its stationary law to hold.

    Attributes
    ----------
    backlog : StationaryBacklog
        Law of the server's backlog, with residual and truncation.
    """

    def __init__(self, path: Path, video: Video, backlog: StationaryBacklog) -> None:
        super().__init__(path, video)
        self.backlog = backlog
        self._on_lattice = backlog.on_lattice
        self._excess = _excess(backlog.law)

    @property
    def error_bound(self) -> float:
        """Bound on the error of f from residual and truncation; `lattice_error` comes on top."""
        return self.backlog.error_bound

    @cached_property
    def decay_rates(self) -> dict[str, float]:
        """Decay of f in the startup delay [1/s], "asymptotic", set by rare long back-offs, and "visible".

        The first is the true rate of the far tail; above its bend, between f of 1e-4 and 1e-8, the second describes
        what is seen (back-off levels up to 3 only) and is an estimate. Neither bounds f without its constant.
        """
        source, m = source_of(self.path), self._packets_due
        return {
            "asymptotic": decay_rate(source, m) * self.video.packet_rate,
            "visible": decay_rate(source, m, VISIBLE_LEVELS) * self.video.packet_rate,
        }

    def _late_at(self, tau: float) -> float:
        stride, m = self.backlog.stride, self._packets_due
        ahead = self.video.packet_rate * tau
        late = _at(self._excess, ahead * stride) - _at(self._excess, (ahead + m) * stride)
        return max(0.0, late / (m * stride))


class FiniteLive(LiveStreaming):
    """A live stream of finite length, from an empty backlog: the transient of the same chain (Figure 8a).

    After the end of generation what is left is still delivered, and judged until playback ends.
    """

    def __init__(self, path: Path, video: Video) -> None:
        from .transient import Transient  # only here: a stream without end needs none
        from .transient_sack import TransientSack

        super().__init__(path, video)
        assert video.duration is not None
        m, R, source = self._packets_due, path.rtt, source_of(path)
        stride = lattice(m, source.max_window) if m < source.max_window else 1
        steps = m * stride
        self._on_lattice = abs(steps - round(steps)) < 1e-9 * max(1.0, steps)
        if not self._on_lattice:
            stride, self._on_lattice = 1, False
        self._stride = stride
        self._goal = math.ceil(video.packets * stride - 1e-6)
        self._transient = transient = (
            TransientSack(source, 0, stride) if isinstance(source, SackSource) else Transient(source, 0, stride)
        )
        self._drain: list[Floats] = []
        self._generating = math.floor(video.duration / R + 1e-9)
        total = np.zeros(1)
        for i in range(1, self._generating + 1):
            ceiling = min(self._goal, math.floor(m * i * stride + 1e-6))
            transient.step(ceiling, final=False)
            total = _summed(total, _backlog_law(transient, ceiling))
        self._excess = _excess(total)

    @property
    def error_bound(self) -> float:
        """Bound on the error of f, probability unaccounted for; off the lattice `lattice_error` comes on top."""
        return self._transient.neglected + self._transient.residual

    def _late_at(self, tau: float) -> float:
        m, R, stride = self._packets_due, self.path.rtt, self._stride
        ahead = self.video.packet_rate * tau
        late = _at(self._excess, ahead * stride) - _at(self._excess, (ahead + m) * stride)
        packets, end = self.video.packets, self.video.duration
        assert end is not None
        rounds = math.ceil((end + tau) / R - 1e-9) - self._generating
        while len(self._drain) < rounds and not self._transient.exhausted:
            self._transient.step(self._goal, final=True)
            self._drain.append(_excess(_backlog_law(self._transient, self._goal)))
        goal = self._goal / stride
        for i, excess in enumerate(self._drain[:rounds], self._generating + 1):
            due = float(self.video.due(i * R - tau))
            before = float(self.video.due((i - 1) * R - tau))
            late += _at(excess, (goal - due) * stride) - _at(excess, (goal - before) * stride)
        return max(0.0, late / (packets * stride))


def live(path: Path, video: Video) -> EndlessLive | FiniteLive:
    """Solve live streaming (Section 3.3.1).

    Parameters
    ----------
    path : Path
        Loss, round trip time, retransmission timer, window limit.
    video : Video
        Constant rate. With a duration its transient from an empty backlog is solved (Figure 8a), without one the
        stationary law.

    Returns
    -------
    EndlessLive or FiniteLive
        Answers for every startup delay.

    Raises
    ------
    NoFiniteDelayError
        Without a duration, when TCP does not achieve the playback rate (T <= mu): the backlog grows for ever.
    InputError
        For a playback curve, which live streaming does not take.
    AccuracyError
        When the solve does not reach its accuracy or would need too much memory.

    Notes
    -----
    Wang, Kurose, Shenoy and Towsley, Section 3.3.1 and Appendix A; the order of capping follows the text.
    """
    if video.curve is not None:
        raise InputError("live streaming takes a constant playback rate, not a playback curve")
    if video.duration is not None:
        check_length(video.duration / path.rtt, video)
        if video.duration < path.rtt:
            raise InputError(
                f"duration must be at least one round trip time of {path.rtt:g} s, got {video.duration:g} s"
            )
        return FiniteLive(path, video)
    source = source_of(path)
    throughput = source.packets_per_round / path.rtt
    if throughput <= video.packet_rate * (1 + 1e-9):
        raise NoFiniteDelayError(throughput, video.packet_rate)
    return EndlessLive(path, video, solve(source, video.packet_rate * path.rtt))


def live_many(cases: Iterable[tuple[Path, Video]]) -> list[EndlessLive | FiniteLive]:
    """Solve live streaming for many paths and videos, on all cores.

    Cases without a duration that have the same TCP source and the same packets per round, that is the same law in
    rounds, are solved once.

    Parameters
    ----------
    cases : iterable of (Path, Video)

    Returns
    -------
    list of EndlessLive or FiniteLive
        In the order of the cases; each as from `live`.

    Raises
    ------
    NoFiniteDelayError, InputError, AccuracyError
        As `live`, for the first case that fails.
    """
    cases = list(cases)
    groups: dict[Hashable, list[int]] = {}
    for i, one in enumerate(cases):
        groups.setdefault(law_key(*one), []).append(i)
    solved = on_cores(lambda members: live(*cases[members[0]]), groups.values())
    results = {i: with_law(result, *cases[i]) for members, result in zip(groups.values(), solved) for i in members}
    return [results[i] for i in range(len(cases))]


def law_key(path: Path, video: Video) -> Hashable:
    """Return what is equal for cases with the same law in rounds."""
    endless = video.duration is None and video.curve is None
    return (source_key(path), round(video.packet_rate * path.rtt, 12)) if endless else (path, video)


def with_law(result: EndlessLive | FiniteLive, path: Path, video: Video) -> EndlessLive | FiniteLive:
    """Return the answers for a case whose law has been solved for another."""
    if isinstance(result, FiniteLive) or (result.path, result.video) == (path, video):
        return result
    return EndlessLive(path, video, result.backlog)


def _backlog_law(transient: Transient, ceiling: int) -> Floats:
    """Return P(D = 0), P(D = 1), ... in lattice steps; done mass, whose backlog is 0, is left out."""
    law = transient.law()
    backlog = np.zeros(max(0, ceiling - law.origin) + 1)
    backlog[ceiling + 1 - min(law.end, ceiling + 1) :] = law.mass[: ceiling + 1 - law.origin][::-1]
    return backlog


def _summed(total: Floats, law: Floats) -> Floats:
    if len(law) > len(total):
        total = np.pad(total, (0, len(law) - len(total)))
    total[: len(law)] += law
    return total


def _excess(law: Floats) -> Floats:
    """Return E[(D - y)+] at y = 0, 1, ..., 0 at the end, summed from the tail."""
    above = np.cumsum(law[::-1])[::-1]
    return np.append(np.cumsum(above[1:][::-1])[::-1], 0.0)


def _at(excess: Floats, y: float) -> float:
    """Interpolate E[(D - y)+], which is linear between lattice steps, at y >= 0."""
    k = math.floor(y)
    if k >= len(excess) - 1:
        return 0.0
    return float(excess[k] + (excess[k + 1] - excess[k]) * (y - k))
