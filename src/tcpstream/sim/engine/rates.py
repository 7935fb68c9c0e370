"""How long a link takes to send a packet: its rate, a token bucket before it, or a capacity trace."""

from __future__ import annotations

import math

from .compiled import inlined
from .records import World

OPPORTUNITY = 1500
"""Bytes that one line of a capacity trace lets pass."""


@inlined
def conforms(world: World, number: int, size: int) -> bool:
    """Return whether the token bucket of a policer has a token for each byte of a packet now, and take them."""
    link, now = world.links[number], world.clock[0].now
    link.tokens = min(link.bucket_depth, link.tokens + (now - link.filled) * link.police_rate)
    link.filled = now
    if link.tokens < size:
        return False
    link.tokens -= size
    return True


@inlined
def departure(world: World, number: int, size: int, now: float) -> float:
    """Return when a packet that enters the queue now has been sent, behind all that are there."""
    link = world.links[number]
    start = max(now, link.busy)
    if link.bucket_rate > 0.0:
        tokens = min(link.bucket_depth, link.tokens + (start - link.filled) * link.bucket_rate)
        if tokens < size:
            start += (size - tokens) / link.bucket_rate
            tokens = size
        link.tokens = tokens - size
        link.filled = start
    if link.last_opportunity > link.first_opportunity:
        link.busy = _by_trace(world, number, size, start)
        return float(link.busy)
    piece = link.piece
    left = float(size)
    while True:
        while piece < link.last_piece and world.schedule[piece + 1].start <= start:
            piece += 1
        rate = world.schedule[piece].rate
        end = world.schedule[piece + 1].start if piece < link.last_piece else math.inf
        if rate * (end - start) >= left:
            link.busy = start + left / rate if rate < math.inf else start
            return float(link.busy)
        left -= rate * (end - start)
        start = end


@inlined
def _by_trace(world: World, number: int, size: int, start: float) -> float:
    """Return when opportunities for so many bytes have passed; what an opportunity has no packet for is lost."""
    link = world.links[number]
    time = link.cycle * link.cycles + world.opportunities[link.opportunity]
    if time < start:
        link.cycles += math.ceil((start - time) / link.cycle) - 1
        time = link.cycle * link.cycles + world.opportunities[link.opportunity]
        while time < start:
            time = _next_opportunity(world, number)
        link.left = OPPORTUNITY
    while size > link.left:
        size -= link.left
        time = _next_opportunity(world, number)
    link.left -= size
    return float(time)


@inlined
def _next_opportunity(world: World, number: int) -> float:
    """Go to the next line of a capacity trace, that starts over after its end; return its time [s]."""
    link = world.links[number]
    link.left = OPPORTUNITY
    link.opportunity += 1
    if link.opportunity == link.last_opportunity:
        link.opportunity = link.first_opportunity
        link.cycles += 1
    return float(link.cycle * link.cycles + world.opportunities[link.opportunity])
