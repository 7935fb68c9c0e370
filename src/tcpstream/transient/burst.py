"""The transient of a chain that always has something to send, in (state, packets delivered): stored media.

Nothing of the playback is in here. Waits are pure delays: mass that enters one comes out later where it went in.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..kernels.backlogged import advance
from ..kernels.backlogged_losses import lose
from ..numerics.measure import Measure, together
from ..numerics.rows import Rows
from ..tcp.burst import BurstChain
from .backlogged import Backlogged
from .boundary import OPEN, Boundary, Crossed
from .first_slow_start import FirstSlowStart
from .timeouts import Timeouts

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-19
"""Mass dropped at most at each end of each row, each round; what is dropped is counted."""

GONE = 1e-16
"""Mass that is not worth another round."""


class BackloggedBurst(Backlogged):
    """Evolution of a chain with bursts of losses, by state and packets delivered.

    Parameters
    ----------
    chain : BurstChain
        What sends.
    goal : int
        Packets after which nothing is followed any more.
    """

    def __init__(self, chain: BurstChain, goal: int) -> None:
        super().__init__(goal)
        self.chain = chain
        order, place = chain.by_window
        states = len(order)
        self._windows = chain.graph.windows[order]
        targets = chain.recover_to[self._windows]
        self._targets = np.where(targets >= 0, place[targets], -1)
        growth = chain.graph.growth.between(order, place)
        self._grown_from, self._shares = growth.from_state, growth.share
        self._starts = np.searchsorted(growth.to_state, np.arange(states + 1))
        self._success: Floats = np.power(1 - chain.loss, self._windows, dtype=np.float64)
        self._restart = int(place[chain.graph.restart])
        self._margin = 2 * chain.graph.max_window + 8
        self._x = Rows.empty(states).at(-self._margin, 4 * self._margin)
        self._place = place
        self._slow_start = FirstSlowStart(chain)
        start = int(place[chain.graph.start])
        self._x.add(start, Measure(0, np.array([1 - self._slow_start.chance])))
        self._before, self._spare = Rows.empty(states), Rows.empty(states)
        self._timeouts = Timeouts(chain.loss, chain.silences, self.account, 1, NEGLIGIBLE)
        self._total = Measure(-self._margin, self._x.mass[start].copy())
        self._delivered = together(self._total, *self._slow_start.measure)
        self._short = Measure(0, np.zeros(1))
        self._few = Measure(0, np.zeros(1))

    def step(self, boundary: Boundary = OPEN) -> Crossed:
        """Make one round, and return what lies below the floor [packets] at its end.

        Parameters
        ----------
        boundary : Boundary
            What lies below its floor is removed.
        """
        floor, safe, account = boundary.floor, boundary.safe, self.account
        killed = account.killed
        chain, timeouts = self.chain, self._timeouts
        x, before = self._x, self._before
        limit = min(self.goal, math.ceil(safe)) if safe < math.inf else self.goal
        anchor = x.origin + self._margin
        first, end = x.span or (anchor, anchor)
        sending = Measure(first, self._total.mass[first - x.origin : end - x.origin])
        restarted = timeouts.step(together(sending, *self._slow_start.measure), self._few, floor, limit)
        entered, slow_start_short, slow_start_few, removed = self._slow_start.step(floor)

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
        account.killed += below
        account.done += above
        account.neglected += dropped
        self._x, self._before, self._spare = new, x, before
        self._total = Measure(origin, total)
        used = slice(first - origin, end + chain.graph.max_window + 2 - origin)
        self._short = together(Measure(first, short[used]), *slow_start_short)
        self._few = together(Measure(first, few[used]), *slow_start_few)
        self.cells += cells
        self._delivered = together(
            self._total, *self._slow_start.measure, timeouts.resting, self._short, timeouts.waiting
        )
        account.close(float(self._delivered.mass.sum()))
        return Crossed(account.killed - killed)

    def _enter(self, entered: list[tuple[int, Measure]], new: Rows, total: Measure, floor: int, limit: int) -> float:
        """Add what leaves the first slow start to rows and their sum; return what of it lies below the floor."""
        below = 0.0
        for state, measure in entered:
            first, last = np.clip([floor - measure.origin, limit - measure.origin], 0, len(measure.mass))
            below += float(measure.mass[:first].sum())
            self.account.done += float(measure.mass[last:].sum())
            if first < last:
                kept = Measure(measure.origin + int(first), measure.mass[first:last])
                new.add(int(self._place[state]), kept)
                total.add(kept)
        return below

    def survivors(self) -> float:
        """Return the probability of being at or above the floor now, in waits too."""
        return self.account.done + self._timeouts.surviving(self.floor) + self._active()

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to follow."""
        return self._timeouts.idle and self._active() < GONE

    def distribution(self) -> Measure:
        """Return the distribution of the packets delivered by now; what is done is left out."""
        return self._delivered

    def _active(self) -> float:
        total = self._total.mass.sum() + self._timeouts.resting.mass.sum() + self._short.mass.sum()
        return float(total + self._slow_start.chance)
