"""Receivers: put packets in order, log when they are, and acknowledge."""

from __future__ import annotations

import numpy as np

from .compiled import inlined, wide
from .events import push
from .links import enter
from .reading import read
from .records import ACK, DELAYED_ACK, SACK, World


@inlined
def receive(world: World, rng: np.random.Generator, who: int) -> None:
    """Take a data packet, and acknowledge it now or later (RFC 5681, Section 4.2)."""
    clock, packet = world.clock[0], world.packets[who]
    f, seq = wide(packet.flow), packet.seq
    flow = world.flows[f]
    mask = world.got.shape[1] - 1
    held_round = packet.round
    in_order = seq == flow.expected
    fresh = seq > flow.expected and world.got[f, seq & mask] == 0
    had_hole = flow.highest > flow.expected
    if in_order or fresh:
        world.got[f, seq & mask] = 1
        flow.highest = max(flow.highest, seq + 1)
    if in_order:
        while world.got[f, flow.expected & mask] != 0:
            world.got[f, flow.expected & mask] = 0
            if flow.log >= 0:
                world.log[flow.log, flow.expected] = clock.now
            flow.expected += 1
        if flow.log >= 0:
            clock.logged = max(clock.logged, flow.expected)
            if flow.room > 0.0:
                read(world, f)
    flow.held += 1
    flow.held_round = held_round
    if not in_order or had_hole or flow.held >= flow.ack_every:
        _acknowledge(world, rng, f, seq)
    elif flow.held == 1:
        flow.ack_deadline = clock.now + flow.ack_delay
        if flow.ack_timer == 0:
            flow.ack_timer = 1
            push(world, flow.ack_deadline, DELAYED_ACK, f)


@inlined
def delayed(world: World, rng: np.random.Generator, f: int) -> None:
    """Acknowledge what was held back, if its time has come."""
    flow = world.flows[f]
    flow.ack_timer = 0
    if flow.held == 0:
        return
    if world.clock[0].now < flow.ack_deadline:
        flow.ack_timer = 1
        push(world, flow.ack_deadline, DELAYED_ACK, f)
    else:
        _acknowledge(world, rng, f, flow.expected - 1)


@inlined
def _acknowledge(world: World, rng: np.random.Generator, f: int, seq: int) -> None:
    """Send an acknowledgement; `seq` is the packet that caused it, and is in its first SACK block."""
    clock, flow = world.clock[0], world.flows[f]
    flow.held = 0
    clock.free -= 1
    who = world.free[clock.free]
    packet = world.packets[who]
    packet.flow = f
    packet.seq = flow.expected
    packet.round = flow.held_round
    packet.size = flow.ack_size
    packet.back = ACK
    packet.hop = 0
    packet.low0 = packet.high0 = packet.low1 = packet.high1 = packet.low2 = packet.high2 = 0
    if flow.kind == SACK and flow.highest > flow.expected:
        _blocks(world, f, seq, who)
    enter(world, rng, world.routes[f, 1, 0], who)


@inlined
def _blocks(world: World, f: int, seq: int, who: int) -> None:
    """Write SACK blocks: the one around the last packet, then the last two others (RFC 2018, Section 4)."""
    flow, packet = world.flows[f], world.packets[who]
    mask = world.got.shape[1] - 1
    if seq > flow.expected:
        low = seq
        while low - 1 > flow.expected and world.got[f, (low - 1) & mask] != 0:
            low -= 1
        high = seq + 1
        while high < flow.highest and world.got[f, high & mask] != 0:
            high += 1
        packet.low0, packet.high0 = low, high
        if flow.low1 < low or flow.low1 >= high:  # another one was the latest
            packet.low2, packet.high2 = flow.low2, flow.high2
            flow.low2, flow.high2 = flow.low1, flow.high1
        packet.low1, packet.high1 = flow.low2, flow.high2
        flow.low1, flow.high1 = low, high
    else:
        packet.low0, packet.high0 = flow.low1, flow.high1
        packet.low1, packet.high1 = flow.low2, flow.high2
