"""Transitions of TCP as a player meets them: on a lattice, for any buffers."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..kernels.buffer_begin import filled
from ..kernels.buffer_moves import Passing
from ..kernels.buffer_state import Measures, Nothing
from .deliveries import Deliveries
from .fineness import Fineness
from .lattice import Joint, joint, smooth, totals
from .passing import lacking, passing

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class PlayerMoves:
    """Transitions on a lattice, and what is made of them once for all buffers.

    Parameters
    ----------
    found : Deliveries
    on : Fineness
    asked : Measures
    """

    def __init__(self, found: Deliveries, on: Fineness, asked: Measures) -> None:
        self.found, self.on, self.asked = found, on, asked
        self.joint: Joint = joint(found, on.quantum, on.further)
        self.all, self.far = totals(self.joint), smooth(found, on.quantum, on.nodes)
        _, due = on.needed(on.due)
        self.lacking = lacking(self.joint, due, on.exact, on.quanta)
        self.playing = passing(self.joint, due, on.exact, on.quanta)
        self._needs: dict[float, Passing] = {}
        self._begun: dict[float, tuple[int, Ints, Ints, Floats]] = {}

    @cached_property
    def nothing(self) -> Nothing:
        """Transitions in which nothing arrives."""
        return self._nothing(self.asked.waited)

    def needs(self, more: float) -> Passing:
        """Return transitions by what their first round must deliver to fill a buffer."""
        if more not in self._needs:
            self._needs[more] = passing(self.joint, more, self.on.exact)
        return self._needs[more]

    def begun(self, packets: float) -> tuple[int, Ints, Ints, Floats]:
        """Return how playback begins with so many packets: the goal, and what `seen_from` takes."""
        if packets not in self._begun:
            self._begun[packets] = self._filled(packets)
        return self._begun[packets]

    def _filled(self, packets: float) -> tuple[int, Ints, Ints, Floats]:
        goal, more = self.on.needed(packets)
        rounds = self.all.rounds
        lengths = np.unique(np.concatenate([[0], rounds, rounds - 1]))
        free = self._nothing(np.ones((len(self.asked.waited), 1)))
        law = filled(goal, self.found.start, self.needs(more), self.all, free, lengths)
        which = np.argwhere(law != 0)
        return goal, lengths, which, law[tuple(which.T)]

    def _nothing(self, waited: Floats) -> Nothing:
        """Return transitions in which nothing arrives, and what undoes them, for factors of waits, by columns."""
        moves = self.all
        states = len(moves.starts) - 1
        source = np.repeat(np.arange(states), np.diff(moves.starts))
        used = moves.received == 0
        source, target, rounds, chance = source[used], moves.target[used], moves.rounds[used], moves.chance[used]
        to = np.unique(target)
        place = np.full(states, -1)
        place[to] = np.arange(len(to))
        inside = place[source] >= 0
        where = place[source[inside]], place[target[inside]]
        inverse = np.empty((waited.shape[1], len(to), len(to)))
        for c in range(waited.shape[1]):
            left = np.eye(len(to))
            np.subtract.at(left, where, chance[inside] * waited[rounds[inside], c])
            inverse[c] = np.linalg.inv(left)
        return Nothing(np.searchsorted(source, np.arange(states + 1)), target, rounds, chance, to, place, inverse)
