"""A client that stops reading a stored video while it holds enough of it, and the server, which then pauses.

What the client says takes the propagation time of the way back, and is never lost.
"""

from __future__ import annotations

from .compiled import called, inlined
from .events import push
from .records import REFILL, SOURCE, World

NOISE = 1e-6
"""Of a packet, and of the time that one is played: rounding noise is none."""


@called
def read(world: World, f: int) -> None:
    """Let the client see what is in order now: playback starts or goes on, and its buffer may be full."""
    flow, now = world.flows[f], world.clock[0].now
    if flow.playing != 0 and now > flow.shift + flow.seen * flow.interval + NOISE * flow.interval:
        flow.playing = 0  # it has stood since its next packet was due
        flow.position = flow.seen
    flow.seen = flow.expected
    if flow.playing == 0 and (flow.expected >= flow.total or flow.expected - flow.position >= flow.wanted):
        flow.playing = 1
        flow.shift = now - flow.position * flow.interval
        flow.wanted = flow.resume
    if flow.playing != 0 and flow.closed == 0 and flow.expected < flow.total and _held(world, f) >= flow.room - NOISE:
        flow.closed = 1
        push(world, now + _way_back(world, f), SOURCE, f)
        push(world, now + max(0.0, _held(world, f) - flow.refill) * flow.interval, REFILL, f)


@called
def refill(world: World, f: int) -> None:
    """Read again, if no more than the refill level is held; or look again when it may be."""
    flow, now = world.flows[f], world.clock[0].now
    above = _held(world, f) - flow.refill
    if above > NOISE:
        push(world, now + above * flow.interval, REFILL, f)
        return
    flow.closed = 0
    push(world, now + _way_back(world, f), SOURCE, f)


@inlined
def _held(world: World, f: int) -> float:
    """Return what a client holds while it plays [packets]."""
    flow = world.flows[f]
    return float(flow.expected - (world.clock[0].now - flow.shift) / flow.interval)


@inlined
def _way_back(world: World, f: int) -> float:
    """Return the propagation time of a flow's way back [s]."""
    delay = 0.0
    for hop in range(world.routes.shape[2]):
        link = world.routes[f, 1, hop]
        if link >= 0:
            delay += world.schedule[world.links[link].piece].delay
    return delay
