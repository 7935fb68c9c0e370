"""What of each flow is sent, received and dropped: called, not in line, since few runs need it."""

from __future__ import annotations

from .compiled import called
from .records import DATA, SENT, World


@called
def count(world: World, f: int, what: int, size: int) -> None:
    """Count bytes of data in the time bin of now."""
    clock = world.clock[0]
    world.bins[f, what, min(int(clock.now / clock.bin), world.bins.shape[2] - 1)] += size


@called
def sent(world: World, who: int) -> None:
    """Count what an application sends now: a datagram or a message."""
    packet = world.packets[who]
    flow = world.flows[packet.flow]
    if packet.back != DATA:
        flow.messages_sent += 1
        flow.messages_sent_bytes += packet.size
        return
    flow.sent += 1
    flow.sent_bytes += packet.size
    if world.clock[0].bin > 0.0:
        count(world, packet.flow, SENT, packet.size)


@called
def heard(world: World, who: int) -> None:
    """Count a message that arrives; its call is the next."""
    packet = world.packets[who]
    flow = world.flows[packet.flow]
    flow.messages_received += 1
    flow.messages_received_bytes += packet.size
    world.clock[0].called = packet.seq


@called
def unheard(world: World, who: int) -> None:
    """Count a message that is dropped."""
    packet = world.packets[who]
    flow = world.flows[packet.flow]
    flow.messages_dropped += 1
    flow.messages_dropped_bytes += packet.size


@called
def logged(world: World, who: int) -> None:
    """Write down a datagram that arrives."""
    clock, packet = world.clock[0], world.packets[who]
    flow = world.flows[packet.flow]
    arrival = world.arrivals[flow.log, flow.logged]
    arrival.time = clock.now
    arrival.number = packet.seq
    flow.logged += 1
    clock.logged = max(clock.logged, flow.logged)
