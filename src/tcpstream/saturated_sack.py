"""The transient of a source with independent losses that always has something to send: stored media over SACK."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .kernels.moves import trim
from .kernels.repairs import advance, lose
from .kernels.saturated import clear
from .law import Law, together
from .rows import Rows
from .saturated import NEGLIGIBLE, Saturated
from .tcp import RenoSackSource
from .timeouts import Timeouts

Floats = NDArray[np.float64]


@dataclass
class SaturatedSack(Saturated):
    """Evolution of a source from its start, one round at a time; as `Saturated`, in packets received.

    In order, and so in `law`, are fewer in a round with losses; there `floor` judges what is in order.

    Parameters
    ----------
    source : RenoSackSource
        What sends.
    goal : int
        Packets after which nothing is followed any more.
    """

    source: RenoSackSource

    def __post_init__(self) -> None:
        source = self.source
        # the states of the largest window lead to each other alone, and are one here
        states = source.size - source.rounds_per_increase + 1
        self._windows, self._states = source.windows[:states], slice(states)
        self._targets = np.minimum(source.recover_to[self._windows], states - 1)
        self._success: Floats = np.power(1 - source.loss, self._windows, dtype=np.float64)
        self._restart = min(source.restart, states - 1)
        self._margin = source.max_window + 8
        self._x = Rows.empty(states).at(0, self._margin)
        self._x.add(0, Law(0, np.ones(1)))
        self._spare = Rows.empty(states)
        self._timeouts = Timeouts(source, 1, NEGLIGIBLE)
        self._followed = 1.0
        self._law = Law(0, np.ones(1))

    def step(self, *, floor: int = 0, safe: float = math.inf) -> None:
        """Make one round; `floor` and `safe` [packets] as for `saturated.Saturated.step`."""
        source, timeouts, x, at = self.source, self._timeouts, self._x, self._states
        limit = min(self.goal, math.ceil(safe)) if safe < math.inf else self.goal
        first, end = x.span or (x.origin, x.origin)
        grown, shown, failing, lost = np.zeros((4, end - first + source.max_window + 1))
        lose(
            x.mass, x.low, x.high, first - x.origin, self._windows, self._success, source.nothing_lost_twice[at],
            source.repaired_whole[at], source.all_lost[at], source.loss, 1, grown, shown, failing, lost,
        )  # fmt: skip
        restarted = timeouts.step(Law(first, lost), Law(first, failing), floor, limit, all_lost=1.0)

        low = min(first, restarted.origin) if len(restarted.mass) else first
        size = max(end, restarted.end) + self._margin - low
        new = self._spare
        clear(new.mass, new.low, new.high)
        new.at(low, size)
        advance(
            x.mass, x.low, x.high, self._windows, self._success, self._targets, source.repaired, 1,
            x.origin - low, floor - low, new.mass, new.low, new.high,
        )  # fmt: skip
        if len(restarted.mass):
            new.add(self._restart, restarted)
        states = len(self._windows)
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
        self._followed = float(new.mass.sum()) + float(timeouts.resting.mass.sum())
        self._law = together(Law(first, grown), Law(first, shown), restarted, timeouts.resting, timeouts.waiting)
        accounted = self._active() + float(timeouts.waiting.mass.sum()) + self.done + self.killed + self.neglected
        accounted += timeouts.done + timeouts.killed + timeouts.neglected
        self.residual = max(self.residual, abs(accounted - 1))

    def _active(self) -> float:
        return self._followed
