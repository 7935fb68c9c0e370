"""The transient of a source with independent losses that always has something to send: stored media over SACK."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.backlogged import clear
from ..kernels.moves import trim
from ..kernels.repairs import total
from ..numerics.measure import Law, together
from ..numerics.rows import Rows
from ..tcp import SackSource
from .backlogged import NEGLIGIBLE, Saturated
from .independent_round import SackRound
from .timeouts import Timeouts

Floats = NDArray[np.float64]


@dataclass
class SaturatedSack(Saturated):
    """Evolution of a source from its start, one round at a time; as `Saturated`, in packets received.

    In order, and so in `law`, are fewer in a round with losses; there `floor` judges what is in order.

    Parameters
    ----------
    source : SackSource
        What sends.
    goal : int
        Packets after which nothing is followed any more.
    """

    source: SackSource

    def __post_init__(self) -> None:
        source = self.source
        self._rounds = SackRound(source, 1)
        states = len(self._rounds.windows)
        self._restart = min(source.restart, states - 1)
        self._margin = source.max_window + 8
        self._x = Rows.empty(states).at(0, self._margin)
        self._x.add(min(source.start, states - 1), Law(0, np.ones(1)))
        self._spare = Rows.empty(states)
        self._timeouts = Timeouts(source, 1, NEGLIGIBLE)
        self._followed = 1.0
        self._law = Law(0, np.ones(1))

    def step(self, *, floor: int = 0, safe: float = math.inf) -> None:
        """Make one round; `floor` and `safe` [packets] as for `saturated.Saturated.step`."""
        timeouts, x = self._timeouts, self._x
        limit = min(self.goal, math.ceil(safe)) if safe < math.inf else self.goal
        first, end = x.span or (x.origin, x.origin)
        groups, (grown, shown, failing, lost) = self._rounds.lost(x)
        restarted = timeouts.step(Law(first, lost), Law(first, failing), floor, limit, all_lost=1.0)

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
        self.killed += below + float(shown[: max(0, floor - first)].sum())
        self.done += above
        self.neglected += dropped
        self.round += 1
        self.floor = floor
        self._x, self._spare = new, x
        self.cells += int((new.high - new.low).sum())
        self._followed = total(new.mass, new.low, new.high) + float(timeouts.resting.mass.sum())
        self._law = together(Law(first, grown), Law(first, shown), restarted, timeouts.resting, timeouts.waiting)
        accounted = self._active() + float(timeouts.waiting.mass.sum()) + self.done + self.killed + self.neglected
        accounted += timeouts.done + timeouts.killed + timeouts.neglected
        self.residual = max(self.residual, abs(accounted - 1))

    def _active(self) -> float:
        return self._followed
