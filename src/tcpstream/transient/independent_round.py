"""A round of congestion avoidance of a source with independent losses, on rows of mass by state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.backlogged import clear
from ..kernels.repairs import gather, grow, lose, recover
from ..numerics.rows import Rows
from ..tcp import SackSource

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class SackRound:
    """What becomes of all states in a round; those of the largest window lead to each other alone, and are one here.

    Parameters
    ----------
    source : SackSource
    stride : int
        Positions per packet.

    Attributes
    ----------
    windows : (S,) int array
        Window of each state [packets].
    """

    def __init__(self, source: SackSource, stride: int) -> None:
        states = source.size - source.rounds_per_increase + 1
        self.source, self.stride = source, stride
        self.windows = source.windows[:states]
        self._growth = source.growth.between(np.arange(states), np.minimum(np.arange(source.size), states - 1))
        self._success: Floats = np.power(1 - source.loss, self.windows, dtype=np.float64)
        self._groups = groups = source.recoveries(states)
        first = groups.order[groups.starts[:-1]]
        self._laws = (
            groups.windows, self._success[first], source.nothing_lost_twice[first], source.repaired_whole[first],
            source.all_lost[first], source.loss, source.repairs, source.holds, stride,
        )  # fmt: skip
        self._together = Rows.empty(len(groups.windows))

    def lost(self, x: Rows) -> tuple[Rows, Floats]:
        """Return the groups of states as rows, and the laws of `kernels.repairs.lose` from their first position on."""
        y = self._by_group(x)
        first, end = y.span or (y.origin, y.origin)
        laws = np.zeros((4, end - first + self.stride * int(self.windows[-1]) + 1))
        lose(y.mass, y.low, y.high, first - y.origin, *self._laws, *laws)
        return y, laws

    def advance(self, x: Rows, y: Rows, new: Rows, floor: int) -> None:
        """Add what goes on in congestion avoidance to `new`; below `floor` nothing recovers."""
        offset, into = x.origin - new.origin, (new.mass, new.low, new.high)
        grow(
            x.mass, x.low, x.high, self.windows, self._success, self._growth.source, self._growth.target,
            self._growth.share, self.stride, offset, *into,
        )  # fmt: skip
        groups = self._groups
        recover(
            y.mass, y.low, y.high, groups.windows, groups.targets, groups.shares, self.source.repaired, groups.losses,
            self.stride, offset, floor - new.origin, *into,
        )  # fmt: skip

    def _by_group(self, x: Rows) -> Rows:
        if np.array_equal(self._groups.order, np.arange(len(self._groups.windows))):
            return x
        y = self._together
        clear(y.mass, y.low, y.high)
        y.at(x.origin, x.mass.shape[1])
        gather(x.mass, x.low, x.high, self._groups.order, self._groups.starts, y.mass, y.low, y.high)
        return y
