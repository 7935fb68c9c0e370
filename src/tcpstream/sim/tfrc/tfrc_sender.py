"""The sender of a TFRC flow: pulls a segment whenever one may leave (RFC 5348, Sections 4.4 and 4.6)."""

from __future__ import annotations

import math

from ..application import Server
from ..hosts import ServerHost
from ..traffic import Datagram
from .allowed_rate import AllowedRate
from .data_limits import DataLimits
from .feed import Feed
from .feedback import Feedback, Stamp


class TfrcSender(Server):
    """Paces segments.

    Parameters
    ----------
    feed : Feed
    allowed : AllowedRate
    size : int
        s [bytes].
    cap : float
        The application wants no more [bytes/s].
    jitter : float
        Each packet takes its sender up to this long, one after the other [s].
    """

    def __init__(self, feed: Feed, allowed: AllowedRate, size: int, cap: float = math.inf, jitter: float = 0.0) -> None:
        self._feed, self._allowed, self._size, self._cap, self._jitter = feed, allowed, size, cap, jitter
        self._limits = DataLimits()
        self._short, self._idle = False, True
        self._left, self._last = -math.inf, -math.inf
        self._deadline, self._alarm = math.inf, math.inf

    def start(self, host: ServerHost) -> None:
        """Send the first segment, and expect feedback."""
        self._expect(host)
        self._send(host)

    def ready(self, host: ServerHost) -> None:
        """Send, as soon as the rate lets it, what the feed has got since it had nothing."""
        if self._short:
            self._short = False
            self._next(host)

    def came(self, host: ServerHost, datagram: Datagram) -> None:
        """Let the feed take what another flow brought."""
        self._feed.came(datagram)
        self.ready(host)

    def timer(self, host: ServerHost, name: str) -> None:
        """Send a segment, or find that there was no feedback in time."""
        if name == "send":
            self._send(host)
        elif host.now < self._deadline:
            self._wait(host)
        else:
            self._alarm = math.inf
            self._allowed.expired(host.now, idle=self._idle)
            self._note(host)
            self._expect(host)
            self._next(host)

    def message(self, host: ServerHost, message: Feedback) -> None:
        """Take feedback."""
        self._allowed.feedback(host.now, message, limited=self._limits.covered(message.time))
        self._note(host)
        self._expect(host)
        self._next(host)

    def _send(self, host: ServerHost) -> None:
        """Pull a segment and let it leave."""
        segment = self._feed.pull(host.now)
        if segment is None:
            self._short = True
            if (due := self._feed.due(host.now)) < math.inf:
                host.wake("send", max(0.0, due - host.now))
            return
        self._short, self._idle, self._last = False, False, host.now
        after = 0.0
        if self._jitter > 0:
            self._left = max(self._left, host.now) + self._jitter * host.rng.random()
            after = self._left - host.now
        host.send(segment.size, segment.tag, after, Stamp(host.now, self._allowed.rtt, segment.payload))
        if self._allowed.instantaneous <= self._cap:
            self._limits.unlimited(host.now)
        self._next(host)

    def _next(self, host: ServerHost) -> None:
        """Send a segment when its time comes, unless the feed has none."""
        if not self._short:
            at = self._last + self._size / min(self._allowed.instantaneous, self._cap)
            host.wake("send", max(0.0, at - host.now))

    def _expect(self, host: ServerHost) -> None:
        """Expect feedback until the timer expires; one that expires before is looked at then."""
        self._deadline, self._idle = host.now + self._allowed.timeout, True
        if self._deadline < self._alarm:
            self._wait(host)

    def _wait(self, host: ServerHost) -> None:
        self._alarm = self._deadline
        host.wake("feedback", max(0.0, self._deadline - host.now))

    def _note(self, host: ServerHost) -> None:
        host.note("allowed_rate", 8 * self._allowed.rate)
        host.note("p", self._allowed.p)
        if self._allowed.rtt is not None:
            host.note("rtt", self._allowed.rtt)
