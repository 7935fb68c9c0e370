"""The transient of a live source with independent losses; see `tcpstream.transient`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .kernels.repairs import advance, lose
from .law import Law
from .tcp import RenoSackSource
from .tcp.reno import LEVELS
from .transient import Transient, take

Floats = NDArray[np.float64]


@dataclass
class TransientSack(Transient):
    """Evolution of a source from its start, one round at a time; as `Transient`, in packets received.

    `law` says what is in order.
    """

    source: RenoSackSource

    def __post_init__(self) -> None:
        super().__post_init__()
        source = self.source
        # the states of the largest window lead to each other alone, and are one here
        self._states = slice(source.size - source.rounds_per_increase + 1)
        self._windows = source.windows[self._states]
        self._x = Law(0, np.zeros((len(self._windows), 1)))
        self._x.mass[source.start, 0] = 1.0
        self._held_back = Law(0, np.zeros(1))  # what is in order in place of what is received: a difference of measures

    def step(self, ceiling: int, *, final: bool = True) -> None:
        """Make one round; `ceiling` and `final` as for `Transient.step`."""
        source, stride, at, now = self.source, self.stride, self._states, self.ceiling
        x, timeouts, last = self._x, self._timeouts, len(self._windows) - 1
        paused_x, paused_timeouts = take(x, now), take(timeouts, now)
        leaving = self._pending.pop(self.round + 1, [])
        n, most = x.mass.shape[1], stride * max(source.max_window, 2)
        low, high = np.zeros(last + 1, dtype=np.int64), np.full(last + 1, n)
        grown, shown, failing, lost = np.zeros((4, n + most))
        lose(
            x.mass, low, high, 0, self._windows, self._success[at], source.nothing_lost_twice[at],
            source.repaired_whole[at], source.all_lost[at], source.loss, stride, grown, shown, failing, lost,
        )  # fmt: skip
        moved = Law(x.origin, np.zeros((last + 1, n + most)))
        advance(
            x.mass, low, high, self._windows, self._success[at], np.minimum(source.recover_to[self._windows], last),
            source.repaired, stride, 0, 0, moved.mass, np.zeros_like(low), np.zeros_like(low),
        )  # fmt: skip
        origin = min([x.origin] + [law.origin for _, _, law in leaving])
        end = min(ceiling + 1, max(moved.end, now + 1))
        nx = Law(origin, np.zeros((last + 1, end - origin)))
        nt = Law(origin, np.zeros((2, LEVELS, end - origin)))
        nx.add(moved, limit=ceiling)
        self._held_back = Law(x.origin, np.zeros(end - x.origin))
        self._held_back.add(Law(x.origin, shown + grown - moved.mass.sum(axis=0)), limit=ceiling)
        if paused_x is not None:
            nx.mass[:, now - origin] += paused_x
        if paused_timeouts is not None:
            nt.mass[..., now - origin] += paused_timeouts
        few = Law(x.origin, np.zeros(end - x.origin))
        few.add(Law(x.origin, failing), limit=ceiling)
        self._come_back(leaving, nt)
        self._wait(source.all_lost_wait, 1, Law(x.origin, lost[:n]), nt)
        self._wait(source.short_wait, 1, few, nt)
        self._send_alone(timeouts, min(source.restart, last), nx, nt, ceiling)
        self.round += 1
        self.ceiling, self._x, self._timeouts = ceiling, nx, nt
        self._settle(final)

    def law(self) -> Law:
        """Return the law of the packets delivered in order by now, what is done left out."""
        received, held_back = super().law(), self._held_back
        origin = min(received.origin, held_back.origin)
        total = Law(origin, np.zeros(max(received.end, held_back.end) - origin))
        total.add(received)
        total.add(held_back)
        return total
