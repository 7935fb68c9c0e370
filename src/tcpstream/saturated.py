"""The transient of a source that always has something to send, in (state, packets delivered): stored media.

Nothing of the playback is in here. Waits are pure delays: mass that enters one comes out later where it went in.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .kernels.saturated import advance, clear, lose, retransmit, settle, span
from .kernels.waits import add, cut, move
from .law import Law
from .tcp.reno import LEVELS, RenoSource, Wait

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEGLIGIBLE = 1e-19
"""Mass dropped at most at each end of each row, each round; what is dropped is counted."""

GONE = 1e-16
"""Mass that is not worth another round."""


@dataclass
class Rows:
    """Mass by state (row) and position; each row is followed from `low` to `high` (indices) and is zero elsewhere."""

    origin: int
    mass: Floats
    low: Ints
    high: Ints

    @classmethod
    def empty(cls, states: int) -> Rows:
        """Return rows that hold nothing."""
        return cls(0, np.zeros((states, 0)), np.zeros(states, dtype=np.int64), np.zeros(states, dtype=np.int64))

    @property
    def span(self) -> tuple[int, int] | None:
        """Positions from the first to after the last one followed, None if there are none."""
        first, end = span(self.low, self.high)
        return (self.origin + first, self.origin + end) if first < end else None

    def at(self, origin: int, size: int) -> Rows:
        """Prepare for new contents from position `origin` on; the old ones stay where they were until overwritten."""
        if self.mass.shape[1] < size:
            states = len(self.low)
            self.mass = np.zeros((states, size + size // 2))
            self.low[:] = self.high[:] = 0
        self.origin = origin
        return self

    def reached(self, row: int, first: int, end: int) -> None:
        """Follow a row at least in positions `first` to `end`."""
        low, high = first - self.origin, end - self.origin
        if self.low[row] < self.high[row]:
            low, high = min(low, int(self.low[row])), max(high, int(self.high[row]))
        self.low[row], self.high[row] = low, high


@dataclass(frozen=True)
class Waiting:
    """A measure in a wait, with its total and the back-off level that it leaves to, with a weight."""

    origin: int
    mass: Floats
    total: float
    level: int
    weight: float

    @property
    def end(self) -> int:
        """Position after the last one."""
        return self.origin + len(self.mass)


@dataclass
class Saturated:
    """Evolution of a source from its start, one round at a time, while it never lacks packets to send.

    Parameters
    ----------
    source : RenoSource
        What sends.
    goal : int
        Packets after which nothing is followed any more.

    Attributes
    ----------
    round : int
        Rounds made.
    done : float
        Probability that `goal` packets, or safely many, are delivered.
    killed : float
        Probability removed below a floor.
    neglected : float
        Probability dropped because it was negligible.
    residual : float
        Largest departure of the total probability from 1 so far.
    cells : int
        Congestion avoidance states times positions, followed in all rounds together.
    """

    source: RenoSource
    goal: int
    round: int = 0
    floor: int = 0
    done: float = 0.0
    killed: float = 0.0
    neglected: float = 0.0
    residual: float = 0.0
    cells: int = 0
    _pending: dict[int, list[Waiting]] = field(default_factory=lambda: defaultdict(list))
    _waiting_mass: float = 0.0

    def __post_init__(self) -> None:
        source = self.source
        # the states of the largest window lead to each other alone, and are one here
        states = source.size - source.rounds_per_increase + 1
        self._windows = source.windows[:states]
        self._targets = source.recover_to[self._windows]
        self._success: Floats = np.power(1 - source.loss, self._windows, dtype=np.float64)
        self._restart = min(source.restart, states - 1)
        self._margin = 2 * source.max_window + 8
        self._x = Rows.empty(states).at(-self._margin, 4 * self._margin)
        self._x.mass[0, self._margin] = 1.0
        self._x.reached(0, 0, 1)
        self._before, self._spare = Rows.empty(states), Rows.empty(states)
        self._timeouts, self._spare_timeouts = Rows.empty(2 * LEVELS), Rows.empty(2 * LEVELS)
        self._lost = Rows.empty(LEVELS)
        self._total = Law(-self._margin, self._x.mass[0].copy())
        self._resting = Law(0, np.zeros(1))  # in timeouts, between waits
        self._short = Law(0, np.zeros(1))
        self._few = Law(0, np.zeros(1))
        self._waiting = Law(0, np.zeros(1))

    def step(self, *, floor: int = 0, safe: float = math.inf) -> None:
        """Make one round.

        Parameters
        ----------
        floor : int
            What lies below at the end of the round is removed and counted in `killed`; does not decrease.
        safe : float
            Mass at or above this position is followed no longer, and counts as done.
        """
        source = self.source
        x, before, timeouts = self._x, self._before, self._timeouts
        leaving = self._pending.pop(self.round + 1, [])
        spans = [rows.span for rows in (x, before, timeouts)] + [(law.origin, law.end) for law in leaving]
        spans.append((self._few.origin, self._few.end))
        reach = [span for span in spans if span is not None]
        origin = min(first for first, _ in reach) - self._margin
        size = max(end for _, end in reach) + 2 * self._margin - origin
        new, resting = self._spare.at(origin, size), self._spare_timeouts.at(origin, size)
        lost = self._lost.at(origin, size)
        size = new.mass.shape[1]

        limit = min(self.goal, math.ceil(safe)) if safe < math.inf else self.goal
        total, grown, short, few = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
        clear(new.mass, new.low, new.high)
        first, last = retransmit(
            timeouts.mass, timeouts.low, timeouts.high, source.loss, timeouts.origin - origin,
            resting.mass, resting.low, resting.high, lost.mass, lost.low, lost.high, new.mass[self._restart],
        )  # fmt: skip
        if first < last:
            new.reached(self._restart, origin + first, origin + last)
        removed = advance(
            x.mass, x.low, x.high, before.mass, before.low, before.high, self._windows, self._success, self._targets,
            source.loss, x.origin - origin, before.origin - origin, self.floor - before.origin, floor - origin,
            limit - origin, NEGLIGIBLE, new.mass, new.low, new.high, total, grown,
        )  # fmt: skip
        sent = x.span or (x.origin, x.origin)
        self.killed += lose(
            x.mass, self._windows, self._total.mass, sent[0] - x.origin, sent[1] - x.origin, grown, source.loss,
            x.origin - origin, floor - origin, short, few,
        )  # fmt: skip
        waiting = self._waiting
        for law in leaving:
            move(
                law.mass, law.weight, resting.mass[law.level - 1], law.origin - origin,
                waiting.mass, law.origin - waiting.origin,
            )  # fmt: skip
            resting.reached(law.level - 1, law.origin, law.end)
            self._waiting_mass -= law.weight * law.total
        all_lost = Law(sent[0], source.loss * self._total.mass[sent[0] - x.origin : sent[1] - x.origin])
        self._wait(source.all_lost_wait, 1, all_lost, resting, limit)
        self._wait(source.short_wait, 1, self._few, resting, limit)
        for e in range(LEVELS):
            low, high = lost.low[e], lost.high[e]
            if low < high:
                failed = Law(origin + int(low), lost.mass[e, low:high])
                self._wait(source.backoff_wait[e], min(e + 2, LEVELS), failed, resting, limit)

        self.round += 1
        self.floor = floor
        self._x, self._before, self._spare = new, x, before
        self._timeouts, self._spare_timeouts = resting, timeouts
        used = slice(sent[0] - origin, sent[1] + source.max_window + 2 - origin)
        self._short, self._few = Law(sent[0], short[used]), Law(sent[0], few[used])
        self._settle(removed, total, limit)

    def survivors(self) -> float:
        """Return the probability of being at or above the floor now, in waits too."""
        waiting = sum(
            law.weight * float(law.mass[max(0, self.floor - law.origin) :].sum())
            for entries in self._pending.values()
            for law in entries
        )
        return self.done + waiting + self._active()

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to follow."""
        return not any(self._pending.values()) and self._active() < GONE

    def law(self) -> Law:
        """Return the law of the packets delivered by now; what is done is left out."""
        parts = [self._total, self._resting, self._short, self._waiting]
        origin = min(part.origin for part in parts)
        total = Law(origin, np.zeros(max(part.end for part in parts) - origin))
        for part in parts:
            add(part.mass, 1.0, total.mass, part.origin - origin)
        return total

    def _active(self) -> float:
        return float(self._total.mass.sum() + self._resting.mass.sum() + self._short.mass.sum())

    def _wait(self, waits: Wait, level: int, law: Law, resting: Rows, limit: int) -> None:
        """Let `law` wait, then retransmit at back-off `level`; a wait of one round is over at once."""
        first, last, above, dropped = cut(law.mass, limit - law.origin, NEGLIGIBLE)
        self.done += above
        self.neglected += dropped
        if first == last:
            return
        origin, mass = law.origin + first, law.mass[first:last].copy()
        total = float(mass.sum())
        self._waiting = waiting = self._waiting.covering(origin, origin + len(mass))
        for rounds, weight in waits:
            if rounds == 1:
                add(mass, weight, resting.mass[level - 1], origin - resting.origin)
                resting.reached(level - 1, origin, origin + len(mass))
                continue
            self._pending[self.round + rounds].append(Waiting(origin, mass, total, level, weight))
            add(mass, weight, waiting.mass, origin - waiting.origin)
            self._waiting_mass += weight * total

    def _settle(self, removed: tuple[float, float, float], total: Floats, limit: int) -> None:
        """Account for what is done, killed or negligible, and check that nothing else is missing."""
        resting = np.empty(self._timeouts.mass.shape[1])
        rows = self._timeouts
        floor, limit = self.floor - rows.origin, limit - rows.origin
        also = settle(rows.mass, rows.low, rows.high, floor, limit, NEGLIGIBLE, resting)
        self.killed += removed[0] + also[0]
        self.done += removed[1] + also[1]
        self.neglected += removed[2] + also[2]
        self._total, self._resting = Law(self._x.origin, total), Law(rows.origin, resting)
        self.cells += int((self._x.high - self._x.low).sum())
        total_mass = self._active() + self._waiting_mass + self.done + self.killed + self.neglected
        self.residual = max(self.residual, abs(total_mass - 1))
