"""CoDel (RFC 8289): a queue that drops the packets at its head, once all of them have waited too long for a while.

What happens to a packet depends on those behind it, so its departure is not known when it enters: a link with CoDel has
an event for each packet that has left it. It keeps when packets came in `departures`, and which they are in `sizes`.
"""

from __future__ import annotations

import math

from .compiled import called, inlined
from .drops import drop
from .events import push
from .rates import departure
from .records import ARRIVAL, FREE, World

ONE = 1500
"""Bytes of one packet: a queue that is no longer than this is none."""

AGAIN = 16
"""Intervals after which dropping begins anew, and not where it was."""


@inlined
def wait(world: World, number: int, who: int) -> None:
    """Let a packet wait for a link, unless its queue is full."""
    link, packet = world.links[number], world.packets[who]
    full = link.queue > 0 and link.waiting + (link.sending > 0) >= link.queue
    if full or (link.queue_bytes > 0 and link.waiting_bytes + link.sending + packet.size > link.queue_bytes):
        drop(world, who)
        return
    places = world.departures.shape[1]
    place = link.first + link.waiting
    place = place if place < places else place - places
    world.departures[number, place] = world.clock[0].now
    world.sizes[number, place] = who
    link.waiting += 1
    link.waiting_bytes += packet.size
    if link.sending == 0:
        serve(world, number)


@called
def serve(world: World, number: int) -> None:
    """Let the next packet leave, on a link that is free."""
    link, now = world.links[number], world.clock[0].now
    who = _next(world, number)
    link.sending = world.packets[who].size if who >= 0 else 0
    if who < 0:
        return
    left = departure(world, number, link.sending, now)
    piece = link.piece
    while piece < link.last_piece and world.schedule[piece + 1].start <= left:
        piece += 1
    link.arrived = max(link.arrived, left + world.schedule[piece].delay)
    push(world, link.arrived, ARRIVAL, who)
    push(world, left, FREE, number)


@inlined
def _next(world: World, number: int) -> int:
    """Return the packet that leaves now, and drop those before it that CoDel drops; -1 if none is left."""
    link, now = world.links[number], world.clock[0].now
    who = _first(world, number)
    if link.dropping != 0:
        link.dropping = link.too_long
        while link.dropping != 0 and now >= link.next_drop:
            drop(world, who)
            link.drops += 1
            who = _first(world, number)
            link.dropping = link.too_long
            if link.dropping != 0:
                link.next_drop += link.interval / math.sqrt(link.drops)
    elif link.too_long != 0:
        drop(world, who)
        who = _first(world, number)
        link.dropping = 1
        recent = link.drops - link.drops_before
        link.drops = recent if recent > 1 and now - link.next_drop < AGAIN * link.interval else 1
        link.drops_before = link.drops
        link.next_drop = now + link.interval / math.sqrt(link.drops)
    return who


@inlined
def _first(world: World, number: int) -> int:
    """Take the first packet from the queue, and see whether packets have waited too long for an interval."""
    link, now = world.links[number], world.clock[0].now
    link.too_long = 0
    if link.waiting == 0:
        link.above = -1.0
        return -1
    who = int(world.sizes[number, link.first])
    waited = now - world.departures[number, link.first]
    link.first = link.first + 1 if link.first + 1 < world.departures.shape[1] else 0
    link.waiting -= 1
    link.waiting_bytes -= world.packets[who].size
    if waited < link.target or link.waiting_bytes <= ONE:
        link.above = -1.0
    elif link.above < 0.0:
        link.above = now + link.interval
    elif now >= link.above:
        link.too_long = 1
    return who
