"""Stored media on coarse lattices: every answer at two resolutions, so that each comes with its error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any, NamedTuple
from weakref import proxy

import numpy as np
from numpy.typing import NDArray

from ..coarse.late_to_come import LateToCome
from ..coarse.law import Law
from ..coarse.long_law import LongLaw
from ..coarse.resolution import FAST, FINE, SPARE, Resolution, coarser
from ..errors import AccuracyError, TimeLimitError
from ..path import Path
from ..tcp import Varying
from ..video import Video
from .arrival_levels import LADDER, SOME, ArrivalLevels
from .coarse_alpha import NeverLateCurve
from .sums_over_rounds import AnyLaw, ends, of_the_last, sampled
from .timeline import ON_TIME, Timeline

Floats = NDArray[np.float64]

BLOCK, STEPS = 1.5, 16
"""Rounds are followed until they are so many times as many, and at least so many steps, at a time."""

PASSED, BEGUN = 3.0, 20.0
"""Late packets become fewer and fewer once the mean lead has grown by so many times that of the start, and as many
rounds have passed as bring so many losses."""

NONE = 1e-13
"""Part of the packets of a video that is none."""

LEFT, SLIGHT = 2e-13, 1e-6
"""Part of the packets of a video, and of those that are late already, up to which others are not looked for: those that
a lattice may still bring."""

OUTSIDE, ABOVE, TWICE = 0.1, 1e-3, 2.0
"""By how much alpha may come out below 0, by interpolation, and above 1 where it nearly is a step, as where the largest
window limits TCP; elsewhere above 1, and from where on an exact solve is better; and how many times that it is off."""

AMPLE, SMOOTH, LONG = 1.8, 3.0, 100.0
"""T/mu up to which all rounds after some losses are summed up: with more, few packets are late by then; the decay rate
in the standard deviation of what has arrived then, at least, as the integral takes the longer the less it is; and how
often late packets become fewer by e, about, until the end of the video, over that part of it which its bound knows."""

QUANTA = 28.0
"""In that standard deviation, at least."""

AFTER = 1e-4
"""Part of the late packets that may come after the end of a video."""


class _Video(NamedTuple):
    """m [packets], the startup delay [rounds], packets, the last whole round, and from when on fewer are late."""

    due: float
    delay: float
    packets: float
    whole: int
    passed: float


class CoarseArrivals(ArrivalLevels):
    """What `Arrivals` answers, on a ladder of lattices whose quanta grow with the spread of what has arrived.

    Parameters
    ----------
    path : Path or Varying
    cases : iterable of Timeline
        As for `Arrivals`, at constant rates.
    resolution : Resolution
    follow_all : bool
        Whether to follow also what is surely never late.
    finer : CoarseArrivals, optional
        The same at a higher resolution, whose first packets are as exact.
    """

    def __init__(
        self, path: Path | Varying, cases: Iterable[Timeline], resolution: Resolution = FINE, follow_all: bool = False,
        finer: CoarseArrivals | None = None,
    ) -> None:  # fmt: skip
        super().__init__(path, cases, resolution, follow_all, finer)
        self._finer: CoarseArrivals | None = finer
        self._lock = Lock()
        self._coarser: CoarseArrivals | None = None
        self._all_later: list[LateToCome | None] = []
        self._never: dict[tuple[float, float], NeverLateCurve] = {}

    def __copy__(self) -> CoarseArrivals:
        """Return the same: nothing that can be read from it changes."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> CoarseArrivals:
        """Return the same: nothing that can be read from it changes."""
        return self

    def __reduce__(self) -> tuple[type[CoarseArrivals], tuple[Any, ...]]:
        """Pickle what answers are made from."""
        return type(self), (self.path, self.cases, self.resolution, self.follow_all)

    def late_packets(self, timeline: Timeline, delay: float) -> float:
        """Return the mean number of late packets of a video at a constant rate."""
        m, tau = timeline.packets_due, timeline.rounds(delay)
        judged = timeline.judged_rounds(delay)
        last = judged if timeline.horizon == "paper" else timeline.length + tau
        K = min(float(timeline.video.packets), m * max(last - tau, 0.0))
        whole = math.floor(last + ON_TIME)
        here = judged if self.first >= self.packets else min(int(tau + self.first / m), judged)
        coming = self._coming if here < judged else None
        if coming is not None:
            here = min(here, int(coming.begin) - 1)
        late = 0.0
        if here > 0 and not self._none_late(1.0, here + 1.0, m, tau, K):
            due = timeline.due(delay, here)
            late = float(self.head.missing(np.append(0.0, due[:-1]), due).sum())
        video = _Video(m, tau, K, whole, self.passed(timeline, tau))
        begin, end = here + 0.5, whole + 0.5
        if coming is not None and coming.begin < end:
            late, begin = self._followed(video, late, begin, coming.begin)[0], coming.begin
            all_later = late + coming.late(tau)
            if coming.after(tau, end) <= max(NONE * K, AFTER * all_later):
                return all_later
        late, law = self._followed(video, late, begin, end)
        if law is not None and here <= whole < judged:
            late += of_the_last(law, judged, m * (whole - tau), K)
        return late

    def _followed(self, video: _Video, late: float, begin: float, end: float) -> tuple[float, AnyLaw | None]:
        """Return the late packets with those between two rounds, and the last law; None where no others come later."""
        m, tau, K, whole, passed = video
        law: AnyLaw | None = None
        before, part, block = 0.0, 0.0, begin * BLOCK
        for edge, law in self.levels():
            level_end = end if edge >= self.packets else min(end, tau + edge / m)
            later = edge / self.fastest  # when the next law may be known
            while begin < level_end and not (begin >= later and self._is_better(begin, law)):
                if law.below(begin) * edge <= max(LEFT * K, SLIGHT * late):
                    begin = level_end
                    break
                block = max(block, begin + STEPS * law.step)
                until = min(level_end, block, later if begin < later else level_end)
                if not self._none_late(begin, until, m, tau, K):
                    part += sampled(law, begin, until, m, tau, whole)
                begin = until
                if begin < block:
                    continue
                late += part
                if begin > passed and ends(late, part, before, NONE * K):
                    return late, None
                before, part, block = part, 0.0, begin * BLOCK
            if begin >= end and end < whole:
                break
        return late + part, law

    @property
    def _coming(self) -> LateToCome | None:
        """Late packets after some losses, of all rounds together; None where laws of what has arrived are followed.

        Of two resolutions the higher one decides.
        """
        with self._building:
            if not self._all_later:
                self._all_later.append(self._summed_up())
            found = self._all_later[0]
        return found if self._finer is None or self._finer._coming else None

    def _summed_up(self) -> LateToCome | None:
        rates = {one.packets_due for one in self.cases}
        if self.scale.limited or self.follow_all or len(rates) > 1 or not self.steps.grid.curved:
            return None
        m = self.due
        found, mean, packets = self._decay, self.chain.packets_per_round, SOME * self.scale.packets
        spread, rounds = self.scale.spread(packets), packets / mean
        if found is None or mean > AMPLE * m or found.rate * spread < SMOOTH:
            return None
        if found.rate * (mean - m) * (self.cases[0].length - rounds) < LONG:
            return None
        steps, quantum = self._steps(packets), min(self._quantum(packets / LADDER), spread / QUANTA)
        number = math.ceil(rounds / steps.step)
        try:
            return LateToCome(steps, m, found.rate, found.safe, number, max(quantum, 1.0))
        except AccuracyError as error:
            if isinstance(error, TimeLimitError):
                raise
            return None

    def _is_better(self, rounds: float, law: AnyLaw) -> bool:
        """Return whether another law that is known after so many rounds takes less."""
        kind = type(law)
        return kind is not LongLaw and self.kind_after(rounds) not in (kind, Law)

    def _none_late(self, begin: float, end: float, m: float, tau: float, packets: float) -> bool:
        """Return whether a bound says that hardly any of so many packets is late between two rounds."""
        if self.chain.packets_per_round > SPARE * m or self._modes is None:
            return False
        found = math.inf  # (y - A)+ is below exp(theta (y - A)) / (e theta)
        for theta, per_round, apart in self._modes.bounds:
            largest = max(theta * m * (t - tau) + per_round * t for t in (begin, end))
            found = min(found, largest + apart - 1 - math.log(theta))
        return found + math.log(end - begin) < math.log(NONE * packets)

    def passed(self, timeline: Timeline, tau: float) -> float:
        """Return the round from which fewer and fewer packets are late, of a startup delay in rounds."""
        spare = self.chain.packets_per_round / timeline.packets_due - 1
        return max(PASSED * tau / spare, BEGUN * self.scale.rounds) if spare > 0 else math.inf

    def late(self, needed: Floats) -> Floats:
        """Return P(A_i < b) for whole b = ``needed[i - 1]`` in rounds i = 1, 2, ..."""
        begin = np.maximum(needed - 1, 0.0)
        chance = np.zeros(len(needed))
        early = (needed > 0) & (needed <= self.first)
        n = int(np.flatnonzero(early)[-1]) + 1 if early.any() else 0
        if n:
            chance[:n] = np.where(early[:n], self.head.late(np.minimum(needed[:n], self.first)), 0.0)
        rounds, below = np.arange(1.0, len(needed) + 1), float(self.first)
        for edge, law in self.levels():
            mine = (needed > below) & (needed <= (edge if edge < self.packets else math.inf))
            if mine.any():
                t, half = rounds[mine], law.quantum / 2
                chance[mine] = (law.missing(t, begin[mine] + half) - law.missing(t, begin[mine] - half)) / (2 * half)
            below = edge
        return np.where(needed > 0, np.clip(chance, 0.0, 1.0), 0.0)

    def never_late(self, timeline: Timeline, delay: float) -> tuple[float, float, float]:
        """Return the probability that no packet of a video at a constant rate is late, and how far that may be off.

        First by the part of a step in which the video ends, and by the place between two leads; then by the edge of the
        lattice, which counts where another resolution does not differ by more.

        Raises
        ------
        AccuracyError
            Where it comes out as no probability.
        """
        alpha, off, edge = self.curve(timeline).at(timeline, delay)
        if not -OUTSIDE - off <= alpha <= 1 + (OUTSIDE if self.scale.limited else ABOVE) + off:
            raise AccuracyError(
                f"startup delay {delay:g} s: on coarse lattices the probability of no late packet does not converge "
                f"here (it is {alpha:.3g} after the last step): give accuracy=exact"
            )
        return alpha, off + TWICE * max(alpha - 1 - ABOVE, 0.0), edge

    def curve(self, timeline: Timeline) -> NeverLateCurve:
        """Return alpha of a video at a constant rate, over the startup delay."""
        key = (timeline.packets_due, timeline.length)
        with self._lock:
            if key not in self._never:
                self._never[key] = NeverLateCurve(self.steps, self.resolution, self.scale, timeline, self._modes)
            return self._never[key]

    def coarser(self) -> CoarseArrivals:
        """Return the same at a lower resolution, once for all cases; it does not keep this one."""
        with self._building:
            if self._coarser is None:
                self._coarser = CoarseArrivals(self.path, self.cases, coarser(self.resolution), finer=proxy(self))
            return self._coarser


def shared_arrivals(cases: Sequence[tuple[Path | Varying, Video]], accuracy: str | None) -> CoarseArrivals:
    """Return the arrivals that serve all of some cases with the same chain."""
    timelines = [Timeline.of(*one) for one in cases]
    return CoarseArrivals(cases[0][0], timelines, FAST if accuracy == "fast" else FINE)
