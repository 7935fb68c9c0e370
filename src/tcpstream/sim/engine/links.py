"""Links: a loss process, a queue, a rate, a delay."""

from __future__ import annotations

import numpy as np

from .codel import wait
from .compiled import called, inlined
from .drops import drop
from .events import push
from .rates import conforms, departure
from .records import ARRIVAL, GILBERT_ELLIOTT, INDEPENDENT, NO_LOSS, RECORDED, ROUND, World


@inlined
def enter(world: World, rng: np.random.Generator, number: int, who: int) -> None:
    """Let a packet enter a link: it is lost, or dropped by a full queue, or arrives at the other end later."""
    now = world.clock[0].now
    link = world.links[number]
    while link.piece < link.last_piece and world.schedule[link.piece + 1].start <= now:
        link.piece += 1
    if link.loss_kind != NO_LOSS and _lost(world, rng, number, who):
        drop(world, who)
        return
    if link.special != 0:
        _special(world, number, who)
    else:
        _queue(world, number, who)


@called
def _special(world: World, number: int, who: int) -> None:
    """Let a packet pass a policer, and wait where CoDel looks after the queue."""
    link = world.links[number]
    if link.police_rate > 0.0 and not conforms(world, number, world.packets[who].size):
        drop(world, who)
    elif link.target > 0.0:
        wait(world, number, who)
    else:
        _queue(world, number, who)


@inlined
def _queue(world: World, number: int, who: int) -> None:
    """Let a packet wait for its turn, unless the queue is full."""
    now, link, packet = world.clock[0].now, world.links[number], world.packets[who]
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
    left = departure(world, number, packet.size, now)
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
