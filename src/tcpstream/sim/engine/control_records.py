"""What governs a window besides Reno's rules, a record for each flow: apart, as a longer record of flows is slower."""

from __future__ import annotations

import numpy as np

CONTROL = np.dtype(
    [
        # what was chosen
        ("limited", "i8"),
        # what was sent, and last when [s]
        ("sent", "i8"),
        ("last_sent", "f8"),
        ("high", "i8"),
        # the last window: whether it was full, the most packets out in it, where it ends
        ("full", "i8"),
        ("most_out", "i8"),
        ("end", "i8"),
        # while windows are not used up: the most packets out, since when [s]
        ("used", "i8"),
        ("since", "f8"),
    ]
)
