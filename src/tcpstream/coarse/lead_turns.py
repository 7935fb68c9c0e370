"""Values over leads, of entries to which moves turn back: what a turn makes of them, from loss to loss."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..system import watch
from .lead_waves import LongWaves
from .never_late import NeverLate
from .outlook import outlook, stationary
from .steps import Steps

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MANY, ALIKE = 500, 8
"""Entries from which on a turn goes through them age by age, and entries of an age, on average: with fewer a step costs
no more than an age."""

FINEST = 12
"""Positions of the finest lattice from hat to hat, at least."""


def by_age(steps: Steps) -> Steps:
    """Return steps with the entries in the order of their ages, if those tell much: growth leads on to later ones."""
    return steps.in_order(np.argsort(_ages(steps), kind="stable"))


def _ages(steps: Steps) -> Ints:
    """Return the ages of entries, 0 where they do not tell much."""
    ages = np.asarray(steps.grid.ages[steps.points] * (steps.step + 1) + steps.times)
    tell = steps.entries >= max(MANY, ALIKE * len(np.unique(ages)))
    return ages if tell else np.zeros_like(ages)


class LeadTurns:
    """The levels of `NeverLate` as vectors: each lead of an entry to which moves turn back, once.

    A turn goes back in time through the ages of a line, the oldest first, so that values of later ages are known. Moves
    turn back to entries that are no older than where they come from.

    Parameters
    ----------
    values : NeverLate
        Of steps in the order of `by_age`.

    Attributes
    ----------
    leads : (n,) array
        Of the values of a vector [packets].
    """

    def __init__(self, values: NeverLate) -> None:
        self._values, steps = values, values.steps
        ages = _ages(steps)
        self._back = ages[steps.target] <= ages[steps.source]
        begins = np.append(0, np.flatnonzero(np.diff(ages)) + 1)
        self._parts = values.parted(np.append(begins, steps.entries))
        every = np.arange(steps.entries)
        self._turned = np.unique(steps.target[self._back]) if len(begins) > 1 else every
        self._read = [self._parts[i] for i in np.unique(np.searchsorted(begins, self._turned, "right")) - 1]
        self._own = [
            (level, slice(level.ghosts + low, level.inside.stop), level.leads(low, level.points)[self._turned])
            for level, low in zip(values.levels, values.of_the_finer())
        ]
        self.leads = np.concatenate([leads.ravel() for _, _, leads in self._own])

    @property
    def ages(self) -> int:
        """How many a turn goes through; 1 where it is a single step."""
        return len(self._parts)

    def load(self, vector: Floats, beyond: float) -> None:
        """Set the values of entries to which moves turn back, and the one at all leads beyond."""
        start = 0
        for level, own, leads in self._own:
            level.old[self._turned, own] = vector[start : start + leads.size].reshape(leads.shape)
            start += leads.size
        last = self._values.levels[-1]
        last.old[:, last.inside.stop :] = beyond

    def applied(self, vector: Floats, beyond: float) -> Floats:
        """Return the values one turn earlier; those of all entries are set."""
        watch.at(instead=watch.SHORTER)
        self.load(vector, beyond)
        for part in self._read:
            self._values.close(part[0].rows)
        for part in reversed(self._parts):
            self._values.stepped(part)
            if part is not self._parts[0]:
                self._values.close(part[0].rows)
        return np.concatenate([level.old[self._turned, own].ravel() for level, own, _ in self._own])

    def long_waves(self, changed: Callable[[Floats], Floats]) -> LongWaves:
        """Return the correction for long waves."""
        steps, back, turned = self._values.steps, self._back, self._turned
        E, source, target, weight = steps.entries, steps.source, steps.target, steps.weight
        drift = weight * (steps.mean - self._values.due * steps.elapsed)
        change = np.bincount(source, drift, E).astype(np.float64)
        visits = np.maximum(stationary(source, target, weight, E), 0.0)
        clock = np.ones(E)
        ends = visits
        if self.ages > 1:
            clock = np.bincount(source[back], weight[back], E).astype(np.float64)
            ends = np.maximum(np.bincount(target[back], (visits[source] * weight)[back], E), 0.0)
            ends /= ends.sum()
        later = outlook(source, target, weight, change, visits, clock)
        apart = math.sqrt(float(ends @ (later - ends @ later) ** 2))
        places = [(leads + later[turned, np.newaxis]).ravel() for _, _, leads in self._own]
        shares = [np.repeat(ends[turned] * level.quantum, leads.shape[1]) for level, _, leads in self._own]
        width = max(FINEST * self._values.levels[0].quantum, apart / 2)
        return LongWaves(np.concatenate(places), np.concatenate(shares), width, changed)
