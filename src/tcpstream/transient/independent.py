"""The transient of a chain with independent losses that always has something to send: stored media over SACK."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..kernels.repairs import total
from ..kernels.rows import clear, trim
from ..numerics.measure import Measure, together
from ..numerics.rows import Rows
from ..tcp.independent import IndependentChain
from .backlogged import Backlogged
from .boundary import OPEN, Boundary, Crossed
from .burst import GONE, NEGLIGIBLE
from .independent_round import IndependentRound
from .timeouts import Timeouts

Floats = NDArray[np.float64]


class BackloggedIndependent(Backlogged):
    """Evolution of a chain with independent losses, by state and packets received.

    In order, and so in `distribution`, are fewer in a round with losses; the floor judges what is in order.

    Parameters
    ----------
    chain : IndependentChain
        What sends.
    goal : int
        Packets after which nothing is followed any more.
    """

    def __init__(self, chain: IndependentChain, goal: int) -> None:
        super().__init__(goal)
        self.chain = chain
        self._rounds = IndependentRound(chain, 1)
        states = len(self._rounds.windows)
        self._restart = min(chain.graph.restart, states - 1)
        self._margin = chain.graph.max_window + 8
        self._x = Rows.empty(states).at(0, self._margin)
        self._x.add(min(chain.graph.start, states - 1), Measure(0, np.ones(1)))
        self._spare = Rows.empty(states)
        self._timeouts = Timeouts(chain.loss, chain.silences, self.account, 1, NEGLIGIBLE)
        self._followed = 1.0
        self._delivered = Measure(0, np.ones(1))

    def step(self, boundary: Boundary = OPEN) -> Crossed:
        """Make one round, and return what lies below the floor [packets] at its end; it is removed."""
        floor, safe, account = boundary.floor, boundary.safe, self.account
        killed = account.killed
        timeouts, x = self._timeouts, self._x
        limit = min(self.goal, math.ceil(safe)) if safe < math.inf else self.goal
        first, end = x.span or (x.origin, x.origin)
        groups, (no_loss, in_order, timing_out, lost) = self._rounds.lost(x)
        restarted = timeouts.step(Measure(first, lost), Measure(first, timing_out), floor, limit, all_lost=1.0)

        low = min(first, restarted.origin) if len(restarted.mass) else first
        size = max(end, restarted.end) + self._margin - low
        new = self._spare
        clear(new.mass, new.low, new.high)
        new.at(low, size)
        self._rounds.advance(x, groups, new, floor)
        if len(restarted.mass):
            new.add(self._restart, restarted)
        states = len(new.low)
        below, above, dropped = trim(
            new.mass, new.low, new.high, np.full(states, floor - low), np.ones(states), np.full(states, limit - low),
            NEGLIGIBLE,
        )  # fmt: skip
        account.killed += below + float(in_order[: max(0, floor - first)].sum())
        account.done += above
        account.neglected += dropped
        self.round += 1
        self.floor = floor
        self._x, self._spare = new, x
        self.cells += int((new.high - new.low).sum())
        self._followed = total(new.mass, new.low, new.high) + float(timeouts.resting.mass.sum())
        self._delivered = together(
            Measure(first, no_loss), Measure(first, in_order), restarted, timeouts.resting, timeouts.waiting
        )
        account.close(self._followed + float(timeouts.waiting.mass.sum()))
        return Crossed(account.killed - killed)

    def survivors(self) -> float:
        """Return the probability of being at or above the floor now, in waits too."""
        return self.account.done + self._timeouts.surviving(self.floor) + self._followed

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to follow."""
        return self._timeouts.idle and self._followed < GONE

    def distribution(self) -> Measure:
        """Return the measure of the packets delivered in order by now; what is done is left out."""
        return self._delivered
