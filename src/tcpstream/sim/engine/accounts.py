"""What applications send, receive and lose, and time bins: called, not in line, since few runs need it."""

from __future__ import annotations

from .compiled import called
from .records import APPLICATION, RECEIVED, REPORT, World


@called
def count(world: World, f: int, what: int, size: int) -> None:
    """Count bytes that go to the receiver in the time bin of now."""
    clock = world.clock[0]
    world.bins[f, what, min(int(clock.now / clock.bin), world.bins.shape[2] - 1)] += size


@called
def account(world: World, who: int, what: int) -> None:
    """Count a packet of an application, and its bytes."""
    packet = world.packets[who]
    world.accounts[packet.flow, packet.back, 0, what] += 1
    world.accounts[packet.flow, packet.back, 1, what] += packet.size


@called
def heard(world: World, who: int) -> None:
    """Count a message that arrives; its call is the next."""
    packet = world.packets[who]
    account(world, who, RECEIVED)
    if packet.back != REPORT and world.clock[0].bin > 0.0:
        count(world, packet.flow, RECEIVED, packet.size)
    world.clock[0].called = packet.seq


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
    if flow.source == APPLICATION:
        account(world, who, RECEIVED)
