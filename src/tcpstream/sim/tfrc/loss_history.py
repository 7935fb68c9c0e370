"""Which packets were lost, and which losses are one event (RFC 5348, Sections 5.1 to 5.3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from .loss_intervals import LossIntervals

LATER = 3
"""So many later packets show that one is lost."""


class Hole(NamedTuple):
    """A packet that later ones overtook: its number, when it would have come [s], the arrival that shows its loss."""

    number: int
    time: float
    known: int


class LossHistory:
    """What a receiver knows of losses.

    Losses within a round trip of the first of them are one loss event.

    Parameters
    ----------
    first_interval : callable
        From whether the first packet was lost to the length of the loss interval before the first event [packets].
    discounting : bool
        As `LossIntervals` has it.

    Attributes
    ----------
    events : int
        Loss events so far.
    start : int
        Number of the packet whose loss began the last event.
    """

    def __init__(self, first_interval: Callable[[bool], float], *, discounting: bool = False) -> None:
        self.events, self.start = 0, 0
        self._first_interval = first_interval
        self._intervals = LossIntervals(discounting=discounting)
        self._holes: deque[Hole] = deque()
        self._highest, self._arrived, self._last, self._began = -1, 0, 0.0, 0.0

    @property
    def event_rate(self) -> float:
        """The loss-event rate p, 0..1; 0 before the first event."""
        return self._intervals.event_rate(self._highest - self.start + 1)

    def received(self, number: int, now: float, rtt: float) -> int:
        """Take a packet, and return how many loss events are new.

        Parameters
        ----------
        number : int
            Of the packet: they are sent from 0 on, one after the other.
        now : float
            [s].
        rtt : float
            R that the sender told last [s].
        """
        if number <= self._highest:
            self._holes = deque(hole for hole in self._holes if hole.number != number)
            return 0
        self._arrived += 1
        before = self._last if self._highest >= 0 else now
        step = (now - before) / (number - self._highest)
        for missing in range(self._highest + 1, number):
            time = before + step * (missing - self._highest)
            self._holes.append(Hole(missing, time, self._arrived + LATER - 1))
        self._highest, self._last = number, now
        known = self.events
        while self._holes and self._holes[0].known <= self._arrived:
            self._lost(self._holes.popleft(), rtt)
        return self.events - known

    def _lost(self, hole: Hole, rtt: float) -> None:
        """Begin a loss event, if the last one began more than a round trip before."""
        if self.events == 0:
            self._intervals.close(self._first_interval(hole.number == 0))
        elif hole.time <= self._began + rtt:
            return
        else:
            self._intervals.close(hole.number - self.start)
        self.events += 1
        self.start, self._began = hole.number, hole.time
