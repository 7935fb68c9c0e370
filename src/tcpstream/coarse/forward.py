"""The transient of a chain that always has something to send, in steps of several rounds: stored media."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.bells import reaches, spacings
from ..kernels.several_rounds import collected, several_rounds
from ..numerics.measure import Measure
from .lattice_moves import Moves, collect, moves, not_in_order
from .steps import Steps

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEGLIGIBLE = 1e-17
"""Probability dropped at most at each end of each row, each step."""

BELOW = 64
"""Quanta below no packet that are followed: where many losses decide, steps have the chain's mean and variance in the
long run, and then long waits deliver less than nothing."""


class State(NamedTuple):
    """What is followed after some steps.

    Attributes
    ----------
    first : int
        Quantum of the first column.
    rows : (E, n) array
        Of entries.
    waits : (k, n) array
        Of what waits, with what it has when it ends.
    target, lag : (k,) arrays
        The entry in which a wait ends, in so many steps.
    """

    first: int
    rows: Floats
    waits: Floats
    target: Ints
    lag: Floats


class Forward:
    """The law of the packets delivered, step by step.

    Parameters
    ----------
    steps : Steps
    quantum, goal : float
        Of the lattice, and packets after which nothing is followed any more [packets].

    Attributes
    ----------
    number : int
        Steps made.
    done : float
        Probability of what is followed no longer, as it is never late.
    """

    def __init__(self, steps: Steps, quantum: float, goal: float) -> None:
        self.steps, self.quantum = steps, quantum
        self.moves, self.correction = moves(steps, quantum), not_in_order(steps, quantum)
        m = self.moves
        self._collect = collect(steps, quantum)
        self._floor = reach = max(_reach(one) for one in (m, self.correction, self._collect)) + 2
        self.base = BELOW + reach
        self.goal = int(np.ceil(goal / quantum))
        size = self.base + self.goal + reach + 4
        E = steps.entries
        self._x, self._new = np.zeros((E, size)), np.zeros((E, size))
        self._low, self._high, self._new_low, self._new_high = (np.zeros(E, dtype=np.int64) for _ in range(4))
        late = m.lags > 1
        targets = np.unique(m.targets[late])
        sizes = np.array([m.lags[late & (m.targets == t)].max() + 1 for t in targets], dtype=np.int64)
        self._ring_target, self._ring_size = targets.astype(np.int64), sizes
        self._ring_first = np.append(0, np.cumsum(sizes))[:-1].astype(np.int64)
        waits, of = np.unique(np.stack([m.targets[late], m.lags[late]]), axis=1, return_inverse=True)
        to = m.targets.copy()  # rows, and waits after them
        to[late] = E + of.ravel()
        self.moves = m = m.in_order(np.lexsort((-m.bells, to)))
        self._begins = np.searchsorted(np.sort(to), np.arange(E + waits.shape[1] + 1))
        self._wait_ring, self._wait_lag = np.searchsorted(targets, waits[0]), np.ascontiguousarray(waits[1])
        self._begun = np.zeros((waits.shape[1], size))
        slots = int(sizes.sum())
        self._ring = np.zeros((slots, size))
        self._ring_low, self._ring_high = np.zeros(slots, dtype=np.int64), np.zeros(slots, dtype=np.int64)
        self._waiting = np.zeros(size)
        self._x[steps.start, self.base] = 1.0
        self._low[steps.start], self._high[steps.start] = self.base, self.base + 1
        self.number, self.done = 0, 0.0

    def step(self, safe: float = np.inf) -> None:
        """Make a step; what is ahead of so many packets is followed no longer."""
        limit = self.base + min(self.goal, safe / self.quantum)
        m = self.moves
        above, _ = several_rounds(
            self._x, self._low, self._high, self._begins, m.sources, m.bells, m.shifts, m.starts, m.taps, self._new,
            self._new_low, self._new_high, self._begun, self._wait_ring, self._wait_lag, self._ring, self._ring_low,
            self._ring_high, self._ring_target, self._ring_first, self._ring_size, self.number, self._waiting,
            self._floor, int(np.ceil(limit)), NEGLIGIBLE,
        )  # fmt: skip
        self._x, self._new = self._new, self._x
        self._low, self._new_low = self._new_low, self._low
        self._high, self._new_high = self._new_high, self._high
        self.number += 1
        self.done += above

    def measured(self, safe: float = np.inf) -> Measure:
        """Make a step, and return the law of what is in order at its end, by quanta; what is done is left out."""
        law = np.zeros(self._x.shape[1])
        self._collected(self.correction, law)
        self.step(safe)
        self._collected(self._collect, law)
        return Measure(-self.base, law + self._waiting)

    def state(self) -> State:
        """Return what is followed."""
        entries, slots, lags = [], [], []
        for entry, first, size in zip(self._ring_target, self._ring_first, self._ring_size):
            for lag in range(1, size):
                slot = first + (self.number + lag) % size
                if self._ring_low[slot] < self._ring_high[slot]:
                    entries.append(entry)
                    slots.append(slot)
                    lags.append(lag)
        used, waiting = self._low < self._high, np.array(slots, dtype=np.int64)
        low = int(np.append(self._low[used], self._ring_low[waiting]).min(initial=len(self._waiting)))
        high = int(np.append(self._high[used], self._ring_high[waiting]).max(initial=low))
        return State(
            low - self.base, self._x[:, low:high].copy(), self._ring[waiting, low:high],
            np.array(entries, dtype=np.int64), np.array(lags, dtype=np.float64),
        )  # fmt: skip

    def _collected(self, m: Moves, law: Floats) -> None:
        collected(self._x, self._low, self._high, m.sources, m.shifts, m.starts, m.taps, law)


def _reach(moves: Moves) -> int:
    """Return how many positions moves reach at most, with their bells."""
    bells = int(moves.bells.max(initial=0)) + 1
    taps = np.abs(moves.shifts) + np.diff(moves.starts) * spacings(bells)[moves.bells]
    return int((taps + reaches(bells)[moves.bells]).max(initial=0))
