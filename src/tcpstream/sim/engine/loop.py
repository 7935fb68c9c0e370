"""The event loop."""

from __future__ import annotations

import numpy as np

from .accounts import count, heard, logged
from .applications import carry_out, leave
from .codel import serve
from .compiled import inlined, loop, wide
from .drops import release
from .events import close, push, take
from .links import enter
from .reading import refill
from .receiver import delayed, receive
from .records import (
    ACK,
    ARRIVAL,
    BACKLOGGED,
    CALL,
    CALLED,
    DATA,
    DATAGRAM,
    DELAYED_ACK,
    DONE,
    FREE,
    FULL_HEAP,
    FULL_LOG,
    FULL_POOL,
    PACE,
    RECEIVED,
    REFILL,
    REQUESTS,
    SEND,
    SOURCE,
    STEADY,
    STORED,
    TIMER,
    World,
)
from .ruled import ruled
from .tcp_sender import acknowledged, send, start_afresh, timer
from .transmit import transmit

ENDLESS = 2**62
"""Packets of a source that always has something to send."""


@loop
def run(world: World, rng: np.random.Generator, until: float) -> int:
    """Handle all events up to a time [s].

    Parameters
    ----------
    world : World
    rng : numpy.random.Generator
        Of loss processes.
    until : float

    Returns
    -------
    int
        DONE, or which of the arrays is nearly full; with a longer one the run goes on where it was. Or CALLED: an
        application is to be called, before the run goes on.
    """
    clock = world.clock[0]
    room = 2 * world.known.shape[1] + 8
    hops = world.routes.shape[2]
    if clock.orders > 0:
        if clock.pending + clock.orders + room > len(world.heap):
            return FULL_HEAP
        if clock.free < clock.orders + room:
            return FULL_POOL
        carry_out(world)
    while clock.pending > 0 and world.heap[0].time <= until:
        if clock.pending + room > len(world.heap):
            return FULL_HEAP
        if clock.free < room:
            return FULL_POOL
        if clock.logged + room > world.log.shape[1]:
            return FULL_LOG
        clock.now = world.heap[0].time
        kind, who = wide(world.heap[0].kind), wide(world.heap[0].who)
        take(world)
        clock.events += 1
        if kind == ARRIVAL:
            packet = world.packets[who]
            packet.hop += 1
            f = wide(packet.flow)
            link = world.routes[f, packet.back & 1, packet.hop] if packet.hop < hops else -1
            if link >= 0:
                enter(world, rng, link, who)
                close(world)
                continue
            if packet.back == ACK:
                if world.flows[f].control == 0:
                    acknowledged(world, rng, who, False)
                else:
                    ruled(world, rng, kind, who)
            elif packet.back == DATA:
                flow = world.flows[f]
                flow.received += 1
                if clock.bin > 0.0:
                    count(world, f, RECEIVED, packet.size)
                if flow.kind != DATAGRAM:
                    receive(world, rng, who)
                elif flow.log >= 0:
                    logged(world, who)
                    if flow.listens != 0:
                        clock.called, clock.number = -1 - f, packet.seq
                        release(world, who)
                        close(world)
                        return CALLED
            else:
                heard(world, who)
                release(world, who)
                close(world)
                return CALLED
            release(world, who)
        elif kind == TIMER:
            if world.flows[who].control == 0:
                timer(world, rng, who, False)
            else:
                ruled(world, rng, kind, who)
        elif kind == DELAYED_ACK:
            delayed(world, rng, who)
        elif kind == REFILL:
            refill(world, who)
        elif kind == PACE:
            ruled(world, rng, kind, who)
        elif kind == FREE:
            serve(world, who)
        elif kind == SEND:
            leave(world, who)
        elif kind == CALL:
            clock.called = who
            close(world)
            return CALLED
        else:
            _source(world, rng, who)
            if world.flows[who].control != 0:
                ruled(world, rng, kind, who)
        close(world)
    clock.now = until
    return DONE


@inlined
def _source(world: World, rng: np.random.Generator, f: int) -> None:
    """Let a source make what it makes now, and say when it will make more."""
    flow = world.flows[f]
    if flow.source == BACKLOGGED:
        flow.available = ENDLESS
    elif flow.source == STEADY:
        flow.available += 1
        following = flow.start + flow.available * flow.interval
        if following < flow.stop:
            push(world, following, SOURCE, f)
    elif flow.source == STORED:
        flow.paused = 1 - flow.paused
        if flow.paused == 0:
            flow.available = flow.total
        else:
            flow.available = flow.high
    elif flow.source == REQUESTS:
        start_afresh(world, f)
        flow.available += world.answers[flow.request]
        flow.request = flow.request + 1 if flow.request < flow.last_request else flow.first_request
    if flow.kind == DATAGRAM:
        transmit(world, rng, f, flow.next, False)
        flow.next += 1
        flow.una = flow.next
    elif flow.control == 0:
        send(world, rng, f, False)
