"""Stored media on coarse lattices: every answer at two resolutions, so that each comes with its error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice
from threading import Lock, RLock
from typing import Any
from weakref import proxy

import numpy as np
from numpy.typing import NDArray

from ..coarse.law import Law
from ..coarse.lead import Decay, decay
from ..coarse.long_law import LongLaw
from ..coarse.modes import Modes
from ..coarse.resolution import FINE, LOSSES, SPARE, Resolution, Scale, coarser, is_diffusive
from ..coarse.steps import Steps
from ..errors import AccuracyError
from ..path import Path
from ..tcp import Varying, chain_of
from .arrivals import Arrivals
from .coarse_alpha import NeverLateCurve
from .plan import Plan
from .sums_over_rounds import ends, of_the_last, sampled
from .timeline import ON_TIME, Timeline

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HEAD_CELLS = 2e7
"""States times positions times rounds of the first packets, which are followed one by one."""

LADDER = 4.0
"""Between the numbers of packets up to which lattices are used."""

SAMPLES = 64
"""In the time up to which a lattice is used, of sums over later times, at least."""

LOOKED_AT, SAME, NOTHING = 6, 5e-3, 3e-8
"""Standard deviations below which both laws are the same but for so much, once more at each, and for so many."""

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

SEVERAL = 32.0
"""Losses after which the law of one mode is tried first; once more after many."""

BELOW, ABOVE = 0.1, 1e-3
"""By how much alpha may come out below 0 and above 1, by interpolation: 1 - alpha has a relative error."""

PARTS = 8
"""Of a video, the longest in which steps are few."""


class CoarseArrivals:
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
        self.path, self.cases, self.resolution, self.follow_all = path, tuple(cases), resolution, follow_all
        self.chain = chain_of(path)
        self.packets = max(one.packets for one in self.cases)
        self._lock, self._building = Lock(), RLock()
        self._coarser: CoarseArrivals | None = None
        self._finer = finer
        self._levels: list[tuple[float, Law | LongLaw]] = []
        self._in_steps: dict[tuple[Resolution, int], Steps] = {}
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

    @cached_property
    def scale(self) -> Scale:
        """Packets and rounds from loss to loss; no more rounds than a part of the shortest video."""
        scale = Scale.of(self.chain)
        return replace(scale, rounds=min(scale.rounds, min(one.length for one in self.cases) / PARTS))

    @cached_property
    def due(self) -> float:
        """m, the most packets per round that are ever due."""
        return max(one.packets_due for one in self.cases)

    @property
    def _fastest(self) -> float:
        """Packets per round that TCP delivers, or that are due, whichever are more."""
        return max(self.chain.packets_per_round, self.due)

    @property
    def _diffusive(self) -> bool:
        return is_diffusive(self.chain, self.due, self.packets)

    @cached_property
    def _whole(self) -> Steps:
        step = self.resolution.step(self.scale.rounds, self.chain, diffusive=self._diffusive)
        return self.resolution.steps_of(self.chain, step, self.due, self.packets, follow_leads=True)

    @cached_property
    def lead(self) -> float:
        """Lead over playback from which nothing is late any more [packets]."""
        return math.inf if self.follow_all or self._decay is None else self._decay.safe

    @cached_property
    def first(self) -> int:
        """Packets that are followed one by one."""
        per_round = max(self.chain.packets_per_round, 1.0)
        found = math.sqrt(HEAD_CELLS * per_round / (4 * self.chain.followed_states))
        return min(self.packets, max(int(found), 2 * self.chain.largest_round if per_round < 4 else 16))

    @cached_property
    def head(self) -> Arrivals:
        """The first packets, one by one."""
        if self._finer is not None:
            return self._finer.head
        return Arrivals(self.path, self.cases, Plan(), self.first)

    def levels(self) -> Iterator[tuple[float, Law | LongLaw]]:
        """Give the packets up to which a lattice is used, and the law on it, finest first; each is made when needed."""
        number = 0
        while True:
            with self._building:
                if number == len(self._levels) and not self._add_level():
                    return
                one = self._levels[number]
            yield one
            number += 1

    def _add_level(self) -> bool:
        """Make the next level; False where there is none."""
        found = self._levels
        below = found[-1][0] if found else float(self.first)
        if below >= self.packets:
            return False
        before, packets, quantum = found[-1][1] if found else None, float(self.packets), self._quantum(below)
        edge = packets if packets < 2 * LADDER * below else LADDER * below
        long = self._long(below, edge, quantum)
        if long is not None:
            found.append((edge, long))
        elif isinstance(before, Law) and below < before.edge:
            found.append((self._until_tried(below, before.edge), before))
        else:
            steps, time = self._steps(below), below / self._fastest
            edge = min(LADDER * below, packets)
            smooth = self.chain.packets_per_round > self.due or edge < packets  # else the last rounds decide
            every = max(1, int(time / SAMPLES / steps.step)) if smooth else 1
            law = Law(steps, quantum, edge, self.due, self.lead, every)
            found.append((self._until_tried(below, edge), law))
        return True

    def _until_tried(self, below: float, edge: float) -> float:
        """Return the packets, up to an edge, up to which a law is used: that of one mode may go on from there."""
        tried = (many * self.scale.packets for many in (SEVERAL, LOSSES))
        return min((one for one in tried if below < one < edge), default=edge)

    def _steps(self, below: float) -> Steps:
        """Return the chain in steps for the lattice that begins with so many packets.

        After many losses it may be a coarser one, where no law of one mode is compared with its tails: its mean and
        variance are those of the chain.
        """
        whole = self._whole
        many = below >= LOSSES * self.scale.packets
        resolution = coarser(self.resolution) if many else self.resolution
        rounds = min(self.scale.rounds, below / self.chain.packets_per_round / 2)
        step = resolution.step(rounds, self.chain, diffusive=self._diffusive)
        if resolution is self.resolution and step == whole.step:
            return whole
        if (resolution, step) not in self._in_steps:
            self._in_steps[resolution, step] = resolution.steps_of(
                self.chain, step, self.due, self.packets, follow_leads=False
            )
        return self._in_steps[resolution, step]

    def _quantum(self, below: float) -> float:
        """Return the quantum of the lattice that begins with so many packets [packets]."""
        return max(self.scale.spread(below) / self.resolution.quanta, 1.0)

    @cached_property
    def _modes(self) -> Modes | None:
        """Of the chain, for videos with many losses; None for others, and where they are not found."""
        if self.packets < LOSSES * self.scale.packets:
            return None
        try:
            return Modes(self._whole)
        except AccuracyError:
            return None

    @cached_property
    def _decay(self) -> Decay | None:
        return decay(self._whole, self.due)

    def _long(self, below: float, edge: float, quantum: float) -> LongLaw | None:
        """Return the law between so many packets by its one mode, if the level before has it; None otherwise.

        Of two resolutions the higher one decides.
        """
        modes = self._modes if self._levels and below >= SEVERAL * self.scale.packets else None
        if modes is None or not (self._finer is None or self._finer.is_long(len(self._levels))):
            return None
        mean, found = self.chain.packets_per_round, self._decay
        begin = math.ceil(below / self._fastest / modes.rounds) * modes.rounds
        try:
            long = LongLaw(modes, begin, edge / mean, found.rate if found else 0.0, begin / SAMPLES, quantum)
        except AccuracyError:
            return None
        before = self._levels[-1][1]
        if self._finer is not None:
            return long
        sigmas = np.append(0.0, np.arange(float(LOOKED_AT)))
        t = np.full(len(sigmas), begin)
        sigma = math.sqrt(modes.variance / modes.rounds * begin)
        y: Floats = min(mean, self.due) * begin - sigma * sigmas
        y[0] = min(self.due * begin, below)  # above the mean, where TCP is slower than the video
        a, b = before.missing(t, y), long.missing(t, y)
        return long if bool(np.all(np.abs(a - b) <= SAME * (1 + sigmas) * a + NOTHING * sigma)) else None

    def _has_one_mode(self, rounds: float) -> bool:
        """Return whether the law of one mode is known after so many rounds."""
        for edge, law in self.levels():
            if isinstance(law, LongLaw) or edge > rounds * self._fastest:
                return isinstance(law, LongLaw)
        return False

    def is_long(self, number: int) -> bool:
        """Return whether the law on the lattice of this number, from 0, is that of one mode."""
        return any(isinstance(law, LongLaw) for _, law in islice(self.levels(), number, number + 1))

    @property
    def quantum(self) -> int:
        """Packets per step of the coarsest lattice that the whole length needs."""
        last = float(self.first)
        if last >= self.packets:
            return 1
        while last * LADDER < self.packets:
            last *= LADDER
        return max(2, round(self._quantum(last)))

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
        law: Law | LongLaw
        for edge, law in self.levels():
            level_end = end if edge >= self.packets else min(end, tau + edge / m)
            later = edge / self._fastest  # when the next law may be known
            while begin < level_end and not (isinstance(law, Law) and begin >= later and self._has_one_mode(begin)):
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
        return max(PASSED * tau / spare, BEGUN * Scale.of(self.chain).rounds) if spare > 0 else math.inf

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

    def never_late(self, timeline: Timeline, delay: float) -> tuple[float, float]:
        """Return the probability that no packet of a video at a constant rate is late, and how far that may be off.

        That is by the part of a step in which the video ends, and by the place between two leads.

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
        alpha, off = curve.at(timeline, delay)
        if not -BELOW <= alpha <= 1 + ABOVE:
            raise AccuracyError(
                f"startup delay {delay:g} s: on coarse lattices the probability of no late packet does not converge "
                f"here (it is {alpha:.3g} after the last step): give accuracy=exact"
            )
        return alpha, off

    def coarser(self) -> CoarseArrivals:
        """Return the same at a lower resolution, once for all cases; it does not keep this one."""
        with self._building:
            if self._coarser is None:
                self._coarser = CoarseArrivals(self.path, self.cases, coarser(self.resolution), finer=proxy(self))
            return self._coarser
