"""Packets that are dropped, and numbers that are free again."""

from __future__ import annotations

from .accounts import account, count
from .compiled import inlined
from .records import ACK, APPLICATION, DATA, DROPPED, REPORT, World


@inlined
def drop(world: World, who: int) -> None:
    """Count a packet as dropped, and forget it."""
    packet = world.packets[who]
    if packet.back == DATA:
        flow = world.flows[packet.flow]
        flow.dropped += 1
        if flow.source == APPLICATION:
            account(world, who, DROPPED)
        if world.clock[0].bin > 0.0:
            count(world, packet.flow, DROPPED, packet.size)
        if packet.low0 != 0 and packet.seq >= flow.missing:
            flow.loss_events += 1
        flow.missing = flow.high
    elif packet.back != ACK:
        account(world, who, DROPPED)
        if world.clock[0].bin > 0.0 and packet.back != REPORT:
            count(world, packet.flow, DROPPED, packet.size)
    release(world, who)


@inlined
def release(world: World, who: int) -> None:
    """Give the number of a packet back."""
    clock = world.clock[0]
    world.free[clock.free] = who
    clock.free += 1
