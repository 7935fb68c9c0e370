"""alpha of stored media on coarse lattices, over the startup delay."""

from __future__ import annotations

import math
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from ..coarse.late_from import FirstLosses
from ..coarse.lead import RISK, LateAfter, decay, late_after
from ..coarse.lead_turns import MANY, by_age
from ..coarse.many_losses import LOSSES, ManyLosses, many_losses, planned
from ..coarse.modes import Modes
from ..coarse.never_late import NeverLate, most_rounds, quantum
from ..coarse.resolution import SPARE, Resolution, Scale
from ..coarse.steps import Steps
from ..coarse.without_end import without_end
from ..system import watch
from .timeline import ON_TIME, Timeline

SURELY, WORTH = 0.1, 0.05
"""A video has settled where a packet is late after its end so many times less probably than one is late in it, relative
to the error that is stated at least; that is worth a look where the former is improbable enough."""

LONG = 12.0
"""Times of relaxation, variance over the square of the drift, after which a lead is stationary, about."""

SETTLED, NOTHING = 1e-6, 1e-10
"""Relative change of 1 - alpha, in a hundred steps, at which it is that of a video without end; and what is none."""

FAINT = 1e-9
"""Of a video without end, far below what is told: a shorter one has no more."""

LOOK = 100
"""Steps between two looks."""

ENDS = 500
"""Parts of a video, of which one at most lies between two ends for which alpha is looked at."""

ROOM = 2.0
"""Times what is ever ahead of playback: leads that are followed; at first, times the packets of the video."""

LEADS = 16.0
"""Rounds of playback that the finest lattice of leads has to resolve as well as what comes from loss to loss."""

FEW, AMPLE = 8.0, 2.0
"""Packets due in a round up to which, and T/mu from which on, single packets of the first losses decide."""

SHARPER, LEAST = 2.0, 20.0
"""Times as fine a lattice of leads, there; and packets that suffice to be resolved as well: quanta of half a packet."""

QUARTER = 0.25
"""Of a quantum, by which rounds of playback are out of step with the lattice."""

FEW_ROUNDS = 3.0
"""Of delay: up to so many single packets of the first rounds decide whether anything is late."""

STEEP = 1.5
"""Between 1 - alpha at leads a little less and a little more, from which on alpha has a stair between them."""

PLACE = 0.5
"""Packets to which the place of a stair is known, at best."""

BLUR = 0.5
"""Quanta, times the fourth root of the number of steps, over which cubics spread a step of alpha, about."""

EDGE = 0.3
"""Of the finest quantum, by which the lead may be off below which a packet is late: what lies between positions is
counted at one of them. Of 136 answers beside exact ones nine of ten were off by less, and two resolutions show more."""

WHOLE = 1e-9
"""Rounds by which a length differs from a whole number that is one."""

ROUNDS = 4096
"""Of playback, in which is looked at how much is rounded up to whole packets."""


class NeverLateCurve:
    """alpha over the startup delay, for one rate and length.

    Parameters
    ----------
    steps : Steps
        The chain, with any due.
    resolution : Resolution
    scale : Scale
    timeline : Timeline
        Of the video.
    modes : Modes or None
        Of the steps.
    """

    def __init__(
        self, steps: Steps, resolution: Resolution, scale: Scale, timeline: Timeline, modes: Modes | None
    ) -> None:
        self.due, self.length = timeline.packets_due, timeline.length
        self.step = min(steps.step, most_rounds(steps.chain))
        if steps.due != self.due or steps.step != self.step:
            packets = self.due * self.length
            modes = modes if steps.step == self.step else None
            steps = resolution.steps_of(steps.chain, self.step, self.due, packets, follow_leads=True)
        sharp = self.due <= FEW and steps.chain.packets_per_round >= AMPLE * self.due
        leads = LEADS / SHARPER if sharp else LEADS
        quantum = max(min(scale.packets if sharp else scale.missing, leads * self.due), LEAST) / resolution.lead_quanta
        self._apart = max(1, int(self.length / self.step / ENDS))
        self._steps, self._finest = by_age(steps), _out_of_step(self.due, quantum)
        found = decay(steps, self.due)
        self._safe = math.inf if found is None else found.safe
        self._decay = found if found is not None and found.safe <= self.due * self.length else None
        self._points, self._sure = resolution.lead_points, SURELY * resolution.least_no_late
        self._modes, self._losses = modes, scale.rounds / self.step
        # Little is random there: alpha has stairs, where single packets decide.
        self._limited, self._stairs = scale.limited, scale.limited and steps.chain.packets_per_round < SPARE * self.due
        # A lead falls even without losses: then alpha nearly has a step, where such a video begins to be late.
        self._falls = scale.limited and steps.chain.largest_round < self.due
        self._cover(ROOM * self.due * self.length)
        self._lock = Lock()
        self._ever: NeverLate | None = None

    def _cover(self, lead: float) -> None:
        """Follow leads at least up to one [packets], or to where nothing is late any more; forget what was made."""
        self._top = max(min(self._safe, lead), 64 * self._finest)
        self._settled: tuple[NeverLate, Any] | None = None
        self._values: NeverLate | None = None
        self._rows: dict[int, Any] = {}
        self._before: tuple[int, Any] | None = None
        self._last: int | None = None
        later = self.__dict__.get("_later")
        if later is None or not later.all_leads:
            self.__dict__.pop("_later", None)

    def at(self, timeline: Timeline, delay: float) -> tuple[float, float, float]:
        """Return alpha at a startup delay [s], and by how much it may be off.

        First by its place between rounds and leads, then by the edge of the lattice: see `EDGE`.

        With delays longer than the video only waits make packets late. They last whole rounds: alpha is a staircase,
        as it is at the shortest delays, and where one of the first packets is lost.
        """
        tau = timeline.rounds(delay)
        lead = self.due * tau
        if lead >= self._safe:
            return 1.0, 0.0, 0.0
        rounds = timeline.judged_rounds(delay) if timeline.horizon == "paper" else self.length + tau
        most = lead + self.due * self.length  # as much as is ever ahead
        with self._lock:
            if self._top < min(most, self._safe):
                self._cover(ROOM * most)
            more = by_whole_packets(self.due, tau, self.length)
            value, off = self._at(lead, rounds, more)
            near = (self._finest if self._is_far(lead) else quantum(self._finest, self._points, lead)) / 2
            if self._limited:
                near = max(near, PLACE)
            if self._falls:
                near = max(near, 2 * near * BLUR * (rounds / self.step) ** 0.25)
            below, above = max(lead - near, 0.0), lead + near
            low, high = (self._at(one, rounds, more)[0] for one in (below, above))
            off += abs(low - 2 * value + high)
            edge = EDGE * self._finest * abs(high - low) / (above - below)
            stairs = self._stairs or not FEW_ROUNDS <= tau <= self.length or 1 - low > STEEP * (1 - high)
            return value, off + max(high - value, value - low) if stairs else off, edge

    def at_first(self) -> NeverLate:
        """Return what becomes of any entry and lead in no time."""
        return NeverLate(self._steps, self.due, self._finest, self._top, self._points)

    def first_losses(self, rounds: float) -> FirstLosses | None:
        """Return how the first losses of so many rounds are followed until one mode tells the others, if it may."""
        if self._modes is None:
            return None
        plan = planned(self._steps, self._modes, self.due, self._finest, self._points, self._losses, rounds)
        if plan is None:
            return None
        values = NeverLate(self._steps, self.due, self._finest, min(self._top, plan.reach), plan.points)
        return FirstLosses(plan, values, self._modes)

    def in_the_long_run(self) -> NeverLate | None:
        """Return what becomes of any entry and lead in a video without end; None where that is not found."""
        with self._lock:
            if self._ever is None and self._decay is not None:
                values = self.at_first()
                self._ever = values if without_end(values, self._decay.rate) else None
            return self._ever

    def _at(self, lead: float, rounds: float, more: float) -> tuple[float, float]:
        """Return alpha for a lead at the start, and what the last part of a step may change; the lock is held."""
        settled = self._without_end(lead, more)
        if settled is not None and self._is_settled(lead, settled):
            return settled, min(self._left.at(lead), 1 - settled) if self._left else 0.0
        if settled is None and self._later is not None:
            return self._by_mode(self._later, max(lead + more, 0.0), rounds)
        ends = rounds / self.step / self._apart
        low = int(ends + 1e-9)
        share = max(ends - low, 0.0)
        value = self._row(low * self._apart, lead, settled, more)
        if share < 1e-9:
            return value, 0.0
        change = self._row((low + 1) * self._apart, lead, settled, more) - value
        return value + share * change, max(share, 1 - share) * abs(change) / self._apart

    def _is_far(self, lead: float) -> bool:
        """Return whether one mode, and no lattice, tells alpha at a lead: with T below mu; the lock is held."""
        return self._decay is None and self._later is not None and lead >= self._later.near

    def _by_mode(self, later: ManyLosses, lead: float, rounds: float) -> tuple[float, float]:
        """Return alpha for a lead at the start, and what the last part of a round may change."""
        low = math.floor(rounds + WHOLE)
        share = max(rounds - low, 0.0)
        if not self._is_far(lead) or share < WHOLE:
            return later.at(lead, rounds), 0.0
        return later.at(lead, rounds), max(share, 1 - share) * abs(later.at(lead, low + 1) - later.at(lead, low))

    @cached_property
    def _later(self) -> ManyLosses | None:
        """What comes of many losses; the lock is held."""
        if self._modes is None:
            return None
        rounds = self.length * max(1.0, self.due / self._steps.chain.packets_per_round)
        return many_losses(
            self._steps, self._modes, self.due, self._finest, self._top, self._points, self._losses, rounds
        )  # fmt: skip

    @cached_property
    def _left(self) -> LateAfter | None:
        """Probability that a packet is late after the end of the video, at most; None where nothing is known."""
        if self._decay is None:
            return None
        return late_after(self._steps, self.due, self._decay.rate, self.length / self.step)

    def _without_end(self, lead: float, more: float) -> float | None:
        """Return g of the start of a video without end, at a lead; None where it is not known; the lock is held."""
        if self._decay is None or self._left is None:
            return None
        if self._left.at(0.0) > WORTH and not self._settles_soon and not self._is_dear:
            return None
        if self._settled is None:
            values = self.at_first()
            if not without_end(values, self._decay.rate):
                self._decay = None
                return None
            self._settled = values, values.start_row()
        values, row = self._settled
        return values.read(row, lead, more)

    @cached_property
    def _is_dear(self) -> bool:
        """Whether all would be followed to the end of the video, as many losses have no one mode, in many entries."""
        return self._modes is not None and self._steps.entries >= MANY and self._later is None

    @cached_property
    def _settles_soon(self) -> bool:
        """Whether a lead becomes stationary before the end, and before one mode is likely to be known.

        Where states are few this is not asked: they are followed in no time.
        """
        spare = self._steps.chain.packets_per_round - self.due
        if self._modes is None or self._steps.entries < MANY or spare <= 0:
            return False
        rounds = LONG * self._modes.variance / self._modes.rounds / spare**2
        return rounds <= min(self.length, LOSSES[0] * self._losses * self.step)

    def _is_settled(self, lead: float, value: float) -> bool:
        """Return whether next to nothing is late for the first time after the end of the video."""
        left = 1.0 if self._left is None else self._left.at(lead)
        return left < self._sure * (1 - value) or left < RISK or 1 - value < FAINT

    def _row(self, number: int, lead: float, settled: float | None, more: float) -> float:
        """Return g of the start after so many steps, at a lead; the lock is held.

        Where it is known without end, that is what it is once it is near. The pass is taken away while it moves: an
        interruption leaves none, and it is made again.
        """
        values, self._values = self._values, None
        if values is None:
            values = self.at_first()
            self._rows, self._before, self._last = {}, None, None
        number -= values.opening
        first = int(self.length / self.step / self._apart) * self._apart - values.opening
        near = settled is not None and self._is_near(values, number, lead, settled, more)
        while values.number < number and self._last is None and not near:
            watch.at(values.number, number, watch.SHORTER)
            values.step()
            k = values.number
            if k >= first and (k - first) % self._apart == 0:
                self._rows[k] = values.start_row()
            if k % LOOK == 0:
                row = values.start_row()
                if self._before is not None and _settled(self._before[1], row):
                    self._last = k
                    self._rows[k] = row
                self._before = k, row
                near = settled is not None and self._is_near(values, number, lead, settled, more)
        self._values = values
        if settled is not None and near:
            return settled
        return values.read(self._rows[number if self._last is None or number in self._rows else self._last], lead, more)

    def _is_near(self, values: NeverLate, number: int, lead: float, settled: float, more: float) -> bool:
        """Return whether the last row that was looked at, of fewer steps, is next to that of a video without end."""
        if self._before is None or self._before[0] > number:
            return False
        return values.read(self._before[1], lead, more) - settled <= self._sure * (1 - settled)


def by_whole_packets(due: float, tau: float, length: float) -> float:
    """Return by how much a lead is better for packets that come one by one than for any part of one [packets].

    What is needed is rounded up to whole packets, by half a packet in the mean over rounds: then nothing is added.
    Where a round plays a whole number of packets, all are rounded alike.
    """
    needed = due * (math.ceil(tau) + np.arange(1.0, min(max(length, 1.0), ROUNDS) + 1) - tau)
    return float(0.5 - np.mean(np.ceil(needed - ON_TIME * np.maximum(needed, 1.0)) - needed))


def _out_of_step(due: float, quantum: float) -> float:
    """Return a quantum, about as large, of which a round of playback is not a whole number nor half of one.

    Leads that fall by whole rounds of playback in waits would all meet the lattice in the same place.
    """
    return due / (math.ceil(due / quantum - QUARTER) + QUARTER)


def _settled(before: Any, row: Any) -> bool:
    pairs = [(a, b) for old, new in zip(before, row) for a, b in zip(old, new)]
    return max(float(np.max(np.abs(a - b) / np.maximum(np.abs(np.max(b) - b), NOTHING))) for a, b in pairs) < SETTLED
