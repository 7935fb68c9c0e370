"""P(no packet is late) after many losses: followed through some of them, and from there on from one mode."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..system import watch
from .first_passage import WORST, FirstPassage, fitted, that_end
from .lead_turns import MANY
from .modes import Modes
from .never_late import NeverLate, quantum
from .steps import Steps

Floats = NDArray[np.float64]

LOSSES = 64, 96, 160, 320, 640
"""After which one mode is tried."""

LONGER = 4
"""Times as many steps as are followed, that a video has at least."""

SOONER, LESS = (32, 48), 2.5
"""Where states are many, so that steps are dear, and a video is too short for that, one mode is tried after so many
losses, if it is that much longer."""

DEEP, FINER, MOST_FINER = (16, 32, 64), 16.0, 8
"""Losses after which one mode is tried where by then most leads have ended that end at all; and quanta in a standard
deviation of these, with lattices up to so many times as fine."""

WORST_SOON = 0.02
"""As `first_passage.WORST`, where few losses suffice: r and s hardly matter after many more."""

LATE = 1e-3
"""Probability that there is a late packet, and that there is none, from which on they are looked at; and how many."""

FEW = 5
"""Leads that are looked at, at least."""

LATER, WHOLE = 1.5, 1e-9
"""Times some rounds, up to which what is made for them tells it; and a part of it that is none."""

REACH = 6.0
"""Standard deviations of leads that are followed, over the mean."""


class ManyLosses:
    """g of the start, for leads and rounds.

    Leads that are small at first remain so: between them g only changes by a factor.

    Parameters
    ----------
    values : NeverLate
        After some losses.
    modes : Modes
    due, rounds : float
        m, and rounds for which it is likely to be asked.
    inner : (2,) array
        r and s.
    near : float
        Lead below which they are small [packets]; an attribute.
    all_leads : bool
        Whether all leads were followed that may end in these losses; an attribute.

    Raises
    ------
    AccuracyError
        As `FirstPassage`.
    """

    def __init__(
        self, values: NeverLate, modes: Modes, due: float, rounds: float, inner: Floats, near: float, all_leads: bool
    ) -> None:  # fmt: skip
        self._values, self._row, self.near, self.all_leads = values, values.start_row(), near, all_leads
        self._modes, self._due, self._rounds, self._inner = modes, due, rounds, inner
        self._passages: dict[int, FirstPassage] = {}
        self._passage(rounds)

    def at(self, lead: float, rounds: float) -> float:
        """Return g at a lead [packets], so many rounds before the end.

        Raises
        ------
        AccuracyError
            As `FirstPassage`.
        """
        known = 1 - float(self._passage(rounds).late(np.array([max(lead, self.near)]), rounds, self._inner)[0])
        if lead >= self.near:
            return known
        return known * self._values.read(self._row, lead) / self._values.read(self._row, self.near)

    def _passage(self, rounds: float) -> FirstPassage:
        """Return what tells it for so many rounds.

        It is made for some and `LATER` times as many; for a little less what is left out is 1e-5 instead of 1e-8.
        """
        number = math.floor(math.log(rounds / self._rounds) / math.log(LATER) + WHOLE)
        if number == -1:
            number = 0
        if number not in self._passages:
            begin = self._rounds * LATER**number
            self._passages[number] = FirstPassage(self._modes, self._due, begin, LATER * begin)
        return self._passages[number]


class Plan(NamedTuple):
    """How the first losses are followed until one mode is tried.

    Attributes
    ----------
    numbers : list of int
        Steps after which it is.
    points : int
        Of a lattice.
    worst : float
        Part by which it may miss what is known.
    fall, sigma : float
        By how much a lead falls in a step on average, 0 if it grows, and the standard deviation of its change
        [packets].
    """

    numbers: list[int]
    points: int
    worst: float
    fall: float
    sigma: float

    @property
    def reach(self) -> float:
        """Lead [packets] from which next to nothing is late in so many steps."""
        number = self.numbers[-1]
        return self.fall * number + REACH * self.sigma * math.sqrt(number)

    def leads(self, number: int) -> Floats:
        """Return leads of which some end in so many steps and others do not [packets]."""
        return that_end(self.fall * number, self.sigma * math.sqrt(number))


def planned(
    steps: Steps, modes: Modes, due: float, finest: float, points: int, loss: float, rounds: float
) -> Plan | None:  # fmt: skip
    """Return how the first losses are followed; None where a video has too few. Parameters as for `many_losses`."""
    losses = rounds / (loss * steps.step)
    tried = [one for one in LOSSES if LONGER * one <= losses]
    if not tried and steps.entries >= MANY:
        tried = [one for one in SOONER if LESS * one <= losses]
    sigma = math.sqrt(modes.variance)
    fall = max(0.0, due * steps.step - modes.mean)
    deep, worst = math.ceil(DEEP[0] * loss), WORST
    if losses >= LONGER * DEEP[0] and fall * math.sqrt(deep) > REACH * sigma:
        tried, worst = [one for one in DEEP if LONGER * one <= losses], WORST_SOON
        scale = sigma * math.sqrt(deep)
        widest = [points * 2**k for k in range(MOST_FINER.bit_length())]
        points = next((n for n in widest if FINER * quantum(finest, n, fall * deep) <= scale), widest[-1])
    numbers = [math.ceil(one * loss) for one in tried]
    return Plan(numbers, points, worst, fall, sigma) if numbers else None


def many_losses(
    steps: Steps, modes: Modes, due: float, finest: float, top: float, points: int, loss: float, rounds: float
) -> ManyLosses | None:
    """Follow the first losses, and return what comes later; None where that is not one mode.

    Parameters
    ----------
    steps : Steps
    modes : Modes
        Of the same chain.
    due, finest, top : float
        m, the quantum of the finest lattice, and the lead from which nothing is late [packets].
    points : int
        Of a lattice.
    loss : float
        Steps from loss to loss.
    rounds : float
        Of the video, or in which TCP delivers it where these are more.
    """
    plan = planned(steps, modes, due, finest, points, loss, rounds)
    if plan is None:
        return None
    values = NeverLate(steps, due, finest, min(top, plan.reach), plan.points)
    for number in plan.numbers:
        while values.number < number - values.opening:
            watch.at(values.number, number, watch.SHORTER)
            values.step()
        row, begin = values.start_row(), float((values.number + values.opening) * steps.step)
        leads = plan.leads(number)
        late = np.array([1 - values.read(row, float(one)) for one in leads])
        if late[0] <= LATE and plan.fall == 0:
            return None  # nor is there ever one later
        used = (late > LATE) & (late < 1 - LATE)
        if used.sum() < FEW:
            continue
        try:
            inner = fitted(FirstPassage(modes, due, begin, begin), leads[used], begin, late[used], plan.worst)
            return ManyLosses(values, modes, due, rounds, inner, float(leads[used][0]), top >= plan.reach)
        except AccuracyError:
            continue
    return None
