"""From a scenario to the arrays of the event loop, and longer arrays where they are full."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from . import size
from .application import Application
from .engine import records
from .engine.control_records import BBR, CONTROL, PATH, TAG, WATCHED
from .engine.records import World
from .losses import GilbertElliott, LossTrace
from .player import packets
from .scenario import Flow, Scenario
from .senders import CONGESTION, VARIANTS
from .sources import Backlogged, Requests, Steady, Stored

LOGGED = 4096
"""Deliveries that there is room for at first."""

ORDERS = 64
"""Of applications, likewise."""


def build(scenario: Scenario, rng: np.random.Generator) -> World:
    """Return the state of a scenario before it starts.

    Parameters
    ----------
    scenario : Scenario
    rng : numpy.random.Generator
        Chooses where in a list of requests each connection starts.
    """
    names = {name: number for number, name in enumerate(scenario.links)}
    flows = scenario.flows
    ring = size.ring(scenario)
    hops = max(max(len(flow.there), len(flow.back)) for flow in flows)
    routes = np.full((len(flows), 2, hops), -1)
    for number, flow in enumerate(flows):
        for way, route in enumerate((flow.there, flow.back)):
            routes[number, way, : len(route)] = [names[name] for name in route]
    thinks, answers, requests = _requests(flows, rng)
    links, schedule, opportunities, bits = _links(scenario)
    table, control = _flows(flows, requests)
    paced = int((table["control"] == BBR).sum())
    places = size.places(scenario)
    room = max(LOGGED, 4 * ring)
    pool = 4 * ring + size.ROOM * len(flows)
    clock = np.zeros(1, dtype=records.CLOCK)
    clock["free"] = pool
    heap = np.zeros(pool + 4 * len(flows), dtype=records.EVENT)
    order = sorted(range(len(flows)), key=lambda number: flows[number].start)
    for position, number in enumerate(order):  # sorted times are a heap
        kind = records.CALL if isinstance(flows[number].source, Application) else records.SOURCE
        heap[position] = (flows[number].start, position, kind, number)
    clock["pending"] = clock["order"] = len(flows)
    return World(
        clock=clock,
        heap=heap,
        packets=np.zeros(pool, dtype=records.PACKET),
        free=np.arange(pool),
        links=links,
        schedule=schedule,
        opportunities=opportunities,
        bits=bits,
        departures=np.zeros((len(links), places)),
        sizes=np.zeros((len(links), places), dtype=np.int64),
        flows=table,
        routes=routes,
        known=np.zeros((len(flows), ring), dtype=np.uint8),
        sent_at=np.zeros((len(flows), ring)),
        got=np.zeros((len(flows), ring), dtype=np.uint8),
        thinks=thinks,
        answers=answers,
        log=np.zeros((sum(flow.logged for flow in flows if flow.tcp), room)),
        accounts=np.zeros((len(flows), 4, 2, 3), dtype=np.int64),
        arrivals=np.zeros((sum(flow.logged for flow in flows if not flow.tcp), room), dtype=records.ARRIVED),
        bins=np.zeros((len(flows), 3, 1), dtype=np.int64),
        orders=np.zeros(ORDERS, dtype=records.ORDER),
        control=control,
        bbr=np.zeros(max(1, paced), dtype=PATH),
        tags=np.zeros((max(1, paced), ring if paced else 1), dtype=TAG),
    )


def grown(world: World, full: int) -> World:
    """Return the same state with twice the room of what is full, or raise `InputError` where that is too much."""
    arrays = {records.FULL_HEAP: (world.heap,), records.FULL_LOG: (world.log, world.arrivals)}
    if 2 * sum(one.nbytes for one in arrays.get(full, (world.packets,))) > size.MOST_BYTES:
        raise InputError(f"this run takes more than {size.MOST_BYTES // 2**30} GiB: an application sends too much")
    if full == records.FULL_HEAP:
        return world._replace(heap=np.concatenate([world.heap, np.zeros_like(world.heap)]))
    if full == records.FULL_LOG:
        log, arrivals = (np.concatenate([one, np.zeros_like(one)], axis=1) for one in (world.log, world.arrivals))
        return world._replace(log=log, arrivals=arrivals)
    old = len(world.packets)
    free = np.zeros(2 * old, dtype=np.int64)
    unused = int(world.clock["free"][0])
    free[:unused] = world.free[:unused]
    free[unused : unused + old] = np.arange(old, 2 * old)
    world.clock["free"] += old
    return world._replace(packets=np.concatenate([world.packets, np.zeros_like(world.packets)]), free=free)


def _flows(flows: tuple[Flow, ...], requests: list[tuple[int, int, int]]) -> tuple[NDArray[np.void], NDArray[np.void]]:
    """Return the flows, and what governs their windows."""
    table, control = np.zeros(len(flows), dtype=records.FLOW), np.zeros(len(flows), dtype=CONTROL)
    logged = {True: 0, False: 0}
    for row, governs, flow, request in zip(table, control, flows, requests):
        tcp, source = flow.tcp, flow.source
        row["kind"] = records.DATAGRAM if tcp is None else VARIANTS[tcp.variant]
        row["start"], row["stop"] = flow.start, math.inf
        row["deadline"] = row["expiry"] = math.inf
        row["log"] = row["timed"] = row["recover"] = row["lost_round"] = -1
        if flow.logged:
            row["log"] = logged[tcp is None]
            logged[tcp is None] += 1
        if isinstance(source, Backlogged):
            row["source"] = records.BACKLOGGED
        elif isinstance(source, Steady):
            row["source"], row["interval"] = records.STEADY, 1 / source.packet_rate
            row["stop"] = flow.start + source.duration
        elif isinstance(source, Stored):
            _stored(row, source)
        elif isinstance(source, Application):
            row["source"] = records.APPLICATION
        else:
            row["source"] = records.REQUESTS
            row["first_request"], row["request"], row["last_request"] = request
        row["size"], row["backoff"] = flow.packet_size, 1
        if tcp is None:
            row["window"] = 2.0**62
            continue
        for name in (
            "initial_window", "slow_start", "limited_transmit", "ack_size", "min_rto", "initial_rto", "granularity",
            "jitter",
            "ack_every", "ack_delay",
        ):  # fmt: skip
            row[name] = getattr(tcp, name)
        row["ticks"], row["rack"] = tcp.timer == "bsd" and tcp.granularity > 0, tcp.variant == "rack"
        row["window"], row["size"] = tcp.max_window, tcp.packet_size
        row["cwnd"], row["rto"] = tcp.initial_window, tcp.initial_rto
        row["ssthresh"] = tcp.max_window if tcp.slow_start else 0
        if row["room"] == 0:  # else its player says
            row["restarts"] = tcp.growth == "limited"
        governs["limited"], governs["hystart"], governs["prr"] = tcp.growth == "limited", tcp.hystart, tcp.prr
        governs["epoch"] = -1
        governs["row"] = np.count_nonzero(table["control"] == BBR)
        watched = row["restarts"] or governs["limited"] or tcp.hystart or tcp.prr
        row["control"] = CONGESTION[tcp.congestion] or watched * WATCHED
    return table, control


def _stored(row: Any, source: Stored) -> None:
    """Write a stored video, and when its player starts, resumes, stops reading and reads again."""
    row["source"], row["interval"], row["paused"] = records.STORED, 1 / source.packet_rate, 1
    row["total"] = source.packets
    player, mu = source.player, source.packet_rate
    if player is None or player.client_buffer is None or player.refill_at is None:
        return
    row["wanted"], row["resume"] = (packets(one, mu) for one in (player.start_buffer, player.resume_buffer))
    row["room"], row["refill"] = mu * player.client_buffer, mu * player.refill_at
    row["restarts"] = player.idle == "restart"


def _requests(
    flows: tuple[Flow, ...], rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.int64], list[tuple[int, int, int]]]:
    """Return all requests, and where those of each flow begin, where it starts in them, and which is its last."""
    lists: dict[int, tuple[int, Requests]] = {}
    end = 0
    places = []
    for flow in flows:
        source = flow.source
        if not isinstance(source, Requests):
            places.append((0, 0, 0))
            continue
        if id(source) not in lists:
            lists[id(source)] = (end, source)
            end += len(source.think)
        begin, count = lists[id(source)][0], len(source.think)
        places.append((begin, begin + int(rng.integers(count)), begin + count - 1))
    if not lists:
        return np.zeros(1), np.ones(1, dtype=np.int64), places
    found = [source for _, source in lists.values()]
    return np.concatenate([one.think for one in found]), np.concatenate([one.packets for one in found]), places


def _links(
    scenario: Scenario,
) -> tuple[NDArray[np.void], NDArray[np.void], NDArray[np.float64], NDArray[np.uint8]]:
    table = np.zeros(len(scenario.links), dtype=records.LINK)
    pieces: list[tuple[float, float, float, float]] = []
    opportunities: list[NDArray[np.float64]] = [np.zeros(1)]
    bits: list[NDArray[np.uint8]] = [np.zeros(1, dtype=np.uint8)]
    traced, recorded = 1, 1
    for row, link in zip(table, scenario.links.values()):
        row["piece"] = len(pieces)
        pieces += link.pieces()
        row["last_piece"] = len(pieces) - 1
        row["queue"], row["queue_bytes"] = link.queue or 0, link.queue_bytes or 0
        if link.capacity is not None:
            row["first_opportunity"] = row["opportunity"] = traced
            traced += len(link.capacity)
            row["last_opportunity"], row["cycle"], row["left"] = traced, link.capacity[-1], 1500
            opportunities.append(link.capacity)
        if link.bucket is not None:
            row["police_rate" if link.bucket.polices else "bucket_rate"] = link.bucket.rate / 8
            row["bucket_depth"] = link.bucket.depth
            row["tokens"] = link.bucket.depth
        if link.loss is not None:
            row["loss_kind"] = link.loss.kind
        row["holds_delayed"] = link.holds_delayed
        if link.codel is not None:
            row["target"], row["interval"], row["above"] = link.codel.target, link.codel.interval, -1
        row["special"] = row["police_rate"] > 0 or link.codel is not None
        if isinstance(link.loss, GilbertElliott):
            row["to_bad"], row["to_good"], row["loss_bad"] = link.loss.to_bad, link.loss.to_good, link.loss.bad
        if isinstance(link.loss, LossTrace):
            row["first_bit"] = row["bit"] = recorded
            recorded += len(link.loss.lost)
            row["last_bit"] = recorded
            bits.append(link.loss.lost.astype(np.uint8))
    schedule = np.array(pieces, dtype=records.PIECE)
    return table, schedule, np.concatenate(opportunities), np.concatenate(bits)
