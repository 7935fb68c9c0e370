"""What applications send, receive and lose, and time bins: called, not in line, since few runs need it."""

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
    account = world.accounts[packet.flow]
    if packet.back != DATA:
        account.messages_sent += 1
        account.messages_sent_bytes += packet.size
        return
    world.flows[packet.flow].sent += 1
    account.sent_bytes += packet.size
    if world.clock[0].bin > 0.0:
        count(world, packet.flow, SENT, packet.size)


@called
def heard(world: World, who: int) -> None:
    """Count a message that arrives; its call is the next."""
    packet = world.packets[who]
    account = world.accounts[packet.flow]
    account.messages_received += 1
    account.messages_received_bytes += packet.size
    world.clock[0].called = packet.seq


@called
def unheard(world: World, who: int) -> None:
    """Count a message that is dropped."""
    packet = world.packets[who]
    account = world.accounts[packet.flow]
    account.messages_dropped += 1
    account.messages_dropped_bytes += packet.size


@called
def logged(world: World, who: int) -> None:
    """Write down a datagram that arrives."""
    clock, packet = world.clock[0], world.packets[who]
    flow = world.flows[packet.flow]
    arrival = world.arrivals[flow.log, flow.logged]
    arrival.time = clock.now
    arrival.number = packet.seq
    world.accounts[packet.flow].received_bytes += packet.size
    flow.logged += 1
    clock.logged = max(clock.logged, flow.logged)
