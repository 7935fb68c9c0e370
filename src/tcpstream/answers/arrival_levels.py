"""What has arrived of stored media: on a ladder of lattices, by its transform, and by one mode after many losses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from ..coarse.in_moments import in_moments
from ..coarse.law import Law
from ..coarse.lead import Decay, decay
from ..coarse.long_law import LongLaw
from ..coarse.modes import Modes
from ..coarse.resolution import LOSSES, Resolution, Scale, coarser
from ..coarse.steps import Steps
from ..coarse.transformed_law import TransformedLaw
from ..errors import AccuracyError
from ..path import Path
from ..tcp import Varying, chain_of
from .arrivals import Arrivals
from .plan import Plan
from .sums_over_rounds import AnyLaw
from .timeline import Timeline

Floats = NDArray[np.float64]

HEAD_CELLS = 2e7
"""States times positions times rounds of the first packets, which are followed one by one."""

LADDER = 4.0
"""Between the numbers of packets up to which lattices are used."""

SAMPLES, MOST_SAMPLES = 64, 8192
"""In the time up to which a lattice is used, of sums over later times, at least; and where each round counts."""

LOOKED_AT, SAME, NOTHING, BLURRED = 6, 5e-3, 3e-8, 3e-7
"""Standard deviations below which both laws are the same but for so much, once more at each, and for so many; the last
after few losses, where lattices blur more."""

SOME, SEVERAL = 6.0, 32.0
"""Losses after which the transform of the law is tried first, and one mode of it; the latter once more after many."""

NEAR = 1.2
"""T/mu up to which the transform is tried, of CUBIC: with more, lattices follow less, as what is far ahead is never
late; and those of fewer entries take no time."""

PARTS = 8
"""Of a video, the longest in which steps are few."""


class ArrivalLevels:
    """The laws of what has arrived, finest first, each up to so many packets.

    Parameters
    ----------
    path, cases, resolution, follow_all
        See `CoarseArrivals`.
    finer : ArrivalLevels or None
        The same at a higher resolution, whose first packets are as exact.
    """

    def __init__(
        self, path: Path | Varying, cases: Iterable[Timeline], resolution: Resolution, follow_all: bool,
        finer: ArrivalLevels | None,
    ) -> None:  # fmt: skip
        self.path, self.cases, self.resolution, self.follow_all = path, tuple(cases), resolution, follow_all
        self.chain = chain_of(path)
        self.packets = max(one.packets for one in self.cases)
        self._building = RLock()
        self._finer = finer
        self._head: Arrivals | None = None
        self._levels: list[tuple[float, AnyLaw]] = []
        self._in_steps: dict[tuple[Resolution, int], Steps] = {}

    @cached_property
    def scale(self) -> Scale:
        """Units of the chain; something changes in a part of the shortest video at most."""
        scale = Scale.of(self.chain)
        return replace(scale, recovered=min(scale.recovered, min(one.length for one in self.cases) / PARTS))

    @cached_property
    def due(self) -> float:
        """m, the most packets per round that are ever due."""
        return max(one.packets_due for one in self.cases)

    @property
    def fastest(self) -> float:
        """Packets per round that TCP delivers, or that are due, whichever are more."""
        return max(self.chain.packets_per_round, self.due)

    @cached_property
    def steps(self) -> Steps:
        """The chain in steps."""
        step = self.resolution.step(self.scale.recovered, self.chain)
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

    @property
    def head(self) -> Arrivals:
        """The first packets, one by one."""
        if self._finer is not None:
            return self._finer.head
        with self._building:
            if self._head is None:
                self._head = Arrivals(self.path, self.cases, Plan(), self.first)
            return self._head

    def levels(self) -> Iterator[tuple[float, AnyLaw]]:
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
        followed = before if isinstance(before, Law | TransformedLaw) and below < before.edge else None
        if long is not None:
            found.append((edge, long))
        elif not isinstance(followed, TransformedLaw) and (law := self._transformed(below, quantum)) is not None:
            found.append((self._until_tried(below, law.edge), law))
        elif followed is not None:
            found.append((self._until_tried(below, followed.edge), followed))
        else:
            steps, time = self._steps(below), below / self.fastest
            edge = min(LADDER * below, packets)
            every = self._every(time, edge, steps)
            found.append((self._until_tried(below, edge), Law(steps, quantum, edge, self.due, self.lead, every)))
        return True

    def _every(self, time: float, edge: float, steps: Steps) -> int:
        """Return how many steps lie between times at which sums are known well enough, after so many rounds."""
        smooth = self.chain.packets_per_round > self.due or edge < self.packets  # else the last rounds decide
        samples = MOST_SAMPLES if self.scale.limited else SAMPLES  # there single packets may decide
        return max(1, int(time / samples / steps.step)) if smooth else 1

    def _until_tried(self, below: float, edge: float) -> float:
        """Return the packets, up to an edge, up to which a law is used: another one may go on from there."""
        losses = (*([SOME] if self._has_transform else []), SEVERAL, LOSSES)
        tried = (many * self.scale.packets for many in losses)
        return min((one for one in tried if below < one < edge), default=edge)

    @cached_property
    def _has_transform(self) -> bool:
        """Whether the transform of the law may be followed."""
        return (
            not self.scale.limited and self.steps.grid.curved and self.chain.packets_per_round <= NEAR * self.due
        )  # fmt: skip

    def _steps(self, below: float) -> Steps:
        """Return the chain in steps for the lattice that begins with so many packets.

        After many losses it may be a coarser one, where no law of one mode is compared with its tails: its mean and
        variance are those of the chain.
        """
        whole = self.steps
        many = below >= LOSSES * self.scale.packets
        resolution = coarser(self.resolution) if many else self.resolution
        rounds = min(self.scale.recovered, below / self.chain.packets_per_round / 2)
        step = resolution.step(rounds, self.chain)
        if resolution is self.resolution and step == whole.step:
            return whole
        if (resolution, step) not in self._in_steps:
            self._in_steps[resolution, step] = resolution.steps_of(
                self.chain, step, self.due, self.packets, follow_leads=False
            )
        return self._in_steps[resolution, step]

    def _quantum(self, below: float) -> float:
        """Return the quantum of the lattice that begins with so many packets [packets].

        The largest windows have whole ones where they are most: else they would spread on the lattice, and next to
        nothing does otherwise.
        """
        wanted = max(self.scale.spread(below) / self.resolution.quanta, 1.0)
        if not self.scale.limited:
            return wanted
        window = self.chain.largest_round * self._steps(below).step
        return window / max(1, round(window / wanted))

    @cached_property
    def _modes(self) -> Modes | None:
        """Of the chain, for videos with many losses; None for others, and where they are not found."""
        if self.packets < LOSSES * self.scale.packets:
            return None
        try:
            return Modes(self.steps)
        except AccuracyError:
            return None

    @cached_property
    def _decay(self) -> Decay | None:
        return decay(self.steps, self.due)

    def _long(self, below: float, edge: float, quantum: float) -> LongLaw | None:
        """Return the law between so many packets by its one mode, if the level before has it; None otherwise.

        Of two resolutions the higher one decides.
        """
        modes = self._modes if self._levels and below >= SEVERAL * self.scale.packets else None
        if modes is None or not (self._finer is None or self._finer.kind(len(self._levels)) is LongLaw):
            return None
        mean, found = self.chain.packets_per_round, self._decay
        begin = math.ceil(below / self.fastest / modes.rounds) * modes.rounds
        try:
            long = LongLaw(modes, begin, edge / mean, found.rate if found else 0.0, begin / SAMPLES, quantum)
        except AccuracyError:
            return None
        return long if self._finer is not None or self._is_same(long, begin, below) else None

    def _transformed(self, below: float, quantum: float) -> TransformedLaw | None:
        """Return the law from so many packets on by its transform, if the level before has it; None otherwise.

        Of two resolutions the higher one decides.
        """
        mean, size, number = self.chain.packets_per_round, self.scale.packets, len(self._levels)
        known = SOME * size <= below * min(mean / self.due, 1.0) and below < LOSSES * size
        if not (number and known and self._has_transform):
            return None
        if self._finer is not None and self._finer.kind(number) is not TransformedLaw:
            return None
        steps, time = self._steps(below), below / self.fastest
        edge = min(SEVERAL * size if 2 * below <= SEVERAL * size else LADDER * below, float(self.packets))
        decay, end = self._decay.rate if self._decay else 0.0, edge / min(mean, self.due)
        try:
            law = TransformedLaw(steps, time, end, edge, self.due, decay, self._every(time, edge, steps), quantum)
        except AccuracyError:
            return None
        return law if self._finer is not None or self._is_same(law, math.ceil(time), below, BLURRED) else None

    def _is_same(
        self, law: LongLaw | TransformedLaw, begin: float, below: float, nothing: float = NOTHING
    ) -> bool:  # fmt: skip
        """Return whether a law is the same as the one before after so many rounds and packets."""
        mean, before = self.chain.packets_per_round, self._levels[-1][1]
        sigmas = np.append(0.0, np.arange(float(LOOKED_AT)))
        t = np.full(len(sigmas), begin)
        sigma = math.sqrt(in_moments(self.chain).rates[1] * begin)
        y: Floats = min(mean, self.due) * begin - sigma * sigmas
        y[0] = min(self.due * begin, below)  # above the mean, where TCP is slower than the video
        a, b = before.missing(t, y), law.missing(t, y)
        return bool(np.all(np.abs(a - b) <= SAME * (1 + sigmas) * a + nothing * sigma))

    def kind_after(self, rounds: float) -> type[AnyLaw]:
        """Return which law is known after so many rounds."""
        kind: type[AnyLaw] = Law
        for edge, law in self.levels():
            kind = type(law)
            if isinstance(law, LongLaw) or edge > rounds * self.fastest:
                return kind
        return kind

    def kind(self, number: int) -> type[AnyLaw] | None:
        """Return which law the level of this number, from 0, has."""
        return next((type(law) for _, law in islice(self.levels(), number, number + 1)), None)

    @property
    def quantum(self) -> int:
        """Packets per step of the coarsest lattice that the whole length needs."""
        last = float(self.first)
        if last >= self.packets:
            return 1
        while last * LADDER < self.packets:
            last *= LADDER
        return max(2, round(self._quantum(last)))
