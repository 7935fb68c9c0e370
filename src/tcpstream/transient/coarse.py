"""The transient of a chain that always has something to send, on a coarse lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.moves import apply
from ..kernels.rows import clear, trim
from ..numerics.measure import Measure, together
from ..numerics.rows import Rows, row_of
from ..numerics.weights import split
from ..tcp.burst import BurstChain
from .backlogged import Backlogged
from .boundary import OPEN, Boundary, Crossed
from .coarse_moves import Moves, Phase, coarsen
from .timeouts import Timeouts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEGLIGIBLE = 1e-16
"""Mass dropped at most at each end of each row, each round; what is dropped is counted."""

GONE = 1e-13
"""Mass that is not worth another round."""


@dataclass
class Lossless:
    """The path on which nothing has been lost yet: it is known to the packet, and as likely as nothing else early on.

    Attributes
    ----------
    probability : float
        Of it, 0 once it is followed no longer.
    packets, state : int
        Delivered, and of congestion avoidance.
    """

    chain: BurstChain
    quantum: int
    state_step: int
    probability: float = 1.0
    packets: int = 0
    state: int = 0

    def step(self) -> None:
        """Make one round."""
        window = int(self.chain.graph.windows[self.state])
        self.packets += window
        self.probability *= (1 - self.chain.loss) ** window
        self.state = min(self.state + 1, self._top)

    def on(self, rows: Rows, sign: float = 1.0) -> None:
        """Add it to the rows that are followed in the round that it is in, times `sign`."""
        last = len(rows.low) - 1
        row = last if self.state == self._top else self.state // self.state_step + 1
        if row < last:  # such rows carry their offset
            rows.add(row, Measure(self.packets // self.quantum, np.array([sign * self.probability])))
            return
        first, weights = split(np.array([self.packets / self.quantum]), 3)
        rows.add(row, Measure(int(first[0]), sign * self.probability * weights[:, 0]))

    def alone(self, rows: int, sign: float) -> Rows:
        """Return rows that hold nothing else."""
        alone = Rows.empty(rows).at(self.packets // self.quantum - 4, 8)
        self.on(alone, sign)
        return alone

    @property
    def _top(self) -> int:
        return self.chain.graph.size - self.chain.graph.rounds_per_increase


class BackloggedCoarse(Backlogged):
    """Evolution of a chain with bursts of losses, in positions of a quantum of packets.

    What has lost nothing yet is late or not as a whole (`Lossless`).

    Parameters
    ----------
    chain : BurstChain
        What sends.
    goal : int
        Packets after which nothing is followed any more.
    quantum : int
        Q [packets].
    state_step : int
        G: every G-th state is followed.
    """

    def __init__(self, chain: BurstChain, goal: int, quantum: int, state_step: int) -> None:
        super().__init__(goal, quantum)
        self.chain, self.state_step = chain, state_step
        self._quanta = coarsen(self.chain, self.quantum, self.state_step)
        self._margin = 2 * self.chain.graph.max_window // self.quantum + 8
        rows = self._quanta.rows
        self._x = Rows.empty(rows).at(-self._margin, 4 * self._margin)
        self._lossless = Lossless(self.chain, self.quantum, self.state_step)
        self._lossless.on(self._x)
        self._before, self._spare = Rows.empty(rows), Rows.empty(rows)
        self._timeouts = Timeouts(self.chain.loss, self.chain.silences, self.account, self.quantum, NEGLIGIBLE)
        self._total = Measure(0, np.ones(1))
        self._short = Measure(0, np.zeros(1))
        self._few = Measure(0, np.zeros(1))

    def step(self, boundary: Boundary = OPEN) -> Crossed:
        """Make one round, and return what lies below the floor [packets] at its end; it is removed."""
        floor, safe, account = boundary.floor, boundary.safe, self.account
        killed = account.killed
        Q, x, before = self.quantum, self._x, self._before
        number = self.round
        then, now, following = (self._phase(number + i) for i in (-1, 0, 1))
        limit = min(float(self.goal), safe)
        needed = floor
        if floor <= 0:  # what is split at the start may lie below 0, and is not late
            floor = -self._margin * Q
        first, shares = self._surviving(np.append(following.offsets, 0), floor, np.append(following.sent, 1))
        resting_limit = math.ceil(limit / Q)
        back = self._timeouts.step(self._total, self._few, int(first[-1]), resting_limit, float(shares[-1]))

        spans = [span for span in (x.span, before.span) if span is not None] + [(back.origin, back.end)]
        origin = min(low for low, _ in spans) - self._margin
        size = max(high for _, high in spans) + 2 * self._margin - origin
        new = self._spare.at(origin, size)
        clear(new.mass, new.low, new.high)
        _apply(now.grow, x, new)
        if self._lossless.probability > 0:
            _apply(now.grow, self._lossless.alone(self._quanta.rows, -1.0), new)
        _apply(then.recover, before, new)
        if len(back.mass):
            _apply(following.restart, row_of(back), new)
        limits = np.ceil((limit - following.offsets) / Q).astype(np.int64)
        below, above, dropped = trim(
            new.mass, new.low, new.high, first[:-1] - origin, shares[:-1], limits - origin, NEGLIGIBLE
        )

        self._follow_lossless(new, needed, limit)
        self._short = _collected(now.short, x, self._margin)
        self._few = together(
            _collected(now.near, row_of(self._total), self._margin),
            _collected(now.small, x, self._margin),
            _collected(now.few, row_of(self._short), self._margin),
        )
        self._total = _collected(following.collect, new, self._margin)
        self.round += 1
        self.floor = floor
        account.killed += below
        account.done += above
        account.neglected += dropped
        self._x, self._before, self._spare = new, x, before
        self.cells += int((new.high - new.low).sum())
        account.close(self._active() + float(self._timeouts.waiting.mass.sum()))
        return Crossed(account.killed - killed)

    def _follow_lossless(self, new: Rows, needed: int, limit: float) -> None:
        """Add to the new rows what has lost nothing yet, unless it is late, or done."""
        lossless = self._lossless
        if lossless.probability == 0:
            return
        lossless.step()
        if needed <= lossless.packets < limit:
            lossless.on(new)
            return
        if lossless.packets < needed:
            self.account.killed += lossless.probability
        else:
            self.account.done += lossless.probability
        lossless.probability = 0.0

    def _surviving(self, offsets: Floats, floor: int, sent: Floats) -> tuple[Ints, Floats]:
        """Return the first position of rows that is not all below a floor, and the share of it that is not.

        A position stands for the quantum around it, in which packets are evenly spread. Of those that were not below
        the floor of the round before, relative to which they have moved, what is below now has just come there.
        """
        Q = self.quantum
        edge = floor - 0.5  # between what is late and what is not, so that a packet is above or below as a whole
        first = np.floor((edge - offsets) / Q - 0.5).astype(np.int64) + 1
        if floor <= 0:
            return first, np.ones(len(first))
        above = first * Q + offsets - edge
        fallen = np.maximum(floor - self.floor - sent, 0.0) if self.floor > 0 else np.full(len(first), np.inf)
        return first, (above + Q / 2) / (np.minimum(above + fallen, Q / 2) + Q / 2)

    def survivors(self) -> float:
        """Return the probability of being at or above the floor now, in waits too."""
        waiting = self._timeouts.surviving(math.ceil(self.floor / self.quantum))
        return self.account.done + waiting + self._active()

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to follow."""
        return self._timeouts.idle and self._active() < GONE

    def distribution(self) -> Measure:
        """Return the distribution of the quanta delivered by now; what is done is left out."""
        return together(self._total, self._timeouts.resting, self._short, self._timeouts.waiting)

    def _active(self) -> float:
        return float(self._total.mass.sum() + self._timeouts.resting.mass.sum() + self._short.mass.sum())

    def _phase(self, number: int) -> Phase:
        return self._quanta.phases[number % self.state_step]


def _apply(moves: Moves, x: Rows, new: Rows) -> None:
    apply(
        x.mass, x.low, x.high, moves.sources, moves.targets, moves.shifts, moves.starts, moves.pmfs,
        x.origin - new.origin, new.mass, new.low, new.high,
    )  # fmt: skip


def _collected(moves: Moves, x: Rows, margin: int) -> Measure:
    """Return what moves to a row of positions."""
    first, end = x.span or (0, 0)
    row = Rows.empty(1).at(first - 2, end + margin + 2 - first)
    _apply(moves, x, row)
    return Measure(row.origin, row.mass[0, : end + margin + 2 - first])
