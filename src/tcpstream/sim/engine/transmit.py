"""A packet of data that a sender lets go."""

from __future__ import annotations

import math

import numpy as np

from .accounts import count
from .compiled import called, inlined
from .events import push
from .links import enter
from .records import ARRIVAL, DATA, DATAGRAM, RESENT, SENT, World
from .tcp_timer import restart_timer


@inlined
def transmit(world: World, rng: np.random.Generator, f: int, seq: int, ruled: bool) -> None:
    """Send one packet, time it if none is, and start the retransmission timer if it does not run."""
    clock, flow = world.clock[0], world.flows[f]
    place = seq & (world.known.shape[1] - 1)
    flow.sent += 1
    if clock.bin > 0.0:
        count(world, f, SENT, flow.size)
    if seq < flow.high:
        flow.resent += 1
        world.known[f, place] |= RESENT
        if flow.timed >= seq:
            flow.timed = -1  # Karn: the acknowledgement could be that of either
    else:
        world.known[f, place] = 0
        flow.high = seq + 1
        flow.at_risk += 1 if flow.una >= flow.missing else 0
        if flow.timed < 0:
            flow.timed = seq
            flow.timed_at = clock.now
    world.sent_at[f, place] = clock.now
    clock.free -= 1
    who = world.free[clock.free]
    packet = world.packets[who]
    packet.flow = f
    packet.seq = seq
    packet.low0 = 1 if flow.una >= flow.missing and seq + 1 == flow.high else 0
    packet.round = flow.round
    packet.size = flow.size
    packet.back = DATA
    packet.hop = 0
    if flow.deadline == math.inf and flow.kind != DATAGRAM:
        restart_timer(world, f)
    if flow.jitter > 0.0:
        flow.leaving = max(flow.leaving, clock.now) + flow.jitter * rng.random()
        packet.hop = -1
        push(world, flow.leaving, ARRIVAL, who)
    elif ruled:
        _enter(world, rng, f, who)
    else:
        enter(world, rng, world.routes[f, 0, 0], who)


@called
def _enter(world: World, rng: np.random.Generator, f: int, who: int) -> None:
    enter(world, rng, world.routes[f, 0, 0], who)
