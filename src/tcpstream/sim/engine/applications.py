"""What applications want while the loop stands: calls, packets for TCP, packets of their own."""

from __future__ import annotations

from .accounts import account, count
from .compiled import called
from .events import push
from .records import ARRIVAL, CALL, DATA, REPORT, SEND, SENT, SOURCE, WAKE, WRITE, World


@called
def carry_out(world: World) -> None:
    """Make events of all orders, in their order."""
    clock = world.clock[0]
    for k in range(clock.orders):
        order = world.orders[k]
        if order.kind == WAKE:
            kind, who = CALL, order.number
        elif order.kind == WRITE:
            world.flows[order.flow].available += order.number
            kind, who = SOURCE, order.flow
        else:
            clock.free -= 1
            kind, who = SEND, world.free[clock.free]
            packet = world.packets[who]
            packet.flow = order.flow
            packet.seq = order.number
            packet.low0 = 0
            packet.round = 0
            packet.size = order.size
            packet.back = order.way
            packet.hop = -1
        push(world, order.time, kind, who)
    clock.orders = 0


@called
def leave(world: World, who: int) -> None:
    """Let a packet leave its host, for its first link."""
    clock, packet = world.clock[0], world.packets[who]
    account(world, who, SENT)
    if packet.back == DATA:
        world.flows[packet.flow].sent += 1
    if packet.back != REPORT and clock.bin > 0.0:
        count(world, packet.flow, SENT, packet.size)
    push(world, clock.now, ARRIVAL, who)
