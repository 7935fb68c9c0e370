"""How many packets a recovery lets go: proportional rate reduction (RFC 6937)."""

from __future__ import annotations

import math

from .compiled import inlined, wide
from .records import SACKED, World


@inlined
def count_delivered(world: World, who: int) -> None:
    """Count the packets that an acknowledgement tells of for the first time."""
    packet = world.packets[who]
    f, mask = wide(packet.flow), world.known.shape[1] - 1
    flow, control = world.flows[f], world.control[f]
    before = control.delivered
    for seq in range(flow.una, packet.seq):
        control.delivered += 1 if world.known[f, seq & mask] & SACKED == 0 else 0
    bottom = max(flow.una, packet.seq)
    for low, high in ((packet.low0, packet.high0), (packet.low1, packet.high1), (packet.low2, packet.high2)):
        for seq in range(max(low, bottom), high):
            control.delivered += 1 if world.known[f, seq & mask] & SACKED == 0 else 0
    control.newly = control.delivered - before


@inlined
def begin(world: World, f: int) -> None:
    """Begin a recovery, before its first packet is sent."""
    flow, control = world.flows[f], world.control[f]
    control.delivered_before = control.delivered - control.newly
    control.sent_before = flow.sent
    control.flight = flow.high - flow.una


@inlined
def allowed(world: World, f: int, pipe: int) -> int:
    """Return how many packets may be under way, with `pipe` of them there now."""
    flow, control = world.flows[f], world.control[f]
    delivered, sent = control.delivered - control.delivered_before, flow.sent - control.sent_before
    least = int(flow.ssthresh)
    if pipe > least:
        more = math.ceil(delivered * flow.ssthresh / control.flight) - sent
    else:
        more = min(least - pipe, max(delivered - sent, control.newly) + 1)
    return pipe + int(max(more, 0))
