"""The probability of a late packet from some beginning on, after many losses: one mode tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from ..errors import AccuracyError
from .first_passage import FirstPassage, fitted
from .many_losses import FEW, LATE, Plan
from .modes import Beginning, Modes
from .never_late import NeverLate
from .never_late_after import Started, late_after, on_entries

Floats = NDArray[np.float64]


class FirstLosses(NamedTuple):
    """What is followed of a video until one mode is tried, from no steps on, and the modes of its chain."""

    plan: Plan
    values: NeverLate
    modes: Modes


@dataclass(frozen=True, eq=False)
class LateFrom:
    """P(a packet is late), over the lead and the rounds.

    Leads that are small at first remain so: between them P(no packet is late) only changes by a factor.

    Attributes
    ----------
    values : NeverLate
        After so many steps as were followed.
    begun : Started
        By entries.
    lead, more : float
        Of the beginning, about, and what is added to read values [packets]: see `never_late_after.late_after`.
    passage : FirstPassage
        Of the beginning.
    inner : (2,) array
        r and s.
    near : float
        Lead below which they are small [packets].
    wrong : float
        Part of the probability by which one mode misses it at some leads.
    """

    values: NeverLate
    begun: Started
    lead: float
    more: float
    passage: FirstPassage
    inner: Floats
    near: float
    wrong: float

    @property
    def known(self) -> float:
        """Rounds that were followed."""
        return float(self.values.number * self.values.steps.step)

    def after(self, rounds: float, further: float) -> float:
        """Return it for a lead that is so much further ahead [packets], within some rounds: `known` at least."""
        known = float(late_after(self.values, self.begun, np.array([further]), self.more)[0])
        lead = max(self.lead + further, self.near)
        return float(self.passage.later(known, lead, self.known, np.array([rounds]), self.inner)[0])


def late_from(
    followed: FirstLosses, begun: Started, lead: float, more: float, longest: float
) -> LateFrom | None:  # fmt: skip
    """Return what comes of a beginning after the steps that were followed; None where one mode does not tell it.

    Parameters
    ----------
    followed : FirstLosses
        After some steps, and `NeverLate.start_row`.
    begun : Started
        By states of the chain.
    lead, more : float
        See `LateFrom`.
    longest : float
        Rounds up to which it is asked for.
    """
    plan, values, modes = followed
    ahead = on_entries(modes.steps, begun)  # in an order of their own
    apart, which = np.unique(ahead.lead - lead, return_inverse=True)
    law = coo_array((ahead.chance, (which.ravel(), ahead.state)), shape=(len(apart), modes.steps.entries))
    begun = on_entries(values.steps, begun)
    begin, rounds = Beginning(np.zeros_like(apart), apart, law.toarray()), float(values.number * values.steps.step)
    leads = plan.leads(values.number)
    late = late_after(values, begun, leads - lead, more)
    used = (late > LATE) & (late < 1 - LATE)
    if used.sum() < FEW:
        return None
    try:
        passage = FirstPassage(modes.begun(begin), values.due, rounds, longest)
        inner = fitted(passage, leads[used], rounds, late[used], plan.worst)
        wrong = float(np.abs(passage.late(leads[used], rounds, inner) / late[used] - 1).max())
    except AccuracyError:
        return None
    return LateFrom(values, begun, lead, more, passage, inner, float(leads[used][0]), wrong)
