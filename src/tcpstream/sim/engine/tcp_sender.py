"""Senders: TCP Reno, NewReno and SACK, in whole packets.

Flows whose windows have other rules besides are `ruled`: a constant, so that the others pay nothing for them.
"""

from __future__ import annotations

import math

import numpy as np

from .compiled import inlined, wide
from .control import acked, by_reno, lost
from .control_records import CUBIC
from .events import push
from .records import NEWRENO, RENO, REQUESTS, RESENT, SACK, SACKED, SOURCE, World
from .scoreboard import fill_pipe, note
from .tcp_timer import LARGEST_BACKOFF, expired, restart_timer, sample
from .transmit import transmit
from .window_use import look


@inlined
def send(world: World, rng: np.random.Generator, f: int, ruled: bool) -> None:
    """Send what the window allows and the source has."""
    flow = world.flows[f]
    if flow.kind == SACK and flow.recovering != 0:
        fill_pipe(world, rng, f, ruled)
    else:
        window = min(flow.cwnd, flow.window)
        if flow.recovering != 0:
            limit = flow.una + int(min(window + flow.inflation, flow.window))
        else:
            allowed = min(flow.dupacks, 2) if flow.limited_transmit != 0 else 0
            limit = flow.una + int(min(window + allowed, flow.window))
        while flow.next < limit and flow.next < flow.available:
            transmit(world, rng, f, flow.next, ruled)
            flow.next += 1
    if ruled:
        look(world, f)


@inlined
def acknowledged(world: World, rng: np.random.Generator, who: int, ruled: bool) -> None:
    """Take an acknowledgement."""
    clock, packet = world.clock[0], world.packets[who]
    f, ack = wide(packet.flow), packet.seq
    flow = world.flows[f]
    if packet.round >= flow.round:
        flow.round += 1  # the first packet of this round is acknowledged: what is sent now is the next round
    if ruled:
        acked(world, who)
    if flow.kind == SACK:
        note(world, f, packet.low0, packet.high0)
        note(world, f, packet.low1, packet.high1)
        note(world, f, packet.low2, packet.high2)
    if ack > flow.una:
        place = (ack - 1) & (world.known.shape[1] - 1)
        if flow.recovering == 0 and world.known[f, place] & (RESENT | SACKED) == 0:
            flow.rtt_sum += clock.now - world.sent_at[f, place]
            flow.rtts += 1
        _new_data(world, rng, f, ack, ruled)
    elif ack == flow.una and flow.high > flow.una:
        _duplicate(world, rng, f, ruled)
    send(world, rng, f, ruled)


@inlined
def _new_data(world: World, rng: np.random.Generator, f: int, ack: int, ruled: bool) -> None:
    flow, now = world.flows[f], world.clock[0].now
    newly = ack - flow.una
    if flow.rack != 0:
        note(world, f, flow.una, ack)
        flow.backoff = 1
    flow.una = ack
    flow.next = max(flow.next, ack)
    if flow.timed >= 0 and ack > flow.timed:
        sample(world, f, now - flow.timed_at)
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
            transmit(world, rng, f, flow.una, ruled)
    else:
        flow.dupacks = 0
        if not ruled or by_reno(world, f, newly):
            if flow.slow_start != 0 and flow.cwnd < flow.ssthresh:
                flow.cwnd += 1.0
            else:
                flow.cwnd += 1.0 / flow.cwnd
            flow.cwnd = min(flow.cwnd, flow.window)
    if flow.high > flow.una:
        restart_timer(world, f)
    else:
        flow.deadline = math.inf
    if flow.source == REQUESTS and flow.una == flow.available:
        push(world, now + world.thinks[flow.request], SOURCE, f)


@inlined
def _duplicate(world: World, rng: np.random.Generator, f: int, ruled: bool) -> None:
    """Count a duplicate acknowledgement; the third one starts a fast retransmit."""
    flow = world.flows[f]
    if flow.recovering != 0:
        flow.inflation += 1
        return
    flow.dupacks += 1
    if flow.dupacks != 3 or flow.una < flow.recover:
        return
    if flow.una == flow.recover and not (ruled and flow.control >= CUBIC):  # once a window (RFC 6582, Section 1)
        return
    flow.fast_retransmits += 1
    flow.ssthresh = _threshold(world, f, False, ruled)
    flow.cwnd = flow.ssthresh
    flow.recover = flow.high
    flow.recovering = 1
    flow.inflation = 3
    transmit(world, rng, f, flow.una, ruled)
    restart_timer(world, f)


@inlined
def _threshold(world: World, f: int, timer: bool, ruled: bool) -> float:
    """Return the slow start threshold after a loss: half the window, unless another rule governs it."""
    flow = world.flows[f]
    return lost(world, f, timer) if ruled else max(min(flow.cwnd, flow.window) / 2, 2.0)


@inlined
def timer(world: World, rng: np.random.Generator, f: int, ruled: bool) -> None:
    """Let the retransmission timer expire, if its time has come: back to a window of one (RFC 5681, RFC 6298)."""
    flow = world.flows[f]
    if not expired(world, f):
        return
    flow.timeouts += 1
    flow.ssthresh = _threshold(world, f, True, ruled)
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
    send(world, rng, f, ruled)


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
