"""BBR version 1: rate and window from the largest delivery rate and the shortest round trip, as in Linux.

N. Cardwell et al., draft-cardwell-iccrg-bbr-congestion-control-00, 2017, and Linux's choices: a hundredth below the
rate that was seen, room in the window for what hosts hold back, packets conserved in the first round of a recovery.
Without its estimate of the rate of a policer, and of acknowledgements that come together.
"""

from __future__ import annotations

import math

import numpy as np

from .compiled import called, inlined
from .control_records import DRAIN, OPEN, PROBE_BW, PROBE_RTT, ROUNDS, STARTUP
from .records import World

HIGH = 2.885
"""Gain in STARTUP, 2 / ln 2: the rate doubles each round."""

PROBING, YIELDING, PHASES = 1.25, 0.75, 8
"""Gains of the first two phases of a cycle in PROBE_BW; they are 1 in the others."""

ROOM = 2.0
"""Gain of the window in PROBE_BW."""

BELOW = 0.99
"""Of the rate that was seen."""

GROWN, UNGROWN = 1.25, 3
"""The pipe is full when the rate has not grown by this factor for so many rounds."""

MEMORY = 10.0
"""How long the shortest round trip counts [s]."""

SECOND = 1e6
"""Microseconds, in which round trips are compared: a queue that is empty again shows the shortest one."""

PROBE, LEAST = 0.2, 4
"""How long the window is least in PROBE_RTT [s], and how much that is [packets]."""

FIRST_RTT = 1e-3
"""Round trip before the first is known [s]."""

SLOW, MOMENT, MOST = 1.5e5, 1024, 127
"""Rate below which packets leave one by one [bytes/s]; else they leave by what this part of a second holds, or two."""

TEN = 10
"""Delivered packets before which a window that is not full grows."""


@called
def learn(world: World, rng: np.random.Generator, f: int, acked: int, lost: int, rtt: float, in_flight: int) -> None:
    """Take what an acknowledgement shows: packets delivered and lost, a round trip [s] or -1; what was under way."""
    now, bbr = world.clock[0].now, world.bbr[world.control[f].row]
    _rate_seen(world, f)
    if bbr.mode == PROBE_BW and _phase_is_over(world, f, lost, in_flight):
        bbr.phase = (bbr.phase + 1) % PHASES
        bbr.phase_start = now
    if bbr.full == 0 and bbr.round_start != 0 and bbr.seen_limited == 0:
        if bbr.bw >= GROWN * bbr.full_bw:
            bbr.full_bw, bbr.ungrown = bbr.bw, 0
        else:
            bbr.ungrown += 1
            bbr.full = int(bbr.ungrown >= UNGROWN)
    if bbr.mode == STARTUP and bbr.full != 0:
        bbr.mode = DRAIN
    if bbr.mode == DRAIN and bbr.pipe <= _wanted(world, f, 1.0):
        _cruise(world, rng, f)
    _shortest_round_trip(world, rng, f, rtt)
    if acked > 0:
        bbr.idle = 0
    pace(world, f, _gain(world, f))
    _window(world, f, acked, lost)


@inlined
def _rate_seen(world: World, f: int) -> None:
    """Take a sample of the delivery rate into the largest one of the last rounds."""
    now, bbr = world.clock[0].now, world.bbr[world.control[f].row]
    bbr.round_start = 0
    if bbr.seen_at < 0.0:
        return
    interval = max(bbr.seen_span, now - bbr.seen_at)
    if interval <= 0.0:
        return
    if bbr.seen_delivered >= bbr.round_end:
        bbr.round_end = bbr.delivered
        bbr.rounds += 1
        bbr.round_start = 1
        bbr.conserving = 0
    rate = (bbr.delivered - bbr.seen_delivered) / interval
    if bbr.seen_limited != 0 and rate < bbr.bw:
        return
    for k in range(min(bbr.rounds - bbr.sampled, ROUNDS)):  # rates are forgotten for newer ones only
        bbr.best[(bbr.rounds - k) % ROUNDS] = 0.0
    bbr.sampled = bbr.rounds
    k = bbr.rounds % ROUNDS
    bbr.best[k] = max(bbr.best[k], rate)
    bbr.bw = 0.0
    for k in range(ROUNDS):
        bbr.bw = max(bbr.bw, bbr.best[k])


@inlined
def _phase_is_over(world: World, f: int, lost: int, in_flight: int) -> bool:
    """Return whether a phase of the cycle has lasted a round trip, or reached what it is for."""
    bbr = world.bbr[world.control[f].row]
    long = world.clock[0].now - bbr.phase_start > bbr.min_rtt
    if bbr.phase == 0:
        return long and (lost > 0 or in_flight + burst(world, f) >= _wanted(world, f, PROBING))
    return long or (bbr.phase == 1 and in_flight <= _wanted(world, f, 1.0))


@inlined
def _shortest_round_trip(world: World, rng: np.random.Generator, f: int, rtt: float) -> None:
    """Keep the shortest round trip; where it has become old, keep few packets under way until it is known again."""
    now, bbr = world.clock[0].now, world.bbr[world.control[f].row]
    old = now > bbr.min_rtt_at + MEMORY
    measured = math.floor(rtt * SECOND + 0.5) / SECOND
    if rtt >= 0.0 and (measured <= bbr.min_rtt or old):
        bbr.min_rtt, bbr.min_rtt_at = measured, now
    if old and bbr.idle == 0 and bbr.mode != PROBE_RTT:
        bbr.mode = PROBE_RTT
        keep_window(world, f)
        bbr.probe_end = -1.0
    if bbr.mode != PROBE_RTT:
        return
    bbr.limited_until = max(1, bbr.delivered + bbr.pipe)
    if bbr.probe_end < 0.0:
        if bbr.pipe <= LEAST:
            bbr.probe_end = now + PROBE
            bbr.probe_round = 0
            bbr.round_end = bbr.delivered
        return
    if bbr.round_start != 0:
        bbr.probe_round = 1
    if bbr.probe_round != 0:
        end_probe(world, rng, f)


@called
def end_probe(world: World, rng: np.random.Generator, f: int) -> None:
    """Go on with the window from before PROBE_RTT, if it has lasted long enough."""
    now, flow, bbr = world.clock[0].now, world.flows[f], world.bbr[world.control[f].row]
    if bbr.probe_end < 0.0 or now <= bbr.probe_end:
        return
    bbr.min_rtt_at = now
    flow.cwnd = max(flow.cwnd, bbr.window_before)
    if bbr.full == 0:
        bbr.mode = STARTUP
    else:
        _cruise(world, rng, f)


@inlined
def _cruise(world: World, rng: np.random.Generator, f: int) -> None:
    """Begin PROBE_BW in a phase at random, but the second."""
    bbr = world.bbr[world.control[f].row]
    bbr.mode = PROBE_BW
    bbr.phase = (PHASES - int(rng.random() * (PHASES - 1))) % PHASES
    bbr.phase_start = world.clock[0].now


@inlined
def _gain(world: World, f: int) -> float:
    """Return the gain of the rate."""
    bbr = world.bbr[world.control[f].row]
    if bbr.mode == STARTUP:
        return HIGH
    if bbr.mode == DRAIN:
        return 1 / HIGH
    if bbr.mode == PROBE_BW and bbr.phase == 0:
        return PROBING
    return YIELDING if bbr.mode == PROBE_BW and bbr.phase == 1 else 1.0


@called
def pace(world: World, f: int, gain: float) -> None:
    """Set the rate [packets/s]; until the pipe is full it only grows."""
    flow, bbr = world.flows[f], world.bbr[world.control[f].row]
    if bbr.rate == 0.0 or (bbr.timed == 0 and flow.srtt > 0.0):
        bbr.timed = int(flow.srtt > 0.0)
        bbr.rate = BELOW * HIGH * flow.cwnd / (flow.srtt if bbr.timed != 0 else FIRST_RTT)
    rate = BELOW * gain * bbr.bw
    if bbr.full != 0 or rate > bbr.rate:
        bbr.rate = rate


@inlined
def burst(world: World, f: int) -> int:
    """Return how many packets a host of Linux lets go at once."""
    flow = world.flows[f]
    rate = world.bbr[world.control[f].row].rate * flow.size
    return int(min(MOST, max(1 if rate < SLOW else 2, rate / MOMENT / flow.size)))


@inlined
def _wanted(world: World, f: int, gain: float) -> int:
    """Return the packets under way that fill a path whose rate is `gain` times what was seen, and hosts beside it."""
    bbr = world.bbr[world.control[f].row]
    if bbr.min_rtt == math.inf:
        return TEN
    wanted = math.ceil(gain * bbr.bw * bbr.min_rtt) + 3 * burst(world, f)
    return int(wanted + wanted % 2) + (2 if bbr.mode == PROBE_BW and bbr.phase == 0 else 0)


@inlined
def _window(world: World, f: int, acked: int, lost: int) -> None:
    """Set the window: in the first round of a recovery what arrives, then towards what the path holds."""
    flow, bbr = world.flows[f], world.bbr[world.control[f].row]
    window = flow.cwnd
    if acked > 0:
        window = max(window - lost, 1.0)
        if bbr.state != OPEN and bbr.state_before == OPEN:
            bbr.conserving = 1
            bbr.round_end = bbr.delivered
            window = float(bbr.pipe + acked)
        elif bbr.state == OPEN and bbr.state_before != OPEN:
            bbr.conserving = 0
            window = max(window, bbr.window_before)
        bbr.state_before = bbr.state
        if bbr.conserving != 0:
            window = max(window, float(bbr.pipe + acked))
        else:
            wide = HIGH if bbr.mode in (STARTUP, DRAIN) else (ROOM if bbr.mode == PROBE_BW else 1.0)
            wanted = _wanted(world, f, wide)
            if bbr.full != 0:
                window = min(window + acked, wanted)
            elif window < wanted or bbr.delivered < TEN:
                window += acked
            window = max(window, LEAST)
    window = min(window, flow.window)
    flow.cwnd = min(window, LEAST) if bbr.mode == PROBE_RTT else window


@inlined
def keep_window(world: World, f: int) -> None:
    """Remember a window before it is reduced."""
    flow, bbr = world.flows[f], world.bbr[world.control[f].row]
    fresh = bbr.state_before == OPEN and bbr.mode != PROBE_RTT
    bbr.window_before = flow.cwnd if fresh else max(bbr.window_before, flow.cwnd)
