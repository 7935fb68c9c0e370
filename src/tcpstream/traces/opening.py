"""How a connection opens: the packets that its sender sends at once."""

from __future__ import annotations

import numpy as np

from .fates import Fates
from .transmissions import AGAIN

#: What passes later than this share of the way to the sender and back after an acknowledgement may answer it.
_SOONEST = 0.9


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
