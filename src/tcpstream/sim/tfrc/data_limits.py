"""Whether a sender had enough to send (RFC 5348, Section 8.2.1)."""

from __future__ import annotations

from collections import deque


class DataLimits:
    """Remembers when a sender had sent all that it may."""

    def __init__(self) -> None:
        self._unlimited: deque[float] = deque()

    def unlimited(self, now: float) -> None:
        """Note that all has been sent that may be sent now."""
        self._unlimited.append(now)

    def covered(self, until: float) -> bool:
        """Return whether data were short from the last call's time on, until the newest packet was sent [s]."""
        short = True
        while self._unlimited and self._unlimited[0] <= until:
            self._unlimited.popleft()
            short = False
        return short
