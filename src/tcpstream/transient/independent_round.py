"""A round of congestion avoidance of a chain with independent losses, on rows of mass by state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.repairs import gather, grow, lose, recover
from ..kernels.rows import clear
from ..numerics.rows import Rows
from ..tcp import IndependentChain

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class IndependentRound:
    """What becomes of all states in a round; those of the largest window lead to each other alone, and are one here.

    Parameters
    ----------
    chain : IndependentChain
    steps_per_packet : int
        Positions per packet.

    Attributes
    ----------
    windows : (S,) int array
        Window of each state [packets].
    """

    def __init__(self, chain: IndependentChain, steps_per_packet: int) -> None:
        states = chain.graph.size - chain.graph.rounds_per_increase + 1
        self.chain, self.steps_per_packet = chain, steps_per_packet
        self.windows = chain.graph.windows[:states]
        self._growth = chain.graph.growth.between(
            np.arange(states), np.minimum(np.arange(chain.graph.size), states - 1)
        )
        self._success: Floats = np.power(1 - chain.loss, self.windows, dtype=np.float64)
        self._groups = groups = chain.recoveries(states)
        first = groups.order[groups.starts[:-1]]
        self._laws = (
            groups.windows, self._success[first], chain.nothing_lost_twice[first], chain.repaired_whole[first],
            chain.all_lost[first], chain.loss, chain.repairs, chain.holds, steps_per_packet,
        )  # fmt: skip
        self._together = Rows.empty(len(groups.windows))

    def lost(self, x: Rows) -> tuple[Rows, Floats]:
        """Return the groups of states as rows, and the pmfs of `kernels.repairs.lose` from their first position on."""
        y = self._by_group(x)
        first, end = y.span or (y.origin, y.origin)
        pmfs = np.zeros((4, end - first + self.steps_per_packet * int(self.windows.max()) + 1))
        lose(y.mass, y.low, y.high, first - y.origin, *self._laws, *pmfs)
        return y, pmfs

    def advance(self, x: Rows, y: Rows, new: Rows, floor: int) -> None:
        """Add what goes on in congestion avoidance to `new`; below `floor` nothing recovers."""
        offset, into = x.origin - new.origin, (new.mass, new.low, new.high)
        grow(
            x.mass, x.low, x.high, self.windows, self._success, self._growth.from_state, self._growth.to_state,
            self._growth.share, self.steps_per_packet, offset, *into,
        )  # fmt: skip
        groups = self._groups
        recover(
            y.mass, y.low, y.high, groups.windows, groups.targets, groups.shares, self.chain.repaired, groups.losses,
            self.steps_per_packet, offset, floor - new.origin, *into,
        )  # fmt: skip

    def _by_group(self, x: Rows) -> Rows:
        if np.array_equal(self._groups.order, np.arange(len(self._groups.windows))):
            return x
        y = self._together
        clear(y.mass, y.low, y.high)
        y.at(x.origin, x.mass.shape[1])
        gather(x.mass, x.low, x.high, self._groups.order, self._groups.starts, y.mass, y.low, y.high)
        return y
