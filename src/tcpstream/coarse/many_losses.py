"""P(no packet is late) after many losses: followed through some of them, and from there on from one mode."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..system import watch
from .first_passage import FirstPassage, fitted
from .lead_turns import MANY
from .modes import Modes
from .never_late import NeverLate
from .steps import Steps

Floats = NDArray[np.float64]

LOSSES = 64, 96, 160, 320, 640
"""After which one mode is tried."""

LONGER = 4
"""Times as many steps as are followed, that a video has at least."""

SOONER, LESS = (32, 48), 2.5
"""Where states are many, so that steps are dear, and a video is too short for that, one mode is tried after so many
losses, if it is that much longer."""

NEAR, FAR, LEADS = 0.25, 3.0, 12
"""Standard deviations between which leads are looked at, and how many."""

LATE = 1e-3
"""Probability that there is a late packet, and that there is none, from which on they are looked at; and how many."""

FEW = 5
"""Leads that are looked at, at least."""

LATER = 1.5
"""Times the rounds of the video, that it takes with its startup delay."""

REACH = 6.0
"""Standard deviations of leads that are followed, over the mean."""


class ManyLosses:
    """g of the start, for leads and rounds.

    Leads that are small at first remain so: between them g only changes by a factor.

    Parameters
    ----------
    values : NeverLate
        After some losses.
    passage : FirstPassage
        For many more.
    inner : (2,) array
        r and s.
    near : float
        Lead below which they are small [packets].
    """

    def __init__(self, values: NeverLate, passage: FirstPassage, inner: Floats, near: float) -> None:
        self._values, self._row, self._near = values, values.start_row(), near
        self._passage, self._inner = passage, inner

    def at(self, lead: float, rounds: float) -> float:
        """Return g at a lead [packets], so many rounds before the end."""
        known = 1 - float(self._passage.late(np.array([max(lead, self._near)]), rounds, self._inner)[0])
        if lead >= self._near:
            return known
        return known * self._values.read(self._row, lead) / self._values.read(self._row, self._near)


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
        Of the video.
    """
    losses = rounds / (loss * steps.step)
    tried = [one for one in LOSSES if LONGER * one <= losses]
    if not tried and steps.entries >= MANY:
        tried = [one for one in SOONER if LESS * one <= losses]
    numbers = [math.ceil(one * loss) for one in tried]
    if not numbers:
        return None
    sigma = math.sqrt(modes.variance)
    fall = max(0.0, due * steps.step - modes.mean)
    reach = fall * numbers[-1] + REACH * sigma * math.sqrt(numbers[-1])
    values = NeverLate(steps, due, finest, min(top, reach), points)
    for number in numbers:
        while values.number < number - values.opening:
            watch.at(values.number, number, watch.SHORTER)
            values.step()
        row, begin = values.start_row(), float((values.number + values.opening) * steps.step)
        scale = sigma * math.sqrt(number)
        leads = np.linspace(NEAR * scale, fall * number + FAR * scale, LEADS)
        late = np.array([1 - values.read(row, float(one)) for one in leads])
        if late[0] <= LATE and fall == 0:
            return None  # nor is there ever one later
        used = (late > LATE) & (late < 1 - LATE)
        if used.sum() < FEW:
            continue
        try:
            inner = fitted(FirstPassage(modes, due, begin, begin), leads[used], begin, late[used])
            return ManyLosses(values, FirstPassage(modes, due, rounds, LATER * rounds), inner, float(leads[used][0]))
        except AccuracyError:
            continue
    return None
