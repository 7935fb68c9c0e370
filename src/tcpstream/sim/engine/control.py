"""Windows with more than Reno's rules: how they grow, what losses leave of them."""

from __future__ import annotations

import math

from .compiled import inlined, wide
from .control_records import CUBIC
from .cubic import cubic_grows, cubic_reduced
from .hystart import timed
from .prr import begin, count_delivered
from .records import RESENT, SACKED, World
from .window_use import used_up


@inlined
def by_reno(world: World, f: int, newly: int) -> bool:
    """Return whether Reno's rules grow a window now, for newly acknowledged packets; others have grown it."""
    flow = world.flows[f]
    if not used_up(world, f):
        return False
    if flow.control != CUBIC:
        return True
    cubic_grows(world, f, newly)
    flow.cwnd = min(flow.cwnd, flow.window)
    return False


@inlined
def acked(world: World, who: int) -> None:
    """See what an acknowledgement tells, before anything else is made of it."""
    packet = world.packets[who]
    f, ack = wide(packet.flow), packet.seq
    flow = world.flows[f]
    count_delivered(world, who)
    place = (ack - 1) & (world.known.shape[1] - 1)
    if ack > flow.una and flow.recovering == 0 and world.known[f, place] & (RESENT | SACKED) == 0:
        timed(world, f, world.clock[0].now - world.sent_at[f, place], ack)


@inlined
def lost(world: World, f: int, timer: bool) -> float:
    """Return the slow start threshold after a loss; a timer after a recovery or another timer keeps that of CUBIC."""
    flow = world.flows[f]
    if flow.control != CUBIC:
        ssthresh = max(min(flow.cwnd, flow.window) / 2, 2.0)
    elif timer and (flow.recovering != 0 or flow.backoff > 1):
        ssthresh = flow.ssthresh
    else:
        ssthresh = cubic_reduced(world, f)
    if timer:
        forget(world, f)
    else:
        begin(world, f)
    return float(ssthresh)


@inlined
def forget(world: World, f: int) -> None:
    """Forget what a timeout makes worthless."""
    now, control = world.clock[0].now, world.control[f]
    control.w_max = control.min_rtt = 0.0
    control.epoch = -1.0
    control.found, control.round_end, control.samples = 0, world.flows[f].high, 0
    control.round_start = control.last_ack = now
    control.round_rtt = math.inf


@inlined
def forget_all(world: World, f: int) -> None:
    """Begin a new connection."""
    control = world.control[f]
    forget(world, f)
    control.full = control.most_out = control.end = control.used = 0
    control.since = world.clock[0].now
