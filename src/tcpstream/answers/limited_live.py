"""Live streams without end whose sender opens its window only while the stream uses it up."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from ..errors import InputError, unremarked
from ..limited.long_run import LimitedLaw, long_run
from ..numerics.lattices import Interpolated
from ..path import Path
from ..system.threads import on_cores
from ..tcp import chain_of
from ..tcp.window_chain import WindowChain
from ..video import Video
from .coarse_live import AT_ONCE
from .live_streaming import LiveStreaming
from .timeline import Timeline

INITIAL_WINDOW = 10
"""What counts as used at least, where a path has no slow start [packets] (RFC 6928)."""

POINTS = {"fine": 24, "fast": 12}
"""Positions in the backlog of a round; two thirds of them are enough to tell the error."""

FACTOR = 2.0
"""Error of f over the difference of two resolutions."""

LEAST = 0.01
"""Relative error that is stated at least."""

WINDOWS, LEAST_WINDOW, WIDER = 3.0, 24, 1.5
"""Largest window that is followed at first, over the packets of a round; at least [packets]; and how much larger the
next one is, while the largest is used too often."""

SELDOM = 1e-5
"""Share of the rounds that begin at the largest window, where it does not matter."""

LOST = 100.0
"""Error of f, over the mass that a turn still moves."""


@dataclass(frozen=True, eq=False)
class LimitedBacklogs:
    """The same long run at two resolutions."""

    fine: LimitedLaw
    coarse: LimitedLaw


class LimitedLive(LiveStreaming):
    """A live stream without end, whose sender's window grows only while it is used up, as Linux's.

    The backlog is that between what is generated and what is in order at the receiver, at any time of a round, not only
    at its end; a packet travels for R/2 besides, which is not counted.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", tcp="reno-sack", loss=0.02, rtt=0.1, initial_window=10, max_window=10)
    >>> result = tcpstream.live(path, tcpstream.Video(packet_rate=10), growth="limited")
    >>> result
    <LimitedLive: 10 packets/s, T/mu = 7.044>
    >>> round(result.required_delay(), 2)  # seconds
    2.1
    """

    _backlogs: LimitedBacklogs

    lattice_reason = "on coarse lattices"

    def __init__(self, path: Path, video: Video, backlogs: LimitedBacklogs) -> None:
        super().__init__(path, video)
        self._backlogs = backlogs

    def __reduce__(self) -> tuple[type[LimitedLive], tuple[Any, ...]]:
        """Pickle what the answers are made from."""
        return type(self), (self.path, self.video, self._backlogs)

    @property
    def error_bound(self) -> float:
        """Bound on the error of f from what the solves leave; `lattice_error` comes on top."""
        return LOST * max(self._backlogs.fine.residual, self._backlogs.coarse.residual)

    def to_dict(self, delays: ArrayLike) -> dict[str, Any]:
        """Return the answers for startup delays [s] and what they were computed from, ready for JSON."""
        found = super().to_dict(delays)
        found["parameters"]["growth"] = "limited"
        return found

    def _at(self, tau: float) -> Interpolated:
        rounds = self.timeline.rounds(tau)
        f, other = (one.late_fraction(rounds) for one in (self._backlogs.fine, self._backlogs.coarse))
        least = LEAST + (AT_ONCE if rounds < 1 else 0.0)
        return Interpolated(f, FACTOR * abs(f - other) / f + least if f > 0 else 0.0)


def limited_live(path: Path, video: Video, accuracy: str | None) -> LimitedLive:
    """Solve a live stream of an application-limited sender: see `live`."""
    if video.duration is not None:
        raise InputError(
            f"growth = limited is solved for live streams without end: leave out the duration of {video.duration:g} s"
        )
    if path.bottleneck is not None:
        raise InputError(
            f"growth = limited is not solved behind a bottleneck: leave out bottleneck {path.bottleneck:g} packets/s"
        )
    if accuracy == "exact":
        raise InputError("growth = limited is solved to about 1% of f: accuracy must be fine or fast, got exact")
    due, points = Timeline.of(path, video).packets_due, POINTS[accuracy or "fine"]
    most = min(path.max_window, max(LEAST_WINDOW, math.ceil(WINDOWS * due)))
    while True:
        fine, coarse = on_cores(partial(_long_run, path, most, due), (points, points * 2 // 3))
        if most == path.max_window or fine.largest <= SELDOM:
            return LimitedLive(path, video, LimitedBacklogs(fine, coarse))
        most = min(path.max_window, math.ceil(WIDER * most))


def _long_run(path: Path, most: int, due: float, points: int) -> LimitedLaw:
    """Solve with windows up to so many packets."""
    with unremarked():
        chain = chain_of(Path(**vars(path.network), sender=replace(path.sender, max_window=most)))
    if not isinstance(chain, WindowChain):
        raise InputError(f"growth = limited needs a chain of windows, and tcp = {path.tcp} is none")
    least, rack = path.initial_window or INITIAL_WINDOW, path.detection == "rack"
    return long_run(chain, due, path.timeout_ratio, least, points, rack=rack)
