"""The transient of a live source with independent losses; see `tcpstream.transient.limited`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..numerics.measure import Law
from ..numerics.rows import Rows
from ..tcp import SackSource
from ..tcp.silences import LEVELS
from .independent_round import SackRound
from .limited import Held, Transient, take

Floats = NDArray[np.float64]


@dataclass
class TransientSack(Transient):
    """Evolution of a source from its start, one round at a time; as `Transient`, in packets received.

    `law` says what is in order.
    """

    source: SackSource

    def __post_init__(self) -> None:
        self._rounds = SackRound(self.source, self.stride)
        self._last = len(self._rounds.windows) - 1  # the states of the largest window are one here
        self._x = Law(self.ceiling, np.zeros((self._last + 1, 1)))
        self._x.mass[min(self.source.start, self._last), 0] = 1.0
        self._timeouts = Law(self.ceiling, np.zeros((2, LEVELS, 1)))  # r = 1, then r = 0
        self._sending = Law(self.ceiling, np.zeros((self._last + 1, 1)))
        self._waiting = Law(0, np.zeros(1))
        self._short, self._held = Law(0, np.zeros((1, 1))), Held(0, np.zeros((1, 1)), np.zeros(3))  # none, ever
        self._held_back = Law(0, np.zeros(1))  # what is in order in place of what is received: a difference of measures

    def step(self, ceiling: int, *, final: bool = True) -> None:
        """Make one round; `ceiling` and `final` as for `Transient.step`."""
        source, now, x, timeouts = self.source, self.ceiling, self._x, self._timeouts
        behind = self._behind(ceiling)
        paused_x, paused_timeouts = take(x, now), take(timeouts, now)
        leaving = self._pending.pop(self.round + 1, [])
        states, n = x.mass.shape
        before = Rows(x.origin, x.mass, np.zeros(states, dtype=np.int64), np.full(states, n))
        groups, (grown, shown, failing, lost) = self._rounds.lost(before)
        moved = Law(x.origin, np.zeros((states, len(grown))))
        nowhere = np.zeros((2, states), dtype=np.int64)
        self._rounds.advance(before, groups, Rows(x.origin, moved.mass, *nowhere), x.origin)
        origin = min([x.origin, *(law.origin for _, _, law in leaving), *([] if paused_x is None else [behind])])
        end = min(ceiling + 1, max(moved.end, now + 1))
        nx = Law(origin, np.zeros((states, end - origin)))
        nt = Law(origin, np.zeros((2, LEVELS, end - origin)))
        nx.add(moved, limit=ceiling)
        self._held_back = Law(x.origin, np.zeros(end - x.origin))
        self._held_back.add(Law(x.origin, shown + grown - moved.mass.sum(axis=0)), limit=ceiling)
        if paused_x is not None:
            nx.mass[:, behind - origin] += paused_x
        if paused_timeouts is not None:
            nt.mass[..., behind - origin] += paused_timeouts
        few = Law(x.origin, np.zeros(end - x.origin))
        few.add(Law(x.origin, failing), limit=ceiling)
        self._come_back(leaving, nt)
        self._wait(source.all_lost_wait, 1, Law(x.origin, lost[:n]), nt)
        self._wait_after_short(few, ceiling, final, nt)
        self._send_alone(timeouts, min(source.restart, self._last), nx, nt, ceiling)
        self.round += 1
        self.ceiling, self._sending, self._x, self._timeouts = ceiling, x, nx, nt
        self._settle(final)

    def law(self) -> Law:
        """Return the law of the packets delivered in order by now, what is done left out."""
        received, held_back = super().law(), self._held_back
        origin = min(received.origin, held_back.origin)
        total = Law(origin, np.zeros(max(received.end, held_back.end) - origin))
        total.add(received)
        total.add(held_back)
        return total
