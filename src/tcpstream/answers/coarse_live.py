"""Live streams at ordinary rates: the answers of coarse lattices, each with its error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from ..coarse.lead import safe_lead
from ..coarse.resolution import FACTOR, FAST_BACKLOG, FINE_BACKLOG, BacklogResolution, coarser_backlog
from ..coarse.stationary_backlog import LongRun, long_run
from ..coarse.steps import Steps
from ..coarse.ways import Ways
from ..errors import AccuracyError, TimeLimitError
from ..numerics.lattices import Interpolated
from ..path import Path
from ..system.threads import on_cores
from ..tcp import Chain, Varying, chain_of
from ..video import Video
from .answer import DEFAULT_TARGET
from .live_streaming import LiveStreaming
from .plan import AFFORDABLE, live_seconds
from .timeline import Timeline

LOST = 100.0
"""Error of f, over the mass that a step of the solve still moves, from above."""

AT_ONCE, ONE_PACKET, FOUR_ROUNDS = 0.1, 0.05, 4.0
"""Relative error of f after delays of less than a round, where the order of its packets decides; and at a round, where
it has one packet: less with more packets, and with each further round, until four are no matter."""

RARE, OF_RARE = 1e-5, 0.01
"""Late fractions below which long waits decide, and by what part they are off."""

WITHIN_STEPS = 0.15
"""Relative error of f for each round that a step has more than one, over what ln f falls by in a round: a backlog that
is used up within a step, and is there again at its end, is not seen."""

START = 0.02
"""Relative error of what the start adds."""

UNSETTLED = 0.3
"""Share of the late packets that a stream lacks as it starts from an empty backlog, up to which there is an answer:
about the square of it is wrong."""


@dataclass(frozen=True, eq=False)
class CoarseBacklog:
    """The long run of a live stream at two resolutions.

    Attributes
    ----------
    fine, coarse : LongRun
    least : float
        What the relative error is stated to be at least.
    step : int
        Rounds of a step of the finer one.
    """

    fine: LongRun
    coarse: LongRun
    least: float
    step: int

    @classmethod
    def of(cls, path: Path | Varying, packets_due: float, accuracy: str | None, *, from_start: bool) -> CoarseBacklog:
        """Solve for a path and so many packets generated per round; `from_start` for streams of finite length."""
        chain = chain_of(path)
        resolution = FAST_BACKLOG if accuracy == "fast" and not chain.varies else FINE_BACKLOG  # of whole rounds
        fine, coarse = on_cores(
            lambda one: _long_run(chain, packets_due, one, from_start), (resolution, coarser_backlog(resolution))
        )
        return cls(fine, coarse, resolution.least, resolution.step)

    @property
    def error_bound(self) -> float:
        """Bound on the error of f from what the solves leave."""
        return LOST * max(self.fine.residual, self.coarse.residual)

    def late_fraction(self, delay: float, length: float) -> Interpolated:
        """Return f with its relative error, for a startup delay and a length [rounds]."""
        f, other = (one.late_fraction(delay, length) for one in (self.fine, self.coarse))
        if f <= self.error_bound:
            return Interpolated(f, math.inf)
        error = FACTOR * abs(f - other) / f + self.least + self.error_bound / f + (OF_RARE if f < RARE else 0.0)
        near = max(0.0, (FOUR_ROUNDS - delay) / (FOUR_ROUNDS - 1))
        error += AT_ONCE if delay < 1 else ONE_PACKET * near / max(self.fine.stationary.due, 1.0)
        error += WITHIN_STEPS * (self.step - 1) * self._falls(delay, length)
        return Interpolated(f, error + self._unsettled(delay, length))

    def _falls(self, delay: float, length: float) -> float:
        """Return by how much ln f falls in the round before a startup delay, or in the first one."""
        end = max(1.0, delay)
        before, after = (max(self.fine.late_fraction(at, length), self.error_bound) for at in (end - 1, end))
        return math.log(before / after)

    def _unsettled(self, delay: float, length: float) -> float:
        """Return the relative error from the part of the start that lasts longer than the stream."""
        if math.isinf(length):
            return 0.0
        left = math.exp(-length / self.fine.settling)
        endless = self.fine.late_fraction(delay)
        f = self.fine.late_fraction(delay, length)
        missing = max(0.0, 1 + delay / length - f / max(endless, 1e-300))
        if missing > UNSETTLED or left > UNSETTLED:
            raise AccuracyError(
                f"a live stream of {length:.3g} round trips is too short to come near its long run after a startup "
                f"delay of {delay:.3g} round trips: give accuracy=exact, or a longer duration"
            )
        return missing**2 + left + START * max(0.0, 1 - endless / f)


class CoarseLive(LiveStreaming):
    """A live stream on coarse lattices: in steps of several rounds, with quanta that grow with the backlog.

    Every answer is computed at two resolutions: `lattice_error` comes from their difference. A finite stream starts
    with an empty backlog, and lasts long enough to forget it.
    """

    _backlogs: CoarseBacklog

    lattice_reason = "on coarse lattices"
    """Of `lattice_error`, for people."""

    def __init__(self, path: Path | Varying, video: Video, backlog: CoarseBacklog) -> None:
        super().__init__(path, video)
        self._backlogs = backlog

    def __reduce__(self) -> tuple[type[CoarseLive], tuple[Any, ...]]:
        """Pickle what the answers are made from."""
        return type(self), (self.path, self.video, self._backlogs)

    @property
    def error_bound(self) -> float:
        """Bound on the error of f from what the solves leave; `lattice_error` comes on top."""
        return self._backlogs.error_bound

    def to_dict(self, delays: ArrayLike) -> dict[str, Any]:
        """Return the answers for startup delays [s], ready for JSON: null where an error has no bound."""
        found = super().to_dict(delays)
        found["lattice_error"] = [x if math.isfinite(x) else None for x in found["lattice_error"]]
        return found

    def forgets(self) -> bool:
        """Return whether late fractions down to 1e-4 can be told."""
        delay = 1.0
        try:
            while self._backlogs.late_fraction(delay, self.timeline.length).late_fraction > DEFAULT_TARGET:
                delay *= 2
        except AccuracyError:
            return False
        return True

    def _at(self, tau: float) -> Interpolated:
        length = math.inf if self.video.duration is None else self.timeline.length
        return self._backlogs.late_fraction(self.timeline.rounds(tau), length)


def coarse_live(path: Path | Varying, video: Video, accuracy: str | None) -> CoarseLive | None:
    """Solve a live stream; None by default where an exact solve must answer: none converges, or it is too short."""
    m = Timeline.of(path, video).packets_due
    try:
        backlog = CoarseBacklog.of(path, m, accuracy, from_start=video.duration is not None)
    except AccuracyError as error:
        if accuracy is not None or isinstance(error, TimeLimitError):
            raise
        return None
    found = CoarseLive(path, video, backlog)
    if video.duration is None or accuracy is not None or live_seconds(path, video) > AFFORDABLE:
        return found  # the best there is
    return found if found.forgets() else None


def _long_run(chain: Chain, packets_due: float, resolution: BacklogResolution, from_start: bool) -> LongRun:
    """Solve at a resolution."""
    one = resolution
    steps = Steps.of(chain, one.step, one.ratio, packets_due, one.all_lines(packets_due))
    ways = Ways.of(steps, packets_due, one.ends(packets_due), one.near)
    depth = max(safe_lead(steps, packets_due), packets_due)
    return long_run(ways, one.quantum(packets_due), depth, from_start=from_start)
