"""The retransmission timer: samples of round trips, and when it is looked at."""

from __future__ import annotations

import math

from .compiled import inlined
from .events import push
from .records import TIMER, World

LARGEST_BACKOFF = 64
"""Of the timer, in times of itself."""


@inlined
def sample(world: World, f: int, rtt: float) -> None:
    """Take a round trip time into the timer.

    In real numbers (RFC 6298, Section 2), or with a clock of some granularity in whole ticks, eighths and quarters of
    them, as BSD's (Jacobson, "Congestion avoidance and control", 1988, Appendix A): what is below a quarter of a tick
    does not fade.
    """
    flow = world.flows[f]
    G = flow.granularity
    if flow.ticks != 0:
        ticks = int(max(1.0, math.floor(rtt / G + 0.5)))
        if flow.eighths == 0:
            flow.eighths = 8 * ticks
            flow.quarters = 2 * ticks
        else:
            error = ticks - (flow.eighths >> 3)
            flow.eighths = max(1, flow.eighths + error)
            flow.quarters = max(1, flow.quarters + abs(error) - (flow.quarters >> 2))
        flow.rto = max(flow.min_rto, ((flow.eighths + 8 * flow.quarters) >> 3) * G)
    else:
        if flow.srtt == 0.0:
            flow.srtt = rtt
            flow.rttvar = rtt / 2
        else:
            flow.rttvar += (abs(flow.srtt - rtt) - flow.rttvar) / 4
            flow.srtt += (rtt - flow.srtt) / 8
        flow.rto = max(flow.min_rto, flow.srtt + max(G, 4 * flow.rttvar))
    flow.backoff = 1
    flow.rto_sum += flow.rto
    flow.rtos += 1


@inlined
def restart_timer(world: World, f: int) -> None:
    """Let the timer run from now on."""
    flow = world.flows[f]
    flow.deadline = world.clock[0].now + flow.rto * flow.backoff
    if flow.deadline < flow.expiry:
        expect_expiry(world, f)


@inlined
def expect_expiry(world: World, f: int) -> None:
    """Let the timer be looked at when it may expire."""
    flow = world.flows[f]
    flow.expiry = flow.deadline
    push(world, flow.deadline, TIMER, f)


@inlined
def expired(world: World, f: int) -> bool:
    """Return whether the timer expires now, where it is looked at."""
    flow, now = world.flows[f], world.clock[0].now
    if now != flow.expiry:  # an earlier one took its place
        return False
    flow.expiry = math.inf
    if flow.deadline == math.inf:
        return False
    if now < flow.deadline:
        expect_expiry(world, f)
        return False
    return True
