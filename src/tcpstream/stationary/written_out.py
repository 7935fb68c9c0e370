"""Epochs of a live stream over any chain, every transition written out; slow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ..errors import AccuracyError
from ..numerics.lattices import Lattice
from ..tcp.chain import Chain
from .operator import Complexes, EpochOperator, Floats

MOST_STATES = 2_000
"""States of a chain that is solved so at most."""

MIXED = 0.02
"""Share of what one state knows of another that is left after an epoch."""

MOST_TRANSITIONS = 256
"""Transitions of an epoch at most."""

BLOCK = 2**17
"""Exponents times transitions that are worked on at a time."""


@dataclass
class WrittenOutEpoch:
    """Some transitions of every state, as mass by position; see `EpochOperator`."""

    entries: Floats
    time: Floats
    overflow: float


@dataclass(frozen=True)
class _Group:
    """Transitions that deliver and take the same: from column to row."""

    received: int
    in_order: int
    rounds: int
    matrix: sparse.csr_array[np.float64, tuple[int, int]]


class WrittenOutEpochs(EpochOperator[WrittenOutEpoch]):
    """As many transitions of a chain as mix its states, on a lattice of backlogs.

    Every state is entered, at the start of every transition.

    Parameters
    ----------
    chain : Chain
        What sends.
    lattice : Lattice
        Of the backlog, and what is generated per round.

    Raises
    ------
    AccuracyError
        For more than 2,000 states.
    """

    long = 0.5
    blurs = True

    def __init__(self, chain: Chain, lattice: Lattice) -> None:
        super().__init__(lattice)
        rows = chain.written_out
        if rows.n_states > MOST_STATES:
            raise AccuracyError(
                f"the TCP chain has {rows.n_states:,} states, too many to write out for a live stream, at most "
                f"{MOST_STATES:,}: take a smaller max_window"
            )
        self._n = rows.n_states
        self.entered = np.arange(self._n)
        kinds = np.column_stack([rows.received, rows.in_order, rows.rounds])
        self._groups = []
        for received, in_order, rounds in np.unique(kinds, axis=0).tolist():
            at = np.flatnonzero((kinds == (received, in_order, rounds)).all(axis=1))
            entries = (rows.probability[at], (rows.to_state[at], rows.from_state[at]))
            matrix = sparse.csr_array(sparse.coo_array(entries, shape=(self._n, self._n)))
            self._groups.append(_Group(received, in_order, rounds, matrix))
        order = np.lexsort((rows.to_state, rows.from_state))
        self._from, self._to = rows.from_state[order], rows.to_state[order]
        self._probability = rows.probability[order]
        self._lower = (lattice.steps * rows.rounds - lattice.steps_per_packet * rows.received)[order]

    @property
    def rows(self) -> int:
        """States of the chain."""
        return self._n

    @cached_property
    def transitions(self) -> int:
        """Transitions of an epoch, a power of two."""
        matrix = np.zeros((self._n, self._n))
        np.add.at(matrix, (self._from, self._to), self._probability)
        sizes = np.sort(np.abs(np.linalg.eigvals(matrix)))
        second = min(float(sizes[-2]) if self._n > 1 else 0.0, 1 - 1e-9)
        wanted = math.log(MIXED) / math.log(max(second, MIXED))
        return int(min(MOST_TRANSITIONS, 2 ** math.ceil(math.log2(max(wanted, 1.0)))))

    def epoch(self, entries: Floats) -> WrittenOutEpoch:
        """Make as many transitions as mix the states; see `EpochOperator.epoch`."""
        made = WrittenOutEpoch(entries, np.zeros(entries.shape[1]), 0.0)
        for _ in range(self.transitions):
            made.entries = self._transition(made)
        return made

    def _transition(self, made: WrittenOutEpoch) -> Floats:
        """Return the entries after one transition of all states, and add its time and its overflow."""
        now, steps, cap = made.entries, self.lattice.steps, made.entries.shape[1] - 1
        new = np.zeros_like(now)
        pauses = cap - steps - self.lattice.trace  # who has nothing to send stays, and falls behind
        if pauses >= 0:
            new[:, pauses] += now[:, cap]
            made.time[pauses] += now[:, cap].sum()
        else:
            made.overflow += float(now[:, cap].sum())
        sending = np.ascontiguousarray(now[:, :cap])
        for group in self._groups:
            moved = group.matrix @ sending
            first = self._placed(np.asarray(moved), group.received, cap)
            there = first if group.received == group.in_order else self._placed(np.asarray(moved), group.in_order, cap)
            made.time += there.sum(axis=0)
            if group.rounds > 1:
                waiting = first.sum(axis=0)
                for waited in range(1, group.rounds):
                    made.time += self._later(waiting, waited)
            last = self._later(first, group.rounds - 1)
            made.overflow += float(moved.sum() - last.sum())
            new += last
        return new

    def _placed(self, moved: Floats, packets: int, cap: int) -> Floats:
        """Return mass of positions below an empty backlog after one round in which so many packets arrive."""
        shift = packets * self.steps_per_packet - self.lattice.steps
        placed = np.zeros((len(moved), cap + 1))
        at = np.arange(cap) + shift
        inside = slice(max(0, -shift), max(0, min(cap, cap - shift)))
        placed[:, at[inside]] = moved[:, inside]
        placed[:, cap] += moved[:, max(0, cap - shift) :].sum(axis=1)
        return placed

    def _later(self, mass: Floats, rounds: int) -> Floats:
        """Return mass by position after so many rounds without a packet."""
        if rounds == 0:
            return mass
        lower = rounds * self.lattice.steps
        later = np.zeros_like(mass)
        cap = mass.shape[-1] - 1
        if lower < cap:
            later[..., : cap - lower] = mass[..., lower:cap]
        empty = cap - lower - self.lattice.trace
        if empty >= 0:
            later[..., empty] += mass[..., cap]
        return later

    def occupancy(self, epoch: WrittenOutEpoch) -> Floats:
        """Return the time spent at each position in order [rounds], counted at the ends of rounds."""
        return epoch.time

    def overflow(self, epoch: WrittenOutEpoch) -> float:
        """Return the mass that left through the deepest backlog in an epoch."""
        return abs(epoch.overflow)

    def fall(self, chance: float) -> int:
        """Return how far an epoch moves down with at most that chance, by Chernoff's bound [lattice steps]."""
        least = math.inf
        for t in np.geomspace(1e-6, 2.0, 60) / max(1, int(np.abs(self._lower).max())) * 30:
            tilted = self._probability * np.exp(t * self._lower)
            sums, scale = np.ones(self._n), 0.0
            for _ in range(self.transitions):
                sums = np.asarray(np.bincount(self._from, tilted * sums[self._to], self._n), dtype=np.float64)
                scale += math.log(sums.max())
                sums /= sums.max()
            least = min(least, (scale - math.log(chance)) / t)
        return max(0, math.ceil(least))

    def waves(self, exponents: Complexes) -> tuple[Complexes, Complexes, Complexes]:
        """Return what an epoch does to waves exp(t D); see `EpochOperator.waves`."""
        values = np.empty(len(exponents), dtype=np.complex128)
        left, right = (np.empty((self._n, len(exponents)), dtype=np.complex128) for _ in range(2))
        size = max(1, BLOCK // len(self._from))
        for first in range(0, len(exponents), size):
            some = slice(first, first + size)
            values[some], left[:, some], right[:, some] = self._waves(exponents[some])
        return values, left, right

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def _waves(self, exponents: Complexes) -> tuple[Complexes, Complexes, Complexes]:
        """Return `waves` for a few exponents, by the power method."""
        entries = self._probability * np.exp(exponents[:, np.newaxis] * self._lower)
        starts = np.searchsorted(self._from, np.arange(self._n))
        by_target = np.argsort(self._to, kind="stable")
        reached = np.unique(self._to)
        ends = np.searchsorted(self._to[by_target], reached)
        left, right = (np.ones((len(exponents), self._n), dtype=np.complex128) for _ in range(2))
        for _ in range(2 * self.transitions + 32):
            right = np.add.reduceat(entries * right[:, self._to], starts, axis=1)
            arriving = np.add.reduceat((entries * left[:, self._from])[:, by_target], ends, axis=1)
            left = np.zeros_like(left)
            left[:, reached] = arriving
            right /= np.abs(right).max(axis=1, keepdims=True)
            left /= np.abs(left).max(axis=1, keepdims=True)
        onwards = np.add.reduceat(entries * right[:, self._to], starts, axis=1)
        product = (left * right).sum(axis=1)
        values = (left * onwards).sum(axis=1) / product
        left = left / left.sum(axis=1, keepdims=True)
        right = right / (left * right).sum(axis=1, keepdims=True)
        return values**self.transitions, left.T, right.T
