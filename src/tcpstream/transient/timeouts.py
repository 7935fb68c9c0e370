"""Timeouts of a chain that always has something to send: retransmissions, and waits as pure delays."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..kernels.timeouts import turn
from ..kernels.waits import enter, leaving
from ..numerics.measure import Measure
from ..numerics.rows import Rows
from ..numerics.weights import split
from ..tcp.silences import LEVELS, Silences
from .account import Account

Floats = NDArray[np.float64]


MARGIN = 4
"""Zeros on both sides of what is followed: what moves may read a little beyond it."""


@dataclass
class Waits:
    """Measures that wait, by kind of wait and round of entry.

    Kinds are a round all lost, a short round without fast retransmit, and a packet lost at each back-off level. Rows
    of a kind are used in turn, as many as its longest wait has rounds.

    Parameters
    ----------
    silences : Silences
    """

    silences: Silences
    measure: Measure = field(default_factory=lambda: Measure(0, np.zeros(1)))

    def __post_init__(self) -> None:
        waits = self.silences.every
        self.rounds = np.array([[wait[0][0], wait[-1][0]] for wait in waits])
        self.weights = np.array([[wait[0][1], wait[-1][1] if len(wait) > 1 else 0.0] for wait in waits])
        self.levels = np.array([0, 0, *(min(e + 1, LEVELS - 1) for e in range(LEVELS))])
        self.depths = self.rounds.max(axis=1)
        self.starts = np.cumsum(self.depths) - self.depths
        self._left = [
            (weights * (rounds > np.arange(1, depth + 1)[:, np.newaxis])).sum(axis=1)
            for weights, rounds, depth in zip(self.weights, self.rounds, self.depths)
        ]
        rows = int(self.depths.sum())
        self.mass = np.empty((rows, 64))
        self.firsts, self.sizes = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)

    def cover(self, first: int, end: int) -> None:
        """Make room for measures at positions `first` to `end`."""
        if end - first > self.mass.shape[1]:
            wider = np.empty((len(self.mass), 2 * (end - first)))
            for row in np.flatnonzero(self.sizes):
                wider[row, : self.sizes[row]] = self.mass[row, : self.sizes[row]]
            self.mass = wider
        self.measure = self.measure.covering(first, end)

    def enter(
        self, kind: int, number: int, measure: Measure, weight: float, limit: int, negligible: float
    ) -> tuple[float, float]:
        """Let a measure, times `weight`, wait from round `number` on.

        Returns what lies beyond the limit, and what is negligible.
        """
        self.cover(measure.origin, measure.end)
        row = int(self.starts[kind]) + number % int(self.depths[kind])
        return enter(
            measure.mass, weight, measure.origin, limit, negligible, row, self.mass, self.firsts, self.sizes,
            self.measure.mass, self.measure.origin,
        )  # fmt: skip

    def held(self, row: int) -> Measure:
        """Return what waits in a row of `mass`."""
        return Measure(int(self.firsts[row]), self.mass[row, : self.sizes[row]])

    def put(self, row: int, measure: Measure) -> None:
        """Let a measure wait in a row of `mass` in place of what does."""
        before = self.held(row)
        self.cover(measure.origin, measure.end)
        self.measure.add(before, -1.0)
        self.measure.add(measure)
        self.firsts[row], self.sizes[row] = measure.origin, len(measure.mass)
        self.mass[row, : len(measure.mass)] = measure.mass

    def span(self, number: int) -> tuple[int, int]:
        """Return the positions of what leaves at the end of round `number`: the first, and after the last."""
        return leaving(number, self.rounds, self.weights, self.starts, self.depths, self.firsts, self.sizes)

    def surviving(self, number: int, floor: int) -> float:
        """Return the mass at or above `floor` that still waits after round `number`."""
        total = 0.0
        for start, left in zip(self.starts, self._left):
            rows = start + (number - np.arange(len(left))) % len(left)
            first = np.maximum(0, floor - self.firsts[rows])
            for age in np.flatnonzero((self.sizes[rows] > first) & (left > 0)):
                row = rows[age]
                total += left[age] * float(self.mass[row, first[age] : self.sizes[row]].sum())
        return total

    @property
    def idle(self) -> bool:
        """Whether nothing waits."""
        return not self.sizes.any()


@dataclass
class Timeouts:
    """Mass between a timeout and the return to congestion avoidance, by back-off level and position.

    Parameters
    ----------
    loss : float
        p.
    silences : Silences
    account : Account
        Of the transient: what is removed is added to it.
    quantum : int
        Packets per position: what a packet moves is split between three.
    negligible : float
        Mass dropped at most at each end of each row, each round.

    Attributes
    ----------
    resting : Measure
        What is sending a packet alone, by position.
    rows : Rows
        The same by back-off level: r = 1 for all levels, then r = 0.
    waits : Waits
    """

    loss: float
    silences: Silences
    account: Account
    quantum: int
    negligible: float
    round: int = 0
    resting: Measure = field(default_factory=lambda: Measure(0, np.zeros(1)))

    def __post_init__(self) -> None:
        self.waits = Waits(self.silences)
        self.rows, self._spare = Rows.empty(2 * LEVELS), Rows.empty(2 * LEVELS)
        first, weights = split(np.array([1 / self.quantum]), 3)
        self._step = np.roll(weights[:, 0], int(first[0]) + 1)

    def step(
        self, sending: Measure, few: Measure, floor: int, limit: int, share: float = 1.0, all_lost: float | None = None
    ) -> Measure:
        """Make one round.

        Parameters
        ----------
        sending, few : Measure
            What is in congestion avoidance, and may lose its whole round, and short rounds without fast retransmit.
        floor, limit : int
            Only positions from `floor` to `limit`, exclusive, are followed; `limit` does not decrease.
        share : float
            Share of what is at `floor` itself that stays.
        all_lost : float, optional
            Share of `sending` that loses its whole round; p by default.

        Returns
        -------
        Measure
            What is back in congestion avoidance.
        """
        rows, waits, number = self.rows, self.waits, self.round
        all_lost = self.loss if all_lost is None else all_lost
        for kind, measure, weight in ((0, sending, all_lost), (1, few, 1.0)):
            above, dropped = waits.enter(kind, number, measure, weight, limit, self.negligible)
            self.account.done += above
            self.account.neglected += dropped
        span = rows.span
        if span is not None:
            waits.cover(*span)
        spans = [one for one in (span, waits.span(number)) if one is not None and one[0] < one[1]]
        origin = min((first for first, _ in spans), default=sending.origin) - MARGIN
        size = max((end for _, end in spans), default=sending.origin) + MARGIN - origin
        new = self._spare.at(origin, size)
        restarted, resting = np.zeros(size), np.zeros(size)
        below, above, dropped, first, last = turn(
            number, self.loss, self._step, rows.mass, rows.low, rows.high, rows.origin, waits.rounds,
            waits.weights, waits.levels, waits.starts, waits.depths, waits.mass, waits.firsts, waits.sizes,
            waits.measure.mass, waits.measure.origin, floor, limit, share, self.negligible, new.mass, new.low, new.high,
            origin, restarted, resting,
        )  # fmt: skip
        self.account.killed += below
        self.account.done += above
        self.account.neglected += dropped
        self.resting = Measure(origin, resting)
        self.rows, self._spare = new, rows
        self.round += 1
        return Measure(first, restarted[first - origin : last - origin])

    def surviving(self, floor: int) -> float:
        """Return the mass in waits at or above `floor`."""
        return self.waits.surviving(self.round - 1, floor)

    @property
    def waiting(self) -> Measure:
        """What is in a wait, by position."""
        return self.waits.measure

    @property
    def idle(self) -> bool:
        """Whether nothing waits."""
        return self.waits.idle
