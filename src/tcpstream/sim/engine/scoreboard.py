"""What a sender knows of each packet by SACK, and what it sends while it repairs losses."""

from __future__ import annotations

import numpy as np

from .compiled import inlined
from .prr import allowed
from .records import RESENT, SACKED, World
from .transmit import transmit


@inlined
def note(world: World, f: int, low: int, high: int) -> None:
    """Note packets that a SACK block reports."""
    flow = world.flows[f]
    mask = world.known.shape[1] - 1
    for seq in range(max(low, flow.una), high):
        if world.known[f, seq & mask] & SACKED == 0:
            flow.newest = max(flow.newest, world.sent_at[f, seq & mask])
            world.known[f, seq & mask] |= SACKED


@inlined
def fill_pipe(world: World, rng: np.random.Generator, f: int, ruled: bool) -> None:
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
    if ruled and world.control[f].prr != 0:
        window = allowed(world, f, pipe)
    while pipe < window:
        if hole < 0 and (flow.high >= flow.available or flow.high >= flow.una + flow.window):
            break
        transmit(world, rng, f, hole if hole >= 0 else flow.high, ruled)
        if hole >= 0:
            hole = _next_hole(world, f, hole)
        else:
            flow.next = flow.high
        pipe += 1
    if ruled:
        world.control[f].pipe = pipe


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
