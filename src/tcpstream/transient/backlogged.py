"""The transient of a chain that always has something to send, in (state, packets delivered): stored media.

Nothing of the playback is in here. Waits are pure delays: mass that enters one comes out later where it went in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.backlogged import advance
from ..kernels.backlogged_losses import lose
from ..numerics.measure import Measure, together
from ..numerics.rows import Rows
from ..tcp.reno import BurstChain
from .first_slow_start import FirstSlowStart
from .timeouts import Timeouts

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-19
"""Mass dropped at most at each end of each row, each round; what is dropped is counted."""

GONE = 1e-16
"""Mass that is not worth another round."""


@dataclass
class BackloggedTransient:
    """Evolution of a chain from its start, one round at a time, while it never lacks packets to send.

    Parameters
    ----------
    chain : BurstChain
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

    chain: BurstChain
    goal: int
    round: int = 0
    floor: int = 0
    done: float = 0.0
    killed: float = 0.0
    neglected: float = 0.0
    residual: float = 0.0
    cells: int = 0

    def __post_init__(self) -> None:
        chain = self.chain
        order, place = chain.by_window
        states = len(order)
        self._windows = chain.windows[order]
        targets = chain.recover_to[self._windows]
        self._targets = np.where(targets >= 0, place[targets], -1)
        growth = chain.growth.between(order, place)
        self._grown_from, self._shares = growth.from_state, growth.share
        self._starts = np.searchsorted(growth.to_state, np.arange(states + 1))
        self._success: Floats = np.power(1 - chain.loss, self._windows, dtype=np.float64)
        self._restart = int(place[chain.restart])
        self._margin = 2 * chain.max_window + 8
        self._x = Rows.empty(states).at(-self._margin, 4 * self._margin)
        self._place = place
        self._opening = FirstSlowStart(chain)
        start = int(place[chain.start])
        self._x.add(start, Measure(0, np.array([1 - self._opening.chance])))
        self._before, self._spare = Rows.empty(states), Rows.empty(states)
        self._timeouts = Timeouts(chain, 1, NEGLIGIBLE)
        self._total = Measure(-self._margin, self._x.mass[start].copy())
        self._law = together(self._total, *self._opening.measure)
        self._short = Measure(0, np.zeros(1))
        self._few = Measure(0, np.zeros(1))

    def step(self, *, floor: int = 0, safe: float = math.inf) -> None:
        """Make one round.

        Parameters
        ----------
        floor : int
            What lies below at the end of the round is removed and counted in `killed`; does not decrease.
        safe : float
            Mass at or above this position is followed no longer, and counts as done.
        """
        chain, timeouts = self.chain, self._timeouts
        x, before = self._x, self._before
        limit = min(self.goal, math.ceil(safe)) if safe < math.inf else self.goal
        anchor = x.origin + self._margin
        first, end = x.span or (anchor, anchor)
        sending = Measure(first, self._total.mass[first - x.origin : end - x.origin])
        restarted = timeouts.step(together(sending, *self._opening.measure), self._few, floor, limit)
        entered, opening_short, opening_few, removed = self._opening.step(floor)

        spans = [(first, end), before.span or (first, end), *((measure.origin, measure.end) for _, measure in entered)]
        if len(restarted.mass):
            spans.append((restarted.origin, restarted.end))
        origin = min(low for low, _ in spans) - self._margin
        new = self._spare.at(origin, max(high for _, high in spans) + 2 * self._margin - origin)
        size = new.mass.shape[1]
        total, grown, short, few = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
        below, above, dropped, cells = advance(
            x.mass, x.low, x.high, before.mass, before.low, before.high, self._windows, self._success, self._targets,
            self._grown_from, self._shares, self._starts, chain.loss, x.origin - origin, before.origin - origin,
            self.floor - before.origin, floor - origin,
            limit - origin, NEGLIGIBLE, self._restart, restarted.mass, restarted.origin - origin,
            new.mass, new.low, new.high, total, grown,
        )  # fmt: skip
        below += lose(
            x.mass, self._windows, self._total.mass, first - x.origin, end - x.origin, grown, chain.loss,
            x.origin - origin, floor - origin, short, few,
        )  # fmt: skip

        below += removed + self._enter(entered, new, Measure(origin, total), floor, limit)

        self.round += 1
        self.floor = floor
        self.killed += below
        self.done += above
        self.neglected += dropped
        self._x, self._before, self._spare = new, x, before
        self._total = Measure(origin, total)
        used = slice(first - origin, end + chain.max_window + 2 - origin)
        self._short = together(Measure(first, short[used]), *opening_short)
        self._few = together(Measure(first, few[used]), *opening_few)
        self.cells += cells
        self._law = together(self._total, *self._opening.measure, timeouts.resting, self._short, timeouts.waiting)
        accounted = float(self._law.mass.sum()) + self.done + self.killed + self.neglected
        accounted += timeouts.done + timeouts.killed + timeouts.neglected
        self.residual = max(self.residual, abs(accounted - 1))

    def _enter(self, entered: list[tuple[int, Measure]], new: Rows, total: Measure, floor: int, limit: int) -> float:
        """Add what leaves the first slow start to rows and their sum; return what of it lies below the floor."""
        below = 0.0
        for state, measure in entered:
            first, last = np.clip([floor - measure.origin, limit - measure.origin], 0, len(measure.mass))
            below += float(measure.mass[:first].sum())
            self.done += float(measure.mass[last:].sum())
            if first < last:
                kept = Measure(measure.origin + int(first), measure.mass[first:last])
                new.add(int(self._place[state]), kept)
                total.add(kept)
        return below

    def survivors(self) -> float:
        """Return the probability of being at or above the floor now, in waits too."""
        return self.done + self._timeouts.done + self._timeouts.surviving(self.floor) + self._active()

    @property
    def unaccounted(self) -> float:
        """Probability dropped, and departure of the total from 1."""
        return self.neglected + self._timeouts.neglected + self.residual

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to follow."""
        return self._timeouts.idle and self._active() < GONE

    def distribution(self) -> Measure:
        """Return the distribution of the packets delivered by now; what is done is left out."""
        return self._law

    def _active(self) -> float:
        total = self._total.mass.sum() + self._timeouts.resting.mass.sum() + self._short.mass.sum()
        return float(total + self._opening.chance)
