"""What the two ends of a TFRC flow tell each other (RFC 5348, Section 3.2)."""

from __future__ import annotations

from typing import Any, NamedTuple


class Stamp(NamedTuple):
    """What a data packet says: when it was sent [s], R [s], None before the first feedback, and what it carries."""

    time: float
    rtt: float | None
    payload: Any = None


class Feedback(NamedTuple):
    """What a receiver reports.

    Attributes
    ----------
    time : float
        When the newest packet was sent [s].
    delay : float
        Since it arrived [s].
    rate : float
        X_recv [bytes/s].
    p : float
        Loss-event rate.
    events : int
        Loss events so far.
    """

    time: float
    delay: float
    rate: float
    p: float
    events: int
