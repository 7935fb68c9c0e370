"""The probability of a stall after many losses, when one mode of TCP is left."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from ..coarse.first_passage import FirstPassage, fitted, that_end
from ..coarse.modes import Beginning, Modes
from ..coarse.resolution import Resolution, Scale
from ..coarse.state_grid import Grid, grid
from ..coarse.steps import Steps
from ..errors import AccuracyError
from ..tcp.independent import IndependentChain
from .fineness import Fineness
from .player_moves import Begun

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LOSSES, LONGER = 64.0, 3.0
"""That are followed; and times as long a video at least, of which that is worth while."""

REACH = 6.0
"""Standard deviations up to which leads are followed."""

LATE, STALLED, FEW = 1e-4, 1 - 1e-3, 5
"""Probabilities of a stall between which leads are looked at, and how many at least."""

WORST = 0.02
"""Part of the probability by which one mode may miss it at those leads."""

LATER = 1.5
"""Times the rounds of the video up to which it is asked for."""


class AtTheEnd(NamedTuple):
    """What happens where a lead ends.

    Attributes
    ----------
    inner : (2,) array
        r and s of `FirstPassage`.
    least : float
        Lead from which on they tell it [packets].
    wrong : float
        Part of the probability by which they miss it at some leads.
    """

    inner: Floats
    least: float
    wrong: float


class LateStalls:
    """A chain after many losses.

    Parameters
    ----------
    chain : IndependentChain
    on : Fineness
        Of what is followed until then.
    resolution : Resolution
        Of the chain in steps.
    last : float
        Rounds of the video.

    Raises
    ------
    AccuracyError
        Where no mode is found.
    """

    def __init__(self, chain: IndependentChain, on: Fineness, resolution: Resolution, last: float) -> None:
        scale = Scale.of(chain)
        self._due, self._last = on.due, last
        step = resolution.step(scale.recovered, chain)
        steps = resolution.steps_of(chain, step, on.due, on.due * last, follow_leads=False)
        self._modes, self._quantum = Modes(steps), on.quantum
        self._in_entries = _in_entries(steps, grid(chain, on.step, on.ratio, further=on.further))
        none, start = np.zeros(1), np.eye(1, steps.entries, steps.start)
        self.rounds = math.ceil(LOSSES * scale.rounds)
        self._sigma = math.sqrt(self._modes.variance * self.rounds / self._modes.rounds)
        self._fall = max(0.0, on.due - self._modes.mean / self._modes.rounds) * self.rounds
        self._of(Beginning(none, none, start))  # where that is not one mode, nothing has to be followed

    def top(self, buffers: float) -> float:
        """Return the lead up to which it is followed, with buffers of so many packets [packets]."""
        return max(buffers, self._fall + REACH * self._sigma)

    @property
    def leads(self) -> Floats:
        """Leads at which the probability of a stall in so many `rounds` is asked for, about [packets]."""
        return that_end(self._fall, self._sigma)

    def until(self, places: Ints) -> Ints:
        """Return places up to `rounds`."""
        return np.unique(np.minimum(places, self.rounds))

    def fitted(self, begun: Begun, leads: Floats, late: Floats) -> AtTheEnd:
        """Return what happens where a lead ends.

        Parameters
        ----------
        begun : Begun
        leads, late : (n,) arrays
            About `leads`, and the probability of a stall there, in so many `rounds`.

        Raises
        ------
        AccuracyError
            Where one mode does not tell it.
        """
        used = (late > LATE) & (late < STALLED)
        if used.sum() < FEW:
            raise AccuracyError("late stalls: too few leads to tell them")
        passage, rounds = self._passage(begun), float(self.rounds)
        inner = fitted(passage, leads[used], rounds, late[used], WORST)
        wrong = float(np.abs(passage.late(leads[used], rounds, inner) / late[used] - 1).max())
        return AtTheEnd(inner, float(leads[used][0]), wrong)

    def chance(self, begun: Begun, end: AtTheEnd, known: float, later: Floats) -> Floats:
        """Return the probability of a stall in so many rounds, from `rounds` on.

        Parameters
        ----------
        begun : Begun
        end : AtTheEnd
        known : float
            What it is after `rounds`.
        later : (l,) array

        Raises
        ------
        AccuracyError
            Where one mode does not tell it.
        """
        passage = self._passage(begun)
        lead = max(begun.goal * self._quantum, end.least)  # leads that are small at first remain so
        found: Floats = np.maximum.accumulate(passage.later(known, lead, float(self.rounds), later, end.inner))
        return found

    def _passage(self, begun: Begun) -> FirstPassage:
        after = np.column_stack([begun.lengths[begun.which[:, 0]], begun.which[:, 2]])
        keys, which = np.unique(after, axis=0, return_inverse=True)
        law = coo_array(
            (begun.chance, (which.ravel(), begun.which[:, 1])), shape=(len(keys), self._in_entries.shape[0])
        )
        rounds, quanta = keys.T.astype(np.float64)
        return self._of(Beginning(rounds, quanta * self._quantum, (law @ self._in_entries).toarray()))

    def _of(self, begin: Beginning) -> FirstPassage:
        return FirstPassage(self._modes.begun(begin), self._due, float(self.rounds), LATER * self._last)


def _in_entries(steps: Steps, on: Grid) -> csr_array:
    """Return which entries of a chain in steps stand for states that are followed: (S, E) weights."""
    grid, states = steps.grid, on.states
    counts = grid.starts[states + 1] - grid.starts[states]
    row = np.repeat(np.arange(len(states)), counts)
    at = np.repeat(grid.starts[states] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    return csr_array((grid.weights[at], (row, grid.points[at])), shape=(len(states), steps.entries))
