"""How a connection opens: the packets that its sender sends at once."""

from __future__ import annotations

import numpy as np

from .fates import Fates
from .transmissions import AGAIN, LOST

#: What passes later than this share of the way to the sender and back after an acknowledgement may answer it.
_SOONEST = 0.9
#: Packets sent in slow start over those in flight at its end, by geometric series: 2 if the window doubles every round,
#: 3 if it grows by half of itself, as with delayed acknowledgements.
_SLOW_START = 3


def first_flight(fates: Fates, opening: int | None, upstream: float) -> int | None:
    """Return the packets sent before the first acknowledgement of data; None if the capture does not begin there.

    Parameters
    ----------
    fates : Fates
        The transmissions and acknowledgements, as they passed the point of capture.
    opening : int or None
        Number of the first byte of the connection, from its SYN.
    upstream : float
        Delay from the point of capture to the sender and back [s], the smallest seen; 0 at the sender.

    Notes
    -----
    It is the initial window (RFC 6928: 10 packets), unless the application had less to send.
    """
    if opening is None or int(fates.sent.start[0]) != opening:
        return None
    first = min(float(times[0]) for times in (fates.ack_times, fates.moments) if len(times))
    answered = first + _SOONEST * upstream
    sent = int(np.count_nonzero((fates.sent.time < answered) & ~fates.sent.having(AGAIN)))
    return max(sent, 1)  # times may be equal


def ends_in_loss(fates: Fates, opening: int | None, upstream: float) -> bool:
    """Tell whether the first loss came while the window still grew exponentially; parameters as of `first_flight`."""
    sent = fates.sent
    lost = np.flatnonzero(sent.having(LOST))
    if opening is None or int(sent.start[0]) != opening or not len(lost):
        return False
    until = int(sent.start[lost[0]] + sent.length[lost[0]])
    heard = int(np.searchsorted(fates.ack_times + upstream, sent.time[lost[0]], side="right"))
    acked = int(fates.acks[heard - 1]) if heard else opening
    return until - opening <= _SLOW_START * (until - acked)
