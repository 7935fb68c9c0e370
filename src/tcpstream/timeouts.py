"""Timeouts of a source that always has something to send: retransmissions, and waits as pure delays."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .kernels.saturated import retransmit, settle
from .kernels.waits import enter, leave, leaving
from .law import Law
from .quanta import split
from .rows import Rows, row_of
from .tcp.reno import LEVELS, RenoSource

Floats = NDArray[np.float64]


@dataclass
class Waits:
    """Measures that wait, by kind of wait and round of entry.

    Kinds are a round all lost, a short round without fast retransmit, and a packet lost at each back-off level. Rows
    of a kind are used in turn, as many as its longest wait has rounds.

    Parameters
    ----------
    source : RenoSource
    """

    source: RenoSource
    law: Law = field(default_factory=lambda: Law(0, np.zeros(1)))

    def __post_init__(self) -> None:
        source = self.source
        waits = (source.all_lost_wait, source.short_wait, *source.backoff_wait)
        self._rounds = np.array([[wait[0][0], wait[-1][0]] for wait in waits])
        self._weights = np.array([[wait[0][1], wait[-1][1] if len(wait) > 1 else 0.0] for wait in waits])
        self._levels = np.array([0, 0, *(min(e + 1, LEVELS - 1) for e in range(LEVELS))])
        self._depths = self._rounds.max(axis=1)
        self._starts = np.cumsum(self._depths) - self._depths
        rows = int(self._depths.sum())
        self._mass = np.zeros((rows, 64))
        self._firsts, self._sizes = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)

    def enter(self, kind: int, number: int, rows: Rows, limit: int, negligible: float) -> tuple[float, float]:
        """Let rows wait from round `number` on, as kinds `kind`, `kind` + 1, ...

        Returns what lies beyond the limit, and what is negligible.
        """
        first, end = rows.span or (self.law.origin, self.law.origin)
        if end - first > self._mass.shape[1]:
            wider = np.zeros((len(self._mass), (end - first) * 3 // 2))
            wider[:, : self._mass.shape[1]] = self._mass
            self._mass = wider
        self.law = waiting = self.law.covering(first, end)
        kinds = slice(kind, kind + len(rows.low))
        into = self._starts[kinds] + number % self._depths[kinds]
        return enter(
            rows.mass, rows.low, rows.high, rows.origin, limit, negligible, into, self._mass, self._firsts,
            self._sizes, waiting.mass, waiting.origin,
        )  # fmt: skip

    def span(self, number: int) -> tuple[int, int]:
        """Return the positions of what leaves at the end of round `number`: the first, and after the last."""
        return leaving(number, self._rounds, self._weights, self._starts, self._depths, self._firsts, self._sizes)

    def leave(self, number: int, rows: Rows) -> None:
        """Move what leaves at the end of round `number` to the rows of its back-off levels."""
        leave(
            number, self._rounds, self._weights, self._levels, self._starts, self._depths, self._mass, self._firsts,
            self._sizes, rows.mass, rows.low, rows.high, rows.origin, self.law.mass, self.law.origin,
        )  # fmt: skip

    def surviving(self, number: int, floor: int) -> float:
        """Return the mass at or above `floor` that still waits after round `number`."""
        total = 0.0
        for kind, depth in enumerate(self._depths):
            for age in range(depth):
                row = self._starts[kind] + (number - age) % depth
                left = self._weights[kind, self._rounds[kind] > age + 1].sum()
                first = max(0, floor - self._firsts[row])
                total += left * float(self._mass[row, first : self._sizes[row]].sum())
        return total

    @property
    def idle(self) -> bool:
        """Whether nothing waits."""
        return not self._sizes.any()


@dataclass
class Timeouts:
    """Mass between a timeout and the return to congestion avoidance, by back-off level and position.

    Parameters
    ----------
    source : RenoSource
    quantum : int
        Packets per position: what a packet moves is split between three.
    negligible : float
        Mass dropped at most at each end of each row, each round.

    Attributes
    ----------
    resting : Law
        What is sending a packet alone, by position.
    done, killed, neglected : float
        Mass removed at or above the limit, below the floor, and as negligible.
    """

    source: RenoSource
    quantum: int
    negligible: float
    round: int = 0
    done: float = 0.0
    killed: float = 0.0
    neglected: float = 0.0
    resting: Law = field(default_factory=lambda: Law(0, np.zeros(1)))

    def __post_init__(self) -> None:
        self._waits = Waits(self.source)
        self._rows, self._spare = Rows.empty(2 * LEVELS), Rows.empty(2 * LEVELS)
        self._lost = Rows.empty(LEVELS)
        first, weights = split(np.array([1 / self.quantum]), 3)
        self._step = np.roll(weights[:, 0], int(first[0]) + 1)

    def step(self, all_lost: Law, few: Law, floor: int, limit: int, share: float = 1.0) -> Law:
        """Make one round.

        Parameters
        ----------
        all_lost, few : Law
            What has lost a whole round, and short rounds without fast retransmit, that begin to wait.
        floor, limit : int
            Only positions from `floor` to `limit`, exclusive, are followed.
        share : float
            Share of what is at `floor` itself that stays.

        Returns
        -------
        Law
            What is back in congestion avoidance.
        """
        rows, waits, number = self._rows, self._waits, self.round
        self._enter(0, row_of(all_lost), limit)
        self._enter(1, row_of(few), limit)
        spans = [one for one in (rows.span, waits.span(number)) if one is not None and one[0] < one[1]]
        origin = min((first for first, _ in spans), default=all_lost.origin) - 1
        size = max((end for _, end in spans), default=all_lost.origin) + 2 - origin
        new, lost = self._spare.at(origin, size), self._lost.at(origin, size)
        restarted = np.zeros(size)
        first, last = retransmit(
            rows.mass, rows.low, rows.high, self.source.loss, self._step, rows.origin - origin,
            new.mass, new.low, new.high, lost.mass, lost.low, lost.high, restarted,
        )  # fmt: skip
        self._enter(2, lost, limit)
        waits.leave(number, new)
        if share < 1 and origin <= floor < origin + size:
            self.killed += (1 - share) * float(new.mass[:, floor - origin].sum())
            new.mass[:, floor - origin] *= share
        resting = np.empty(new.mass.shape[1])
        below, above, dropped = settle(
            new.mass, new.low, new.high, floor - origin, limit - origin, self.negligible, resting
        )
        self.killed += below
        self.done += above
        self.neglected += dropped
        self.resting = Law(origin, resting[:size])
        self._rows, self._spare = new, rows
        self.round += 1
        first = min(first, last)
        return Law(origin + first, restarted[first:last])

    def surviving(self, floor: int) -> float:
        """Return the mass in waits at or above `floor`."""
        return self._waits.surviving(self.round - 1, floor)

    @property
    def waiting(self) -> Law:
        """What is in a wait, by position."""
        return self._waits.law

    @property
    def idle(self) -> bool:
        """Whether nothing waits."""
        return self._waits.idle

    def _enter(self, kind: int, rows: Rows, limit: int) -> None:
        above, dropped = self._waits.enter(kind, self.round, rows, limit, self.negligible)
        self.done += above
        self.neglected += dropped
