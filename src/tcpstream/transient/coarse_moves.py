"""The Reno chain on a coarse lattice: fewer windows and fewer positions, for paths with windows of many packets.

A position is a quantum of Q packets. In a round, only every G-th state of congestion avoidance is followed; which ones
moves on with the round, as a window that grows does, so that growth stays exact: a state carries its own offset to the
lattice, the packets that a window has delivered on its way up, modulo Q. Whatever else moves lands between
the states and positions that are followed, and is split between its neighbours so that the mean is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..numerics.weights import split
from ..tcp.burst import DUPLICATE_ACKS, BurstChain

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Moves:
    """Distributions by which rows move to rows, one behind the other; see `tcpstream.kernels.moves.apply`."""

    sources: Ints
    targets: Ints
    shifts: Ints
    starts: Ints
    pmfs: Floats


class _Collector:
    """Moves as they are found."""

    def __init__(self, quantum: int) -> None:
        self.quantum = quantum
        self.found: list[tuple[int, int, int, Floats]] = []

    def add(self, chain: int, target: int, distances: Floats, measure: Floats) -> None:
        """Add a move by `distances` [packets], each split between the nearest 3 points of the lattice."""
        nearest, weights = split(distances / self.quantum, 3)
        first = int(nearest[0])
        size = int(nearest[-1]) - first + 3
        spread = np.sum([np.bincount(nearest - first + i, measure * weights[i], size) for i in range(3)], axis=0)
        used = np.flatnonzero(spread)
        if len(used):
            self.found.append((chain, target, first + int(used[0]), spread[used[0] : used[-1] + 1]))

    def moves(self) -> Moves:
        """Return what was found, by target, so that a target stays in the cache."""
        found = sorted(self.found, key=lambda move: move[:2][::-1])
        starts = np.cumsum([0, *(len(measure) for *_, measure in found)])
        sources, targets, shifts = (np.array([move[i] for move in found], dtype=np.int64) for i in range(3))
        pmfs = np.concatenate([measure for *_, measure in found]) if found else np.zeros(0)
        return Moves(sources, targets, shifts, starts, pmfs)


@dataclass(frozen=True)
class Phase:
    """What can happen in the rounds of one phase, that is whose number is the same modulo G.

    Attributes
    ----------
    offsets, sent : array
        Packets that each row lies above the lattice, and that were sent on the way to it in the round before.
    grow, recover, restart : Moves
        To the rows of the next round, of the round after it, and of this round from a row of positions.
    collect, short : Moves
        To one row of positions: all mass; short rounds.
    few, near, small : Moves
        Short rounds without fast retransmit: as most of three packets and more are the same, they are ``few`` of the
        row of short rounds; ``near`` of the row of all mass, where one and two packets stand out; and ``small`` of the
        windows too small for that.
    """

    offsets: Floats
    sent: Floats
    grow: Moves
    recover: Moves
    restart: Moves
    collect: Moves
    short: Moves
    near: Moves
    small: Moves
    few: Moves


@dataclass(frozen=True)
class Quanta:
    """A chain on a coarse lattice.

    Attributes
    ----------
    quantum : int
        Q, packets per position.
    rows : int
        Rows followed: row r is state (r - 1) G + phase, the last one the largest window.
    phases : list of Phase
    """

    quantum: int
    rows: int
    phases: list[Phase]


def coarsen(chain: BurstChain, quantum: int, state_step: int) -> Quanta:
    """Return a chain on a lattice of `quantum` packets with every `state_step`-th state.

    Parameters
    ----------
    chain : BurstChain
    quantum : int
        Q >= 1 [packets].
    state_step : int
        G >= 1 [states].
    """
    b, top = chain.graph.rounds_per_increase, chain.graph.size - chain.graph.rounds_per_increase
    states = np.arange(-state_step, top)
    windows = states // b + 1  # below zero they send packets back: so does a mean between neighbours stay right
    delivered = np.concatenate([[0], np.cumsum(windows)])
    delivered -= delivered[state_step]
    offsets = np.append((delivered % quantum)[:-1], 0)  # of states, then of the largest window
    last = (top - 1) // state_step + 2
    model = _Model(chain, quantum, state_step, top, last, np.append(windows, chain.graph.max_window), offsets)
    return Quanta(quantum, last + 1, [model.phase(phase) for phase in range(state_step)])


@dataclass(frozen=True)
class _Model:
    chain: BurstChain
    quantum: int
    state_step: int
    top: int
    last: int
    windows: Ints
    offsets: Ints

    def phase(self, phase: int) -> Phase:
        p, q = self.chain.loss, 1 - self.chain.loss
        grow, recover, collect, short, small = (_Collector(self.quantum) for _ in range(5))
        offsets, sent = np.zeros((2, self.last + 1))
        following = (phase + 1) % self.state_step
        here = np.zeros(1)
        stand_out = np.arange(2.0, 5.0), p * q**3 * np.array([1, -p, q**2])  # of j = 1, 1, 2
        for row in range(self.last + 1):
            state = self.top if row == self.last else (row - 1) * self.state_step + phase
            if row < self.last and state >= self.top:
                continue
            w, offset = int(self.windows[state + self.state_step]), int(self.offsets[state + self.state_step])
            offsets[row], sent[row] = offset, (state - 1) // self.chain.graph.rounds_per_increase + 1
            collect.add(row, 0, here + offset, here + 1)
            for target, weight, base in self._targets(min(state + 1, self.top), following):
                grow.add(row, target, here + offset + w - base, here + weight * q ** max(w, 1))
            j = np.arange(1.0, w)
            if w >= 2:
                short.add(row, 0, offset + j, p * q**j)
            missing = np.array([w < 2, w < 2, w < 3])
            if missing.any():
                small.add(row, 0, offset + stand_out[0], -1.0 * missing * stand_out[1])
            if w > DUPLICATE_ACKS:
                total, measure = recovery(w, p)
                goal = min(int(self.chain.recover_to[w]), self.top)
                for target, weight, base in self._targets(goal, (phase + 2) % self.state_step):
                    recover.add(row, target, total + (offset - base), weight * measure)
        restart = _Collector(self.quantum)
        for target, weight, base in self._targets(min(self.chain.graph.restart, self.top), phase):
            restart.add(0, target, here - base, here + weight)
        near, few = _Collector(self.quantum), _Collector(self.quantum)
        near.add(0, 0, *stand_out)
        i = np.arange(float(DUPLICATE_ACKS))
        few.add(0, 0, i, p * q**i)
        every = (grow, recover, restart, collect, short, near, small, few)
        return Phase(offsets, sent, *(collector.moves() for collector in every))

    def _targets(self, state: int, phase: int) -> list[tuple[int, float, int]]:
        """Rows of a phase that stand for a state, their weights, and their offsets."""
        place = np.array([(state - phase) / self.state_step])
        first, weights = split(place, 3)
        if first[0] < -1:  # there are no three neighbours
            first, weights = split(place, 2)
        result = []
        for i, weight in enumerate(weights[:, 0]):
            number = int(first[0]) + i
            neighbour = number * self.state_step + phase
            row = number + 1
            if state == self.top or neighbour >= self.top:
                neighbour, row = self.top, self.last
            if weight != 0:
                result.append((row, float(weight), int(self.offsets[neighbour + self.state_step])))
        return result


def recovery(window: int, loss: float) -> tuple[Floats, Floats]:
    """Return the packets of losing from a window and recovering, and their probabilities.

    j packets before the loss, then 3 <= i <= j in the short round: pairs i < j with p^2 q^(i + j), i = j with p q^2j.
    """
    q, most = 1 - loss, window - 1
    total = np.arange(2 * DUPLICATE_ACKS, 2 * most + 1)
    pairs = np.minimum(most, total - DUPLICATE_ACKS) - total // 2
    measure = (loss**2 * pairs + loss * (total % 2 == 0)) * q**total
    return total.astype(float), measure
