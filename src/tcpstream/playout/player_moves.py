"""Transitions of TCP as a player meets them: on a lattice, for any buffers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.buffer_begin import filled
from ..kernels.buffer_moves import Passing, Totals
from ..kernels.buffer_state import Filling, Measures, Nothing
from .deliveries import Deliveries
from .fineness import Fineness
from .lattice import Joint, between, joint, larger, smooth, totals
from .passing import lacking, passing

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SEVERAL = 4.0
"""Times further that large numbers of quanta are apart in transitions of several rounds: where not all is repaired."""

EXACT, MANY = 512, 300_000
"""Packets of a start buffer up to which each is followed until playback begins; and transitions by the packets in order
and received, above which they are too many for that."""


def quanta_of(found: Deliveries, on: Fineness) -> Joint:
    """Return deliveries in quanta of a lattice."""
    return joint(found, on.quantum / on.scale(found), SEVERAL * on.further)


class Begun(NamedTuple):
    """How playback begins: a goal in quanta, and what `seen_from` takes."""

    goal: int
    lengths: Ints
    which: Ints
    chance: Floats


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
        self.whole = whole = quanta_of(found, on)
        self.all, self.far = totals(whole), smooth(found, on.quantum / on.scale(found), on.nodes)
        _, due = on.needed(on.due)
        self.lacking = lacking(whole, due, on.exact, on.quanta, SEVERAL * on.further)
        self.playing = passing(whole, due, on.exact, on.quanta)
        self._begun: dict[float, Begun] = {}

    def filling(self, packets: float, whole: bool) -> Filling:
        """Return how a player fills its buffer with so many packets; `whole` asks for quanta that are not larger."""
        goal, _ = self.on.needed(packets)
        size = 1 if whole or not self.on.levels else max(1, round(goal / self.on.levels))
        threshold, more = self.on.needed(packets, size)
        one = larger(self.whole, size) if size > 1 else self.whole
        moves = totals(one)
        return Filling(
            size, threshold, passing(one, more, self.on.exact, threshold), moves,
            self._nothing(moves, self.asked.waited),
        )  # fmt: skip

    def with_waits(self, filling: Filling, waited: Floats) -> Filling:
        """Return how a player fills its buffer with other factors of waits: (rounds, columns)."""
        return filling._replace(nothing=self._nothing(filling.moves, waited))

    def begun(self, packets: float) -> Begun:
        """Return how playback begins with so many packets."""
        if packets not in self._begun:
            self._begun[packets] = self._filled(packets)
        return self._begun[packets]

    def _filled(self, packets: float) -> Begun:
        """Return how playback begins: where packets are few, one by one, as first rounds bring much the same."""
        goal, more = self.on.needed(packets)
        if self.on.exact or packets > EXACT or len(self.found.chance) > MANY:
            passed = passing(self.whole, more, self.on.exact, goal)
            return Begun(goal, *self._until(goal, self._start, passed, self.all))
        whole, moves = self._by_packets
        least, more = self.on.by_packets().needed(packets)
        lengths, which, chance = self._until(least, self._start, passing(whole, more, True, least), moves)
        columns, held = list(which.T), (least + which[:, 2]) / self.on.quantum
        columns, chance = between(columns, chance, 2, held - goal, np.zeros(len(held)))
        return Begun(goal, lengths, np.column_stack(columns), chance)

    def begun_from(self, packets: float, laws: Sequence[Floats]) -> list[Begun]:
        """Return how playback begins with so many packets, from some distributions of the first state."""
        goal, more = self.on.needed(packets)
        passed = passing(self.whole, more, self.on.exact, goal)
        return [Begun(goal, *self._until(goal, law, passed, self.all)) for law in laws]

    @property
    def _start(self) -> Floats:
        first: Floats = np.eye(1, self.found.states, self.found.start)[0]
        return first

    @cached_property
    def _by_packets(self) -> tuple[Joint, Totals]:
        """Transitions by packets, as what `whole` and `all` are in quanta."""
        whole = quanta_of(self.found, self.on.by_packets())
        return whole, totals(whole)

    def _until(self, goal: int, begin: Floats, passed: Passing, moves: Totals) -> tuple[Ints, Ints, Floats]:
        """Return what follows `goal` of `Begun`, from a distribution of the first state."""
        lengths = np.unique(np.concatenate([[0], moves.rounds, moves.rounds - 1]))
        free = self._nothing(moves, np.ones((len(self.asked.waited), 1)))
        law = filled(goal, begin, passed, moves, free, lengths)
        which = np.argwhere(law != 0)
        return lengths, which, law[tuple(which.T)]

    def _nothing(self, moves: Totals, waited: Floats) -> Nothing:
        """Return transitions in which nothing arrives, and what undoes them, for factors of waits, by columns."""
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
