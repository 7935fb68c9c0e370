"""Senders: TCP Reno, NewReno and SACK, in whole packets."""

from __future__ import annotations

import math

import numpy as np

from .accounts import count
from .compiled import inlined
from .events import push
from .links import enter
from .records import (
    ARRIVAL,
    DATA,
    DATAGRAM,
    NEWRENO,
    RENO,
    REQUESTS,
    RESENT,
    SACK,
    SACKED,
    SENT,
    SOURCE,
    TIMER,
    World,
)

LARGEST_BACKOFF = 64


@inlined
def send(world: World, rng: np.random.Generator, f: int) -> None:
    """Send what the window allows and the source has."""
    flow = world.flows[f]
    window = min(flow.cwnd, flow.window)
    if flow.kind == SACK and flow.recovering != 0:
        _fill_pipe(world, rng, f)
        return
    if flow.recovering != 0:
        limit = flow.una + int(min(window + flow.inflation, flow.window))
    else:
        allowed = min(flow.dupacks, 2) if flow.limited_transmit != 0 else 0
        limit = flow.una + int(min(window + allowed, flow.window))
    while flow.next < limit and flow.next < flow.available:
        transmit(world, rng, f, flow.next)
        flow.next += 1


@inlined
def transmit(world: World, rng: np.random.Generator, f: int, seq: int) -> None:
    """Send one packet, time it if none is, and start the retransmission timer if it does not run."""
    clock, flow = world.clock[0], world.flows[f]
    place = seq & (world.known.shape[1] - 1)
    flow.sent += 1
    if clock.bin > 0.0:
        count(world, f, SENT, flow.size)
    if seq < flow.high:
        flow.resent += 1
        world.known[f, place] |= RESENT
        if flow.timed >= seq:
            flow.timed = -1  # Karn: the acknowledgement could be that of either
    else:
        world.known[f, place] = 0
        flow.high = seq + 1
        flow.at_risk += 1 if flow.una >= flow.missing else 0
        if flow.timed < 0:
            flow.timed = seq
            flow.timed_at = clock.now
    world.sent_at[f, place] = clock.now
    clock.free -= 1
    who = world.free[clock.free]
    packet = world.packets[who]
    packet.flow = f
    packet.seq = seq
    packet.low0 = 1 if flow.una >= flow.missing and seq + 1 == flow.high else 0
    packet.round = flow.round
    packet.size = flow.size
    packet.back = DATA
    packet.hop = 0
    if flow.deadline == math.inf and flow.kind != DATAGRAM:
        _restart_timer(world, f)
    if flow.jitter > 0.0:
        flow.leaving = max(flow.leaving, clock.now) + flow.jitter * rng.random()
        packet.hop = -1
        push(world, flow.leaving, ARRIVAL, who)
    else:
        enter(world, rng, world.routes[f, 0, 0], who)


@inlined
def acknowledged(world: World, rng: np.random.Generator, who: int) -> None:
    """Take an acknowledgement."""
    clock, packet = world.clock[0], world.packets[who]
    f, ack = packet.flow, packet.seq
    flow = world.flows[f]
    if packet.round >= flow.round:
        flow.round += 1  # the first packet of this round is acknowledged: what is sent now is the next round
    if flow.kind == SACK:
        _note(world, f, packet.low0, packet.high0)
        _note(world, f, packet.low1, packet.high1)
        _note(world, f, packet.low2, packet.high2)
    if ack > flow.una:
        place = (ack - 1) & (world.known.shape[1] - 1)
        if flow.recovering == 0 and world.known[f, place] & (RESENT | SACKED) == 0:
            flow.rtt_sum += clock.now - world.sent_at[f, place]
            flow.rtts += 1
        _new_data(world, rng, f, ack)
    elif ack == flow.una and flow.high > flow.una:
        _duplicate(world, rng, f)
    send(world, rng, f)


@inlined
def _new_data(world: World, rng: np.random.Generator, f: int, ack: int) -> None:
    flow, now = world.flows[f], world.clock[0].now
    newly = ack - flow.una
    if flow.rack != 0:
        _note(world, f, flow.una, ack)
        flow.backoff = 1
    flow.una = ack
    flow.next = max(flow.next, ack)
    if flow.timed >= 0 and ack > flow.timed:
        _sample(world, f, now - flow.timed_at)
        flow.timed = -1
    if flow.recovering != 0 and (ack >= flow.recover or flow.kind == RENO):
        flow.recovering = 0
        flow.inflation = 0
        flow.dupacks = 0
        flow.cwnd = flow.ssthresh
        if flow.kind != SACK:
            flow.cwnd += 1.0 / flow.cwnd  # this acknowledgement counts towards the next packet, as in BSD
    elif flow.recovering != 0:
        if flow.kind == NEWRENO:  # a partial acknowledgement shows the next hole (RFC 6582)
            flow.inflation = max(0, flow.inflation - newly) + 1
            transmit(world, rng, f, flow.una)
    else:
        flow.dupacks = 0
        if flow.slow_start != 0 and flow.cwnd < flow.ssthresh:
            flow.cwnd += 1.0
        else:
            flow.cwnd += 1.0 / flow.cwnd
        flow.cwnd = min(flow.cwnd, flow.window)
    if flow.high > flow.una:
        _restart_timer(world, f)
    else:
        flow.deadline = math.inf
    if flow.source == REQUESTS and flow.una == flow.available:
        push(world, now + world.thinks[flow.request], SOURCE, f)


@inlined
def _duplicate(world: World, rng: np.random.Generator, f: int) -> None:
    """Count a duplicate acknowledgement; the third one starts a fast retransmit."""
    flow = world.flows[f]
    if flow.recovering != 0:
        flow.inflation += 1
        return
    flow.dupacks += 1
    if flow.dupacks != 3 or flow.una <= flow.recover:  # once a window (RFC 6582, Section 1)
        return
    flow.fast_retransmits += 1
    flow.ssthresh = max(min(flow.cwnd, flow.window) / 2, 2.0)
    flow.cwnd = flow.ssthresh
    flow.recover = flow.high
    flow.recovering = 1
    flow.inflation = 3
    transmit(world, rng, f, flow.una)
    _restart_timer(world, f)


@inlined
def timer(world: World, rng: np.random.Generator, f: int) -> None:
    """Let the retransmission timer expire, if its time has come: back to a window of one (RFC 5681, RFC 6298)."""
    flow, now = world.flows[f], world.clock[0].now
    if now != flow.expiry:  # an earlier one took its place
        return
    flow.expiry = math.inf
    if flow.deadline == math.inf:
        return
    if now < flow.deadline:
        _expect_expiry(world, f)
        return
    flow.timeouts += 1
    flow.ssthresh = max(min(flow.cwnd, flow.window) / 2, 2.0)
    flow.cwnd = 1.0
    flow.recovering = 0
    flow.dupacks = 0
    flow.inflation = 0
    flow.recover = flow.high
    flow.next = flow.una
    flow.timed = -1
    flow.round += 1
    flow.backoff = min(2 * flow.backoff, LARGEST_BACKOFF)
    mask = world.known.shape[1] - 1
    for seq in range(flow.una, flow.high):
        world.known[f, seq & mask] = RESENT  # what was reported received is forgotten (RFC 2018, Section 8)
    flow.deadline = math.inf
    send(world, rng, f)


@inlined
def start_afresh(world: World, f: int) -> None:
    """Forget the congestion state: a new connection."""
    flow = world.flows[f]
    flow.cwnd = flow.initial_window
    flow.ssthresh = flow.window if flow.slow_start != 0 else 0.0
    flow.srtt = 0.0
    flow.eighths = 0
    flow.rto = flow.initial_rto
    flow.backoff = 1
    flow.timed = -1


@inlined
def after_idle(world: World, f: int) -> None:
    """Halve the window for each timer in which nothing was sent, down to the first one, as Linux does (RFC 2861)."""
    flow = world.flows[f]
    if flow.restarts == 0 or flow.high == 0 or flow.una < flow.high:
        return
    last = 0.0
    for place in range(world.sent_at.shape[1]):
        last = max(last, world.sent_at[f, place])
    idle = world.clock[0].now - last - flow.rto
    if idle <= 0.0:
        return
    window = min(flow.cwnd, flow.window)
    least = min(flow.initial_window, window)
    flow.ssthresh = max(flow.ssthresh, 0.75 * window)
    while idle > 0.0 and window > least:
        window = math.floor(window / 2)
        idle -= flow.rto
    flow.cwnd = max(window, least)


@inlined
def _sample(world: World, f: int, rtt: float) -> None:
    """Take a round trip time into the timer.

    In real numbers (RFC 6298, Section 2), or with a clock of some granularity in whole ticks, eighths and quarters of
    them, as BSD's (Jacobson, "Congestion avoidance and control", 1988, Appendix A): what is below a quarter of a tick
    does not fade.
    """
    flow = world.flows[f]
    G = flow.granularity
    if flow.ticks != 0:
        ticks = int(max(1.0, math.floor(rtt / G + 0.5)))
        if flow.eighths == 0:
            flow.eighths = 8 * ticks
            flow.quarters = 2 * ticks
        else:
            error = ticks - (flow.eighths >> 3)
            flow.eighths = max(1, flow.eighths + error)
            flow.quarters = max(1, flow.quarters + abs(error) - (flow.quarters >> 2))
        flow.rto = max(flow.min_rto, ((flow.eighths + 8 * flow.quarters) >> 3) * G)
    else:
        if flow.srtt == 0.0:
            flow.srtt = rtt
            flow.rttvar = rtt / 2
        else:
            flow.rttvar += (abs(flow.srtt - rtt) - flow.rttvar) / 4
            flow.srtt += (rtt - flow.srtt) / 8
        flow.rto = max(flow.min_rto, flow.srtt + max(G, 4 * flow.rttvar))
    flow.backoff = 1
    flow.rto_sum += flow.rto
    flow.rtos += 1


@inlined
def _restart_timer(world: World, f: int) -> None:
    flow = world.flows[f]
    flow.deadline = world.clock[0].now + flow.rto * flow.backoff
    if flow.deadline < flow.expiry:
        _expect_expiry(world, f)


@inlined
def _expect_expiry(world: World, f: int) -> None:
    """Let the timer be looked at when it may expire."""
    flow = world.flows[f]
    flow.expiry = flow.deadline
    push(world, flow.deadline, TIMER, f)


@inlined
def _note(world: World, f: int, low: int, high: int) -> None:
    """Note packets that a SACK block reports."""
    flow = world.flows[f]
    mask = world.known.shape[1] - 1
    for seq in range(max(low, flow.una), high):
        if world.known[f, seq & mask] & SACKED == 0:
            flow.newest = max(flow.newest, world.sent_at[f, seq & mask])
            world.known[f, seq & mask] |= SACKED


@inlined
def _fill_pipe(world: World, rng: np.random.Generator, f: int) -> None:
    """Send while fewer packets than the window are under way: lost ones first (RFC 6675, Section 5)."""
    flow = world.flows[f]
    mask = world.known.shape[1] - 1
    above = 0  # reported packets above
    pipe = 0
    hole = -1
    for seq in range(flow.high - 1, flow.una - 1, -1):
        known = world.known[f, seq & mask]
        if flow.rack != 0 and known == RESENT and world.sent_at[f, seq & mask] < flow.newest:
            known = 0  # lost again: something sent later has arrived (RFC 8985)
            world.known[f, seq & mask] = known
            above = max(above, 3)
        if known & SACKED != 0:
            above += 1
        elif known & RESENT != 0:
            pipe += 1
        elif above >= 3 or seq == flow.una:
            hole = seq
        else:
            pipe += 1
    window = int(min(flow.cwnd, flow.window))
    while pipe < window:
        if hole >= 0:
            transmit(world, rng, f, hole)
            hole = _next_hole(world, f, hole)
        elif flow.high < flow.available and flow.high < flow.una + flow.window:
            transmit(world, rng, f, flow.high)
            flow.next = flow.high
        else:
            break
        pipe += 1


@inlined
def _next_hole(world: World, f: int, seq: int) -> int:
    """Return the next packet above that is lost and was not sent again, -1 if there is none."""
    flow = world.flows[f]
    mask = world.known.shape[1] - 1
    above, found = 0, -1
    for k in range(flow.high - 1, seq, -1):
        known = world.known[f, k & mask]
        if known & SACKED != 0:
            above += 1
        elif known & RESENT == 0 and above >= 3:
            found = k
    return found
