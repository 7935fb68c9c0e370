"""The transient of any chain that always has something to send, every state written out; slow."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..numerics.measure import Measure
from ..numerics.rows import Rows
from ..tcp.chain import Chain
from .backlogged import Backlogged
from .boundary import OPEN, Boundary, Crossed, OnFloor
from .round_clock import RoundClock

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-19
"""Mass dropped at most at each end of the positions, each round; what is dropped is counted."""

GONE = 1e-16
"""Mass that is not worth another round."""


class BackloggedWrittenOut(Backlogged):
    """Evolution of a chain from its transitions alone, by state and packets received.

    The floor judges what is in order. All that `OnFloor` names can be done to what is below it, and what crosses it is
    kept apart by state and deficit.

    Parameters
    ----------
    chain : Chain
        What sends.
    goal : int
        Packets after which nothing is followed any more.
    """

    def __init__(self, chain: Chain, goal: int) -> None:
        super().__init__(goal)
        self._clock = RoundClock.of(chain)
        self._mass = Measure(0, np.zeros((self._clock.states, 1)))
        self._mass.mass[self._clock.start, 0] = 1.0
        self._delivered = Measure(0, np.ones(1))

    def step(self, boundary: Boundary = OPEN) -> Crossed:
        """Make one round, and return what is below the floor [packets] at its end, by state and deficit."""
        now, account, floor = self._mass, self.account, boundary.floor
        most = max(move.received for move in self._clock.moves)
        width = now.end - now.origin
        reflects = boundary.on_floor is OnFloor.REFLECT
        room = width + most + (max(0, floor - now.origin) if reflects else 0)
        new = Measure(now.origin, np.zeros((self._clock.states, room)))
        in_order = np.zeros(room)
        deficits = np.zeros((self._clock.states, max(0, floor - now.origin) + 1))
        for move in self._clock.moves:
            moved = np.asarray(move.matrix @ now.mass)
            below = min(max(0, floor - now.origin - move.in_order), width)  # columns that end below the floor
            if below:
                deficit = floor - now.origin - move.in_order - np.arange(below)
                deficits[:, deficit] += moved[:, :below]
                if reflects:  # each is moved up by its deficit
                    at = floor - now.origin + move.received - move.in_order
                    new.mass[:, at] += moved[:, :below].sum(axis=1)
                    in_order[floor - now.origin] += float(moved[:, :below].sum())
                if boundary.on_floor is not OnFloor.COUNT:
                    moved[:, :below] = 0.0
            new.mass[:, move.received : move.received + width] += moved
            in_order[move.in_order : move.in_order + width] += moved.sum(axis=0)
        crossed = float(deficits.sum())
        if boundary.on_floor is OnFloor.KILL:
            account.killed += crossed
        limit = min(self.goal, math.ceil(boundary.safe)) if boundary.safe < math.inf else self.goal
        above = max(0, limit - new.origin)
        account.done += float(new.mass[:, above:].sum())
        new.mass[:, above:] = 0.0
        self._delivered = Measure(new.origin, in_order)
        self._mass = self._trimmed(new)
        self.round += 1
        self.floor = floor
        self.cells += self._mass.mass.size
        account.close(float(self._mass.mass.sum()))
        return Crossed(crossed, _rows(deficits))

    def survivors(self) -> float:
        """Return the probability of being at or above the floor now, in waits too."""
        return self.account.done + float(self._mass.mass.sum())

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to follow."""
        return float(self._mass.mass.sum()) < GONE

    def distribution(self) -> Measure:
        """Return the measure of the packets delivered in order by now; what was done before is left out."""
        return self._delivered

    def _trimmed(self, measure: Measure) -> Measure:
        """Return a measure without the positions at both ends that hold next to nothing."""
        kept, dropped = Measure(measure.origin, measure.mass.sum(axis=0)).trimmed(NEGLIGIBLE)
        self.account.neglected += dropped
        if kept is None:
            return Measure(measure.origin, np.zeros((self._clock.states, 1)))
        used = slice(kept.origin - measure.origin, kept.end - measure.origin)
        return Measure(kept.origin, np.ascontiguousarray(measure.mass[:, used]))


def _rows(mass: Floats) -> Rows:
    states, width = mass.shape
    return Rows(0, mass, np.zeros(states, dtype=np.int64), np.full(states, width, dtype=np.int64))
