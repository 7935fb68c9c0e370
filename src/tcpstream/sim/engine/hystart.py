"""HyStart, which ends slow start before a queue is full, as Linux has it (Ha and Rhee 2011).

Acknowledgements of a round that come one close behind the other for half a round trip, or a round trip that grows, say
that the path is full.
"""

from __future__ import annotations

import math

from .compiled import inlined
from .records import World

SMALLEST = 16
"""Windows that it looks at [packets]."""

CLOSE = 0.002
"""Acknowledgements of one train are at most so far apart [s]."""

SENDING = 0.001
"""What the hosts may add to the length of a train [s]."""

SAMPLES = 8
"""Round trips of a round that are looked at before its shortest one says something."""

LEAST_RISE, LARGEST_RISE = 0.004, 0.016
"""An eighth of the shortest round trip is the rise that says that a queue grows, within these [s]."""

SETTLED = 1.0
"""After a recovery round trips are not looked at for so long [s]."""


@inlined
def timed(world: World, f: int, rtt: float, ack: int) -> None:
    """Take a round trip time [s] of an acknowledgement of all before `ack`."""
    now, flow, control = world.clock[0].now, world.flows[f], world.control[f]
    if control.epoch >= 0.0 and now - control.epoch < SETTLED:
        return
    if control.min_rtt == 0.0 or rtt < control.min_rtt:
        control.min_rtt = rtt
    if control.hystart == 0 or control.found != 0 or flow.slow_start == 0 or flow.cwnd >= flow.ssthresh:
        return
    if ack > control.round_end:
        control.round_start = control.last_ack = now
        control.round_end, control.round_rtt, control.samples = flow.high, math.inf, 0
    if flow.cwnd < SMALLEST:
        return
    if now - control.last_ack <= CLOSE:
        control.last_ack = now
        if now - control.round_start > (control.min_rtt + SENDING) / 2:
            control.found = 1
    control.round_rtt = min(control.round_rtt, rtt)
    if control.samples < SAMPLES:
        control.samples += 1
    elif control.round_rtt > control.min_rtt + min(max(control.min_rtt / 8, LEAST_RISE), LARGEST_RISE):
        control.found = 1
    if control.found != 0:
        flow.ssthresh = float(math.floor(flow.cwnd))
