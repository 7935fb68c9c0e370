"""Timeouts of a source that always has something to send: retransmissions, and waits as pure delays."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .kernels.saturated import retransmit, settle
from .kernels.waits import add, cut, move
from .law import Law
from .quanta import split
from .rows import Rows
from .tcp.reno import LEVELS, RenoSource, Wait

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Waiting:
    """A measure in a wait, with the back-off level that it leaves to, and a weight."""

    origin: int
    mass: Floats
    level: int
    weight: float

    @property
    def end(self) -> int:
        """Position after the last one."""
        return self.origin + len(self.mass)


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
    resting, waiting : Law
        What is sending a packet alone, and what is in a wait, by position.
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
    waiting: Law = field(default_factory=lambda: Law(0, np.zeros(1)))
    _pending: dict[int, list[Waiting]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
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
        source, rows = self.source, self._rows
        leaving = self._pending.pop(self.round + 1, [])
        spans = [(law.origin, law.end) for law in (all_lost, few)] + [(law.origin, law.end) for law in leaving]
        if rows.span is not None:
            spans.append(rows.span)
        origin = min(first for first, _ in spans) - 1
        size = max(end for _, end in spans) + 2 - origin
        new, lost = self._spare.at(origin, size), self._lost.at(origin, size)
        restarted = np.zeros(size)
        first, last = retransmit(
            rows.mass, rows.low, rows.high, source.loss, self._step, rows.origin - origin,
            new.mass, new.low, new.high, lost.mass, lost.low, lost.high, restarted,
        )  # fmt: skip
        for law in leaving:
            move(
                law.mass, law.weight, new.mass[law.level - 1], law.origin - origin,
                self.waiting.mass, law.origin - self.waiting.origin,
            )  # fmt: skip
            new.reached(law.level - 1, law.origin, law.end)
        self._wait(source.all_lost_wait, 1, all_lost, new, limit)
        self._wait(source.short_wait, 1, few, new, limit)
        for e in range(LEVELS):
            low, high = lost.low[e], lost.high[e]
            if low < high:
                failed = Law(origin + int(low), lost.mass[e, low:high])
                self._wait(source.backoff_wait[e], min(e + 2, LEVELS), failed, new, limit)
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
        return sum(
            law.weight * float(law.mass[max(0, floor - law.origin) :].sum())
            for entries in self._pending.values()
            for law in entries
        )

    @property
    def idle(self) -> bool:
        """Whether nothing waits."""
        return not any(self._pending.values())

    def _wait(self, waits: Wait, level: int, law: Law, resting: Rows, limit: int) -> None:
        """Let `law` wait, then retransmit at back-off `level`; a wait of one round is over at once."""
        first, last, above, dropped = cut(law.mass, limit - law.origin, self.negligible)
        self.done += above
        self.neglected += dropped
        if first == last:
            return
        origin, mass = law.origin + first, law.mass[first:last].copy()
        self.waiting = waiting = self.waiting.covering(origin, origin + len(mass))
        for rounds, weight in waits:
            if rounds == 1:
                resting.add(level - 1, Law(origin, mass), weight)
                continue
            self._pending[self.round + rounds].append(Waiting(origin, mass, level, weight))
            add(mass, weight, waiting.mass, origin - waiting.origin)
