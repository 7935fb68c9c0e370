"""Links: a loss process, a queue, a rate, a delay."""

from __future__ import annotations

import math

import numpy as np

from .accounts import account, count
from .compiled import inlined
from .events import push
from .records import (
    ACK,
    APPLICATION,
    ARRIVAL,
    DATA,
    DROPPED,
    GILBERT_ELLIOTT,
    INDEPENDENT,
    NO_LOSS,
    RECORDED,
    REPORT,
    ROUND,
    World,
)

OPPORTUNITY = 1500
"""Bytes that one line of a capacity trace lets pass."""


@inlined
def enter(world: World, rng: np.random.Generator, number: int, who: int) -> None:
    """Let a packet enter a link: it is lost, or dropped by a full queue, or arrives at the other end later."""
    now = world.clock[0].now
    link, packet = world.links[number], world.packets[who]
    while link.piece < link.last_piece and world.schedule[link.piece + 1].start <= now:
        link.piece += 1
    if link.loss_kind != NO_LOSS and _lost(world, rng, number, who):
        drop(world, who)
        return
    limited = link.queue > 0 or link.queue_bytes > 0
    if limited:
        places = world.departures.shape[1]
        while link.waiting > 0 and world.departures[number, link.first] <= now:
            link.waiting_bytes -= world.sizes[number, link.first]
            link.waiting -= 1
            link.first = link.first + 1 if link.first + 1 < places else 0
        full = link.queue > 0 and link.waiting >= link.queue
        if full or (link.queue_bytes > 0 and link.waiting_bytes + packet.size > link.queue_bytes):
            drop(world, who)
            return
    left = _departure(world, number, packet.size, now)
    piece = link.piece
    while piece < link.last_piece and world.schedule[piece + 1].start <= left:
        piece += 1
    link.arrived = max(link.arrived, left + world.schedule[piece].delay)  # packets do not overtake each other
    if limited:
        place = link.first + link.waiting
        place = place if place < places else place - places
        world.departures[number, place] = left if link.holds_delayed == 0 else link.arrived
        world.sizes[number, place] = packet.size
        link.waiting += 1
        link.waiting_bytes += packet.size
    push(world, link.arrived, ARRIVAL, who)


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


@inlined
def _lost(world: World, rng: np.random.Generator, number: int, who: int) -> bool:
    """Ask the loss process about a packet."""
    link, packet = world.links[number], world.packets[who]
    p = world.schedule[link.piece].loss
    if link.loss_kind == INDEPENDENT:
        return bool(rng.random() < p)
    if link.loss_kind == ROUND:
        flow = world.flows[packet.flow]
        if packet.round == flow.lost_round:
            return True
        if rng.random() < p:
            flow.lost_round = packet.round
            return True
        return False
    if link.loss_kind == GILBERT_ELLIOTT:
        if link.bad:
            link.bad = 0 if rng.random() < link.to_good else 1
        else:
            link.bad = 1 if rng.random() < link.to_bad else 0
        return bool(rng.random() < (link.loss_bad if link.bad else p))
    if link.loss_kind == RECORDED:
        bit = world.bits[link.bit]
        link.bit = link.bit + 1 if link.bit + 1 < link.last_bit else link.first_bit
        return bool(bit != 0)
    return False


@inlined
def _departure(world: World, number: int, size: int, now: float) -> float:
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
