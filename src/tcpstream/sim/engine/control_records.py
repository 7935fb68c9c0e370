"""What governs a window besides Reno's rules, a record for each flow: apart, as a longer record of flows is slower."""

from __future__ import annotations

import numpy as np

WATCHED, CUBIC = 1, 2
"""What governs a window: Reno's rules, looked at for idle times and use; CUBIC. 0 for Reno's rules alone."""

CONTROL = np.dtype(
    [
        # what was chosen
        ("limited", "i8"),
        # what was sent, and last when [s]; what is under way while SACK repairs losses
        ("sent", "i8"),
        ("last_sent", "f8"),
        ("high", "i8"),
        ("pipe", "i8"),
        # the last window: whether it was full, the most packets out in it, where it ends
        ("full", "i8"),
        ("most_out", "i8"),
        ("end", "i8"),
        # while windows are not used up: the most packets out, since when [s]
        ("used", "i8"),
        ("since", "f8"),
        # round trips: the shortest [s]; HyStart's round
        ("hystart", "i8"),
        ("found", "i8"),
        ("min_rtt", "f8"),
        ("round_end", "i8"),
        ("round_start", "f8"),
        ("last_ack", "f8"),
        ("round_rtt", "f8"),
        ("samples", "i8"),
        # CUBIC: the window of the last loss, the curve's plateau and when it is reached, its start [s], Reno's window
        ("w_max", "f8"),
        ("origin", "f8"),
        ("k", "f8"),
        ("epoch", "f8"),
        ("w_est", "f8"),
        # proportional rate reduction: packets delivered, by the last acknowledgement, before a recovery; sent before it
        ("prr", "i8"),
        ("delivered", "i8"),
        ("newly", "i8"),
        ("delivered_before", "i8"),
        ("sent_before", "i8"),
        ("flight", "i8"),
    ]
)
