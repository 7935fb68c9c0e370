"""The transient of a chain with independent losses that always has something to send: stored media over SACK."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.repairs import total
from ..kernels.rows import clear, trim
from ..numerics.measure import Measure, together
from ..numerics.rows import Rows
from ..tcp import IndependentChain
from .backlogged import NEGLIGIBLE, BackloggedTransient
from .independent_round import IndependentRound
from .timeouts import Timeouts

Floats = NDArray[np.float64]


@dataclass
class BackloggedIndependent(BackloggedTransient):
    """Evolution of a chain from its start, one round at a time; as `BackloggedTransient`, in packets received.

    In order, and so in `distribution`, are fewer in a round with losses; there `floor` judges what is in order.

    Parameters
    ----------
    chain : IndependentChain
        What sends.
    goal : int
        Packets after which nothing is followed any more.
    """

    chain: IndependentChain

    def __post_init__(self) -> None:
        chain = self.chain
        self._rounds = IndependentRound(chain, 1)
        states = len(self._rounds.windows)
        self._restart = min(chain.restart, states - 1)
        self._margin = chain.max_window + 8
        self._x = Rows.empty(states).at(0, self._margin)
        self._x.add(min(chain.start, states - 1), Measure(0, np.ones(1)))
        self._spare = Rows.empty(states)
        self._timeouts = Timeouts(chain, 1, NEGLIGIBLE)
        self._followed = 1.0
        self._law = Measure(0, np.ones(1))

    def step(self, *, floor: int = 0, safe: float = math.inf) -> None:
        """Make one round; `floor` and `safe` [packets] as for `transient.backlogged.BackloggedTransient.step`."""
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
        self.killed += below + float(in_order[: max(0, floor - first)].sum())
        self.done += above
        self.neglected += dropped
        self.round += 1
        self.floor = floor
        self._x, self._spare = new, x
        self.cells += int((new.high - new.low).sum())
        self._followed = total(new.mass, new.low, new.high) + float(timeouts.resting.mass.sum())
        self._law = together(
            Measure(first, no_loss), Measure(first, in_order), restarted, timeouts.resting, timeouts.waiting
        )
        accounted = self._active() + float(timeouts.waiting.mass.sum()) + self.done + self.killed + self.neglected
        accounted += timeouts.done + timeouts.killed + timeouts.neglected
        self.residual = max(self.residual, abs(accounted - 1))

    def _active(self) -> float:
        return self._followed
