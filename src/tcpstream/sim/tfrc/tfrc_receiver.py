"""The receiver of a TFRC flow (RFC 5348, Section 6)."""

from __future__ import annotations

from collections import deque

from ..application import Client
from ..hosts import ClientHost
from ..traffic import Datagram
from .equation import loss_event_rate
from .feedback import Feedback, Stamp
from .loss_history import LossHistory

REPORT = 40
"""Of a packet with feedback [bytes]."""

LEAST = 0.5
"""Segments a round trip from which the first loss interval is found, at least."""


class TfrcReceiver(Client):
    """Counts loss events, and reports once a round trip, or at once if p rises.

    Parameters
    ----------
    size : int
        s, the segments [bytes].
    discounting : bool
        As `LossHistory` has it.
    """

    def __init__(self, size: int, *, discounting: bool = False) -> None:
        self._size = size
        self._history = LossHistory(self._first_interval, discounting=discounting)
        self._window: deque[tuple[float, int]] = deque()
        self._newest, self._came = Stamp(0.0, None), 0.0
        self._rtt, self._p, self._most = 0.0, 0.0, 0.0
        self._fresh, self._reported = False, True

    def data(self, host: ClientHost, datagram: Datagram) -> None:
        """Take a packet; report at once if nothing else makes the receiver report, or if p rises."""
        first, stamp = self._rtt == 0, datagram.header
        self._newest, self._came, self._fresh = stamp, host.now, True
        self._window.append((host.now, datagram.size))
        self._rtt = stamp.rtt or 0.0
        events = self._history.received(datagram.number, host.now, self._rtt)
        if events:
            host.note("loss_event", self._history.start)
        if self._rtt == 0:
            self._report(host)
        elif first:
            host.wake("report", self._rtt)
        elif not self._reported or (events and self._history.event_rate > self._p):
            self._report(host)

    def timer(self, host: ClientHost, name: str) -> None:
        """Report what came in the last round trip, or, if nothing did, the next packet when it comes."""
        if self._fresh:
            self._report(host)
        else:
            self._reported = False
            host.wake(name, self._rtt)

    def _report(self, host: ClientHost) -> None:
        self._p = self._history.event_rate
        rate = self._rate(host.now)
        host.tell(Feedback(self._newest.time, host.now - self._came, rate, self._p, self._history.events), REPORT)
        self._fresh, self._reported = False, True
        if self._rtt > 0:
            host.wake("report", self._rtt)

    def _rate(self, now: float) -> float:
        """Return X_recv, what came in the last round trip [bytes/s]."""
        if self._rtt == 0:
            return 0.0
        while self._window and self._window[0][0] <= now - self._rtt:
            self._window.popleft()
        rate = sum(size for _, size in self._window) / self._rtt
        self._most = max(self._most, rate)
        return rate

    def _first_interval(self, null: bool) -> float:
        """Return the interval with which the equation gives the largest rate received (RFC 5348, Section 6.3.1)."""
        segments = LEAST
        if not null and self._rtt > 0:
            self._rate(self._came)
            segments = max(LEAST, self._most * self._rtt / self._size)
        return 1 / loss_event_rate(segments)
