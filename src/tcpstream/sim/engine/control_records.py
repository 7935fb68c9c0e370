"""What governs a window besides Reno's rules, a record for each flow: apart, as a longer record of flows is slower."""

from __future__ import annotations

import numpy as np

WATCHED, CUBIC, BBR = 1, 2, 3
"""What governs a window: Reno's rules, looked at for idle times and use; CUBIC; BBR. 0 for Reno's rules alone."""

STARTUP, DRAIN, PROBE_BW, PROBE_RTT = range(4)
"""What BBR does: look for the rate, drain the queue that this made, look for more rate, look for the round trip."""

OPEN, RECOVERY, LOSS = range(3)
"""Whether losses are being repaired: those that acknowledgements show, or those of a timeout."""

LOST = 4
"""What the sender of BBR knows of a packet, besides `records.SACKED` and `RESENT`."""

ROUNDS = 11
"""Rounds whose rates BBR remembers: this one and ten before it."""

CONTROL = np.dtype(
    [
        ("row", "i8"),
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

TAG = np.dtype([("delivered", "i8"), ("delivered_at", "f8"), ("first_sent", "f8"), ("limited", "i8")])
"""What BBR notes with a packet: packets delivered when it was sent and when the last was, when the first of the sample
was sent [s], and whether the source had nothing more to send."""

PATH = np.dtype(
    [
        # what was delivered, is under way, was lost and not sent again, and lies above a hole
        ("delivered", "i8"),
        ("delivered_at", "f8"),
        ("first_sent", "f8"),
        ("limited_until", "i8"),
        ("pipe", "i8"),
        ("lost", "i8"),
        ("sacked", "i8"),
        ("newest", "i8"),
        ("state", "i8"),
        ("state_before", "i8"),
        # what the last acknowledgement showed
        ("seen_delivered", "i8"),
        ("seen_at", "f8"),
        ("seen_span", "f8"),
        ("seen_limited", "i8"),
        ("rtt", "f8"),
        # the model: rounds, and that of the last rate that counted; the largest rates of the last ones [packets/s]; the
        # shortest round trip [s] and when it was seen
        ("rounds", "i8"),
        ("sampled", "i8"),
        ("round_end", "i8"),
        ("round_start", "i8"),
        ("best", "f8", (ROUNDS,)),
        ("bw", "f8"),
        ("min_rtt", "f8"),
        ("min_rtt_at", "f8"),
        # what it does
        ("mode", "i8"),
        ("phase", "i8"),
        ("phase_start", "f8"),
        ("full", "i8"),
        ("full_bw", "f8"),
        ("ungrown", "i8"),
        ("probe_end", "f8"),
        ("probe_round", "i8"),
        ("window_before", "f8"),
        ("conserving", "i8"),
        ("idle", "i8"),
        ("timed", "i8"),
        # pacing [packets/s, s]
        ("rate", "f8"),
        ("next_send", "f8"),
        ("wake", "f8"),
    ]
)
"""What BBR knows of a path."""
