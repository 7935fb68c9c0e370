"""What a sender may send (RFC 5348, Sections 4.2 to 4.5)."""

from __future__ import annotations

import math

from .equation import throughput
from .feedback import Feedback
from .receive_rates import TICK, ReceiveRates

SMOOTHING = 0.9
"""q, what is left of R, and of the mean root of it, with a new sample."""

LONGEST = 64.0
"""t_mbi: a segment is sent in each of so many seconds at least."""

REDUCED = 0.85
"""Of X_recv, after a loss while data were short."""


class AllowedRate:
    """X, and what it follows from.

    Parameters
    ----------
    size : int
        s [bytes].
    initial_window : float
        W_init, what may be sent in the first round trip after the first feedback [bytes].
    damping : bool
        Whether what is sent follows each sample of the round trip (Section 4.5).

    Attributes
    ----------
    rate : float
        X [bytes/s].
    rtt : float, optional
        R [s]; None before the first feedback.
    p : float
        The loss-event rate that was reported last.
    """

    def __init__(self, size: int, initial_window: float, *, damping: bool = False) -> None:
        self.rate, self.rtt, self.p = float(size), None, 0.0  # type: float, float | None, float
        self._size, self._window, self._damping = size, initial_window, damping
        self._received = ReceiveRates()
        self._doubled, self._equation, self._events = 0.0, math.inf, 0
        self._root, self._ratio = 0.0, 1.0

    @property
    def instantaneous(self) -> float:
        """X_inst, at which packets leave [bytes/s]."""
        return max(self.rate * self._ratio, self._size / LONGEST)

    @property
    def timeout(self) -> float:
        """When X is halved unless there is feedback [s]."""
        return max(4 * (self.rtt or 0.0), 2 * self._size / self.rate)

    def feedback(self, now: float, report: Feedback, *, limited: bool) -> None:
        """Take feedback.

        Parameters
        ----------
        now : float
            [s].
        report : Feedback
        limited : bool
            Whether data were short in all of the time that it covers.
        """
        self._sampled(now, max(TICK, now - report.time - report.delay))
        assert self.rtt is not None
        worse = report.p > self.p or report.events > self._events
        self.p, self._events = report.p, report.events
        if limited and worse:
            self._received.halve()
            self._received.maximize(now, REDUCED * report.rate)
            limit = self._received.largest
        else:
            if limited:
                self._received.maximize(now, report.rate)
            else:
                self._received.update(now, report.rate, self.rtt)
            limit = 2 * self._received.largest
        if self.p > 0:
            self._equation = throughput(self._size, self.rtt, self.p)
        self._allow(now, limit)

    def expired(self, now: float, *, idle: bool) -> None:
        """Take it that there was no feedback in time.

        Parameters
        ----------
        now : float
            [s].
        idle : bool
            Whether nothing was sent since the timer was set.
        """
        received = self._received.largest
        if idle and (received < self._recovered if self.p > 0 else self.rate < 2 * self._recovered):
            return
        if self.p == 0:
            self.rate = max(self.rate / 2, self._size / LONGEST)
            return
        limit = received if self._equation > 2 * received else self._equation / 2
        limit = max(limit, self._size / LONGEST)
        self._received.replace(now, limit / 2)
        self._allow(now, limit)

    @property
    def _recovered(self) -> float:
        """The rate below which a sender that was idle does not fall [bytes/s]."""
        return self._window / self.rtt if self.rtt else math.inf

    def _sampled(self, now: float, sample: float) -> None:
        root = math.sqrt(sample)
        if self.rtt is None:
            self.rtt, self._root = sample, root
            self.rate, self._doubled = self._recovered, now
            self._received = ReceiveRates(now)
        else:
            self.rtt = SMOOTHING * self.rtt + (1 - SMOOTHING) * sample
            self._root = SMOOTHING * self._root + (1 - SMOOTHING) * root
        if self._damping:
            self._ratio = self._root / root

    def _allow(self, now: float, limit: float) -> None:
        """Set X, not above a limit [bytes/s]."""
        if self.p > 0:
            self.rate = max(min(self._equation, limit), self._size / LONGEST)
        elif self.rtt is not None and now - self._doubled >= self.rtt - TICK:
            self.rate = max(min(2 * self.rate, limit), self._recovered)
            self._doubled = now
