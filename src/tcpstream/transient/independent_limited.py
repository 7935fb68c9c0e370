"""The transient of a live chain with independent losses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..numerics.measure import Measure
from ..numerics.rows import Rows
from ..tcp.independent import IndependentChain
from ..tcp.silences import LEVELS
from .independent_round import IndependentRound
from .limited import LimitedWindows, take

Floats = NDArray[np.float64]


class LimitedIndependent(LimitedWindows):
    """Evolution of a chain with independent losses, one round at a time, in packets received.

    `distribution` says what is in order. Parameters as for `Limited`.

    Parameters
    ----------
    chain : IndependentChain
        What sends.
    """

    def __init__(self, chain: IndependentChain, ceiling: int, steps_per_packet: int = 1, trace: int = 0) -> None:
        self.chain = chain
        self._rounds = IndependentRound(chain, steps_per_packet)
        self._last = len(self._rounds.windows) - 1  # the states of the largest window are one here
        start = min(chain.graph.start, self._last)
        super().__init__(chain.loss, chain.silences, self._last + 1, start, ceiling, steps_per_packet, trace)
        self._held_back = Measure(
            0, np.zeros(1)
        )  # what is in order in place of what is received: a difference of measures

    def step(self, ceiling: int, *, final: bool = True) -> None:
        """Make one round; `ceiling` and `final` as for `Transient.step`."""
        chain, now, x, timeouts = self.chain, self.ceiling, self._x, self._timeouts
        behind = self._behind(ceiling)
        paused_x, paused_timeouts = take(x, now), take(timeouts, now)
        leaving = self._pending.pop(self.round + 1, [])
        states, n = x.mass.shape
        before = Rows(x.origin, x.mass, np.zeros(states, dtype=np.int64), np.full(states, n))
        groups, (no_loss, in_order, timing_out, lost) = self._rounds.lost(before)
        moved = Measure(x.origin, np.zeros((states, len(no_loss))))
        nowhere = np.zeros((2, states), dtype=np.int64)
        self._rounds.advance(before, groups, Rows(x.origin, moved.mass, *nowhere), x.origin)
        origin = min(
            [x.origin, *(measure.origin for _, _, measure in leaving), *([] if paused_x is None else [behind])]
        )
        end = min(ceiling + 1, max(moved.end, now + 1))
        nx = Measure(origin, np.zeros((states, end - origin)))
        nt = Measure(origin, np.zeros((2, LEVELS, end - origin)))
        nx.add(moved, limit=ceiling)
        self._held_back = Measure(x.origin, np.zeros(end - x.origin))
        self._held_back.add(Measure(x.origin, in_order + no_loss - moved.mass.sum(axis=0)), limit=ceiling)
        if paused_x is not None:
            nx.mass[:, behind - origin] += paused_x
        if paused_timeouts is not None:
            nt.mass[..., behind - origin] += paused_timeouts
        few = Measure(x.origin, np.zeros(end - x.origin))
        few.add(Measure(x.origin, timing_out), limit=ceiling)
        self._come_back(leaving, nt)
        self._wait(chain.silences.whole_loss, 1, Measure(x.origin, lost[:n]), nt)
        self._wait_after_short(few, ceiling, final, nt)
        self._send_alone(timeouts, min(chain.graph.restart, self._last), nx, nt, ceiling)
        self.round += 1
        self.ceiling, self._sending, self._x, self._timeouts = ceiling, x, nx, nt
        self._settle(final)

    def distribution(self) -> Measure:
        """Return the distribution of the packets delivered in order by now, what is done left out."""
        received, held_back = super().distribution(), self._held_back
        origin = min(received.origin, held_back.origin)
        total = Measure(origin, np.zeros(max(received.end, held_back.end) - origin))
        total.add(received)
        total.add(held_back)
        return total
