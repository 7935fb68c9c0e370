"""The sender of BBR: it paces packets, samples the delivery rate, and repairs what RACK sees as lost (RFC 8985).

Delivery rates are those of draft-cheng-iccrg-delivery-rate-estimation-00: packets over the longer one of the times in
which they were sent and acknowledged.
"""

from __future__ import annotations

import math

import numpy as np

from .bbr import end_probe, keep_window, learn, pace
from .compiled import called, inlined, wide
from .control_records import LOSS, LOST, OPEN, PROBE_BW, PROBE_RTT, RECOVERY
from .events import push
from .records import ARRIVAL, PACE, REQUESTS, RESENT, SACKED, SOURCE, TIMER, World
from .tcp_timer import LARGEST_BACKOFF, expired, restart_timer, sample
from .transmit import transmit

DUPLICATES = 3
"""Packets reported as received that show that one sent before them is lost."""


@called
def by_bbr(world: World, rng: np.random.Generator, kind: int, who: int) -> None:
    """Handle an event of a flow that BBR governs."""
    f = wide(world.packets[who].flow) if kind == ARRIVAL else who
    if kind == ARRIVAL:
        _acknowledged(world, rng, who)
    elif kind == TIMER:
        if not expired(world, f):
            return
        _timed_out(world, f)
    elif kind == SOURCE and (world.flows[f].high == 0 or world.flows[f].source == REQUESTS):
        _begin(world, f)
    _send(world, rng, f)


@inlined
def _begin(world: World, f: int) -> None:
    """Begin a connection."""
    now, bbr = world.clock[0].now, world.bbr[world.control[f].row]
    bbr.mode = bbr.full = bbr.ungrown = bbr.rounds = bbr.idle = bbr.timed = bbr.conserving = 0
    bbr.state = bbr.state_before = OPEN
    bbr.limited_until = bbr.phase = 0
    bbr.bw = bbr.full_bw = bbr.rate = bbr.window_before = bbr.next_send = 0.0
    for k in range(len(bbr.best)):
        bbr.best[k] = 0.0
    bbr.round_end = bbr.delivered
    bbr.min_rtt, bbr.min_rtt_at = math.inf, now
    pace(world, f, 1.0)


@inlined
def _send(world: World, rng: np.random.Generator, f: int) -> None:
    """Send what the window allows, at the rate, lost packets first."""
    clock, flow, bbr = world.clock[0], world.flows[f], world.bbr[world.control[f].row]
    mask = world.known.shape[1] - 1
    while bbr.pipe < int(flow.cwnd):
        seq = flow.una
        while bbr.lost > 0 and world.known[f, seq & mask] & LOST == 0:
            seq += 1
        if bbr.lost == 0:
            seq = flow.high
            if flow.high >= flow.available:
                bbr.limited_until = max(1, bbr.delivered + bbr.pipe)
                return
            if flow.high >= flow.una + flow.window:
                return
        if bbr.next_send > clock.now:
            if bbr.wake <= clock.now:
                bbr.wake = bbr.next_send
                push(world, bbr.wake, PACE, f)
            return
        _let_go(world, rng, f, seq)
        bbr.next_send = clock.now + 1 / bbr.rate


@inlined
def _let_go(world: World, rng: np.random.Generator, f: int, seq: int) -> None:
    """Send one packet, and note with it what was delivered until now."""
    clock, flow, bbr = world.clock[0], world.flows[f], world.bbr[world.control[f].row]
    place = seq & (world.known.shape[1] - 1)
    if bbr.pipe == 0 and bbr.limited_until > 0:
        bbr.idle = 1
        if bbr.mode == PROBE_BW:
            pace(world, f, 1.0)
        elif bbr.mode == PROBE_RTT:
            end_probe(world, rng, f)
    if flow.una == flow.high:
        bbr.first_sent = bbr.delivered_at = clock.now
    tag = world.tags[world.control[f].row, place]
    tag.delivered, tag.delivered_at, tag.first_sent = bbr.delivered, bbr.delivered_at, bbr.first_sent
    tag.limited = int(bbr.limited_until > 0)
    if seq < flow.high:
        world.known[f, place] &= ~LOST & 255
        bbr.lost -= 1
    transmit(world, rng, f, seq, True)
    flow.next = flow.high
    bbr.pipe += 1
    if seq == flow.una:
        restart_timer(world, f)


@inlined
def _acknowledged(world: World, rng: np.random.Generator, who: int) -> None:
    clock, packet = world.clock[0], world.packets[who]
    f, ack = wide(packet.flow), packet.seq
    flow, bbr = world.flows[f], world.bbr[world.control[f].row]
    mask = world.known.shape[1] - 1
    if packet.round >= flow.round:
        flow.round += 1
    before, in_flight = bbr.delivered, bbr.pipe
    bbr.seen_at, bbr.seen_delivered, bbr.rtt = -1.0, -1, -1.0
    for seq in range(flow.una, ack):
        if world.known[f, seq & mask] & SACKED == 0:
            _delivered(world, f, seq)
        else:
            bbr.sacked -= 1
    bottom = max(flow.una, ack)
    for low, high in ((packet.low0, packet.high0), (packet.low1, packet.high1), (packet.low2, packet.high2)):
        for seq in range(max(low, bottom), high):
            if world.known[f, seq & mask] & SACKED == 0:
                _delivered(world, f, seq)
                world.known[f, seq & mask] |= SACKED
                bbr.sacked += 1
    if bbr.rtt >= 0.0:
        flow.rtt_sum += bbr.rtt
        flow.rtts += 1
        sample(world, f, bbr.rtt)
    if ack > flow.una:
        flow.una = ack
        flow.backoff = 1
        if flow.high > ack:
            restart_timer(world, f)
        else:
            flow.deadline = math.inf
        if flow.source == REQUESTS and ack == flow.available:
            push(world, clock.now + world.thinks[flow.request], SOURCE, f)
    if bbr.delivered > before:
        bbr.delivered_at = clock.now
    if bbr.delivered > bbr.limited_until:
        bbr.limited_until = 0
    if bbr.state != OPEN and flow.una >= flow.recover:
        bbr.state = OPEN
    lost = _losses(world, f)
    if lost > 0 and bbr.state == OPEN:
        flow.fast_retransmits += 1
        flow.recover = flow.high
        keep_window(world, f)
        bbr.state = RECOVERY
    learn(world, rng, f, bbr.delivered - before, lost, bbr.rtt, in_flight)


@inlined
def _delivered(world: World, f: int, seq: int) -> None:
    """Take a packet as delivered, and what was noted with the one that was sent last into the sample of the rate."""
    flow, bbr = world.flows[f], world.bbr[world.control[f].row]
    place = seq & (world.known.shape[1] - 1)
    known, sent = world.known[f, place], world.sent_at[f, place]
    tag = world.tags[world.control[f].row, place]
    bbr.delivered += 1
    if known & LOST != 0:
        bbr.lost -= 1
        world.known[f, place] &= ~LOST & 255
    else:
        bbr.pipe -= 1
    if known & RESENT == 0:
        bbr.rtt = world.clock[0].now - sent
    if tag.delivered >= bbr.seen_delivered:
        bbr.seen_delivered, bbr.seen_at, bbr.seen_limited = tag.delivered, tag.delivered_at, tag.limited
        bbr.seen_span = sent - tag.first_sent
        bbr.first_sent = sent
    if sent > flow.newest or (sent == flow.newest and seq > bbr.newest):
        flow.newest, bbr.newest = sent, seq


@inlined
def _losses(world: World, f: int) -> int:
    """Mark as lost what was sent before a packet that has arrived; return how many packets are lost newly."""
    flow, bbr = world.flows[f], world.bbr[world.control[f].row]
    mask = world.known.shape[1] - 1
    if bbr.state == OPEN and bbr.sacked < DUPLICATES:
        return 0
    found = 0
    for seq in range(flow.una, flow.high):
        sent = world.sent_at[f, seq & mask]
        earlier = sent < flow.newest or (sent == flow.newest and seq < bbr.newest)
        if earlier and world.known[f, seq & mask] & (SACKED | LOST) == 0:
            world.known[f, seq & mask] |= LOST
            found += 1
    bbr.lost += found
    bbr.pipe -= found
    return found


@inlined
def _timed_out(world: World, f: int) -> None:
    """Take all that was not reported as received for lost; a window of one."""
    flow, bbr = world.flows[f], world.bbr[world.control[f].row]
    mask = world.known.shape[1] - 1
    flow.timeouts += 1
    for seq in range(flow.una, flow.high):
        if world.known[f, seq & mask] & SACKED == 0:
            world.known[f, seq & mask] |= LOST
    bbr.lost = flow.high - flow.una - bbr.sacked
    bbr.pipe = 0
    if bbr.state == OPEN or (bbr.state == LOSS and flow.backoff == 1):
        keep_window(world, f)
    bbr.state = bbr.state_before = LOSS
    bbr.full_bw = 0.0
    flow.cwnd = 1.0
    flow.recover = flow.high
    flow.backoff = min(2 * flow.backoff, LARGEST_BACKOFF)
    flow.round += 1
    flow.deadline = math.inf
