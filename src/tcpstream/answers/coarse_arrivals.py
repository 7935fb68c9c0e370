"""Stored media on coarse lattices: every answer at two resolutions, so that each comes with its error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any
from weakref import proxy

import numpy as np
from numpy.typing import NDArray

from ..coarse.law import Law
from ..coarse.long_law import LongLaw
from ..coarse.resolution import FAST, FINE, SPARE, Resolution, coarser
from ..errors import AccuracyError
from ..path import Path
from ..tcp import Varying
from ..video import Video
from .arrival_levels import ArrivalLevels
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
        self._lock = Lock()
        self._coarser: CoarseArrivals | None = None
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
        late = 0.0
        if here > 0 and not self._none_late(1.0, here + 1.0, m, tau, K):
            due = timeline.due(delay, here)
            late = float(self.head.missing(np.append(0.0, due[:-1]), due).sum())
        begin, end = here + 0.5, whole + 0.5
        passed = self.passed(timeline, tau)
        before, part, block = 0.0, 0.0, begin * BLOCK
        law: AnyLaw
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
                    return late
                before, part, block = part, 0.0, begin * BLOCK
        if here <= whole < judged:
            part += of_the_last(law, judged, m * (whole - tau), K)
        return late + part

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
        key = (timeline.packets_due, timeline.length)
        with self._lock:
            if key not in self._never:
                self._never[key] = NeverLateCurve(self._whole, self.resolution, self.scale, timeline, self._modes)
            curve = self._never[key]
        alpha, off, edge = curve.at(timeline, delay)
        if not -OUTSIDE - off <= alpha <= 1 + (OUTSIDE if self.scale.limited else ABOVE) + off:
            raise AccuracyError(
                f"startup delay {delay:g} s: on coarse lattices the probability of no late packet does not converge "
                f"here (it is {alpha:.3g} after the last step): give accuracy=exact"
            )
        return alpha, off + TWICE * max(alpha - 1 - ABOVE, 0.0), edge

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
