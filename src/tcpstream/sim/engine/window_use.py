"""Whether a sender uses its window up, and what becomes of one that is not used, as in Linux.

Windows of senders that wait for their application say nothing of the path: they do not grow, and shrink (RFC 2861).
"""

from __future__ import annotations

import math

from .compiled import inlined
from .records import SACK, World


@inlined
def look(world: World, f: int) -> None:
    """See how much of its window a flow uses, each time when it may have sent."""
    now, flow, control = world.clock[0].now, world.flows[f], world.control[f]
    fresh = flow.high > control.high
    if flow.sent > control.sent:
        if control.epoch >= 0.0 and control.high <= flow.una:  # nothing was under way: CUBIC's clock stood
            control.epoch = min(now, control.epoch + now - control.last_sent)
        control.sent, control.high, control.last_sent = flow.sent, flow.high, now
    if control.limited == 0:
        return
    full = _in_flight(world, f) >= int(min(flow.cwnd, flow.window))
    if not (fresh or full):
        return
    out = flow.high - flow.una
    if full or flow.una >= control.end or (control.full == 0 and out > control.most_out):
        control.full, control.most_out, control.end = int(full), out, flow.high
    if used_up(world, f):
        control.used, control.since = 0, now
        return
    control.used = max(control.used, out)
    if now - control.since >= flow.rto:
        _shrink(world, f)


@inlined
def _in_flight(world: World, f: int) -> int:
    """Return the packets under way: what duplicate acknowledgements tell of is not."""
    flow = world.flows[f]
    if flow.recovering == 0:
        return int(flow.next - flow.una - flow.dupacks)
    return int(world.control[f].pipe if flow.kind == SACK else flow.next - flow.una - flow.inflation)


@inlined
def used_up(world: World, f: int) -> bool:
    """Return whether the last window was full; in slow start half full is enough."""
    flow, control = world.flows[f], world.control[f]
    if control.limited == 0 or control.full != 0:
        return True
    return bool(flow.slow_start != 0 and flow.cwnd < flow.ssthresh and int(flow.cwnd) < 2 * control.most_out)


@inlined
def _shrink(world: World, f: int) -> None:
    """Go half way to what was used, unless losses are being repaired."""
    flow, control = world.flows[f], world.control[f]
    if flow.recovering == 0 and flow.dupacks == 0 and flow.una >= flow.recover:
        window = math.floor(flow.cwnd)
        used = max(control.used, flow.initial_window)
        if used < window:
            flow.ssthresh = max(flow.ssthresh, 0.75 * window)
            flow.cwnd = math.floor((window + used) / 2)
        control.used = 0
    control.since = world.clock[0].now


@inlined
def after_idle(world: World, f: int) -> None:
    """Halve the window for each timer in which nothing was sent, down to the first one, as Linux does (RFC 2861)."""
    now, flow, control = world.clock[0].now, world.flows[f], world.control[f]
    if flow.high == 0:
        control.since = now
    if flow.restarts == 0 or flow.high == 0 or flow.una < flow.high or flow.available == flow.high:
        return
    idle = now - control.last_sent - flow.rto
    if idle <= 0.0:
        return
    window = min(flow.cwnd, flow.window)
    least = min(flow.initial_window, window)
    flow.ssthresh = max(flow.ssthresh, 0.75 * window)
    while idle > 0.0 and window > least:
        window = math.floor(window / 2)
        idle -= flow.rto
    flow.cwnd = max(window, least)
    control.used, control.since = 0, now
