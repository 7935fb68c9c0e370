"""HyStart, which ends the first slow start before the buffer of a bottleneck is full, as in Linux."""

from __future__ import annotations

import math

from ..path import Path
from .slow_start import windows

SMALLEST = 16
"""Windows from which on it looks at acknowledgements [packets]."""

CLOSE = 0.002
"""Acknowledgements of one train are at most so far apart [s]."""

SENDING = 0.001
"""What the hosts may add to the length of a train [s]."""

SAMPLES = 8
"""Acknowledgements of a round, the shortest round trip of which is looked at."""

LEAST_RISE, LARGEST_RISE = 0.004, 0.016
"""An eighth of the round trip time, within these, is the rise that says that a queue grows [s]."""


def hystart(path: Path) -> int | None:
    """Return the window at which slow start ends, or None if nothing ends it before the buffer is full [packets].

    Parameters
    ----------
    path : Path
        With an initial window.

    Notes
    -----
    S. Ha and I. Rhee, "Taming the elephants: New TCP slow start", Computer Networks 55, 2011, with the constants of
    Linux (tcp_cubic.c). Slow start ends where acknowledgements have come one close behind the other for half a round
    trip, which takes a link of 500 packets/s at least; or where the first ones of a round are late, because the round
    before left a queue. Without a bottleneck neither is seen.
    """
    if path.bottleneck is None or path.initial_window is None:
        return None
    train = (path.rtt + SENDING) / 2 * path.bottleneck if path.bottleneck * CLOSE >= 1 else math.inf
    rise = min(max(path.rtt / 8, LEAST_RISE), LARGEST_RISE) * path.bottleneck
    for w in windows(path.initial_window, path.max_window + 1, 1):
        queue = w / 2 - path.pipe  # found by the first packets of the window
        shown = min(train if w > train else math.inf, SAMPLES if queue > rise else math.inf)
        if w >= SMALLEST and math.isfinite(shown):
            left = w + math.ceil(shown)
            return left if left <= path.max_window else None
    return None
