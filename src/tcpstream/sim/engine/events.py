"""Events in the order of their times, and of their making where times are equal."""

from __future__ import annotations

from typing import Any

from .compiled import inlined
from .records import World


@inlined
def push(world: World, time: float, kind: int, who: int) -> None:
    """Add an event of a packet or flow `who` at a time [s]; into the place of the one at work, if that is free."""
    clock, heap = world.clock[0], world.heap
    clock.order += 1
    order = clock.order
    if clock.hole != 0:
        clock.hole = 0
        _sink(world, time, order, kind, who)
        return
    k = clock.pending
    clock.pending += 1
    while k > 0:
        parent = (k - 1) >> 1
        above = heap[parent]
        if above.time <= time:  # older ones go first
            break
        heap[k].time = above.time
        heap[k].order = above.order
        heap[k].kind = above.kind
        heap[k].who = above.who
        k = parent
    heap[k].time = time
    heap[k].order = order
    heap[k].kind = kind
    heap[k].who = who


@inlined
def take(world: World) -> None:
    """Free the place of the first event; the next `push` takes it, or `close` does without it."""
    world.clock[0].hole = 1


@inlined
def close(world: World) -> None:
    """Remove the place that `take` freed, unless it was taken."""
    clock, heap = world.clock[0], world.heap
    if clock.hole != 0:
        clock.hole = 0
        clock.pending -= 1
        last = heap[clock.pending]
        _sink(world, last.time, last.order, last.kind, last.who)


@inlined
def _sink(world: World, time: float, order: int, kind: int, who: int) -> None:
    """Put an event at the top, and let it sink to where it belongs."""
    heap, n = world.heap, world.clock[0].pending
    k = 0
    while True:
        child = 2 * k + 1
        if child >= n:
            break
        if child + 1 < n and _before(heap[child + 1], heap[child]):
            child += 1
        below = heap[child]
        if time < below.time or (time == below.time and order < below.order):
            break
        heap[k].time = below.time
        heap[k].order = below.order
        heap[k].kind = below.kind
        heap[k].who = below.who
        k = child
    heap[k].time = time
    heap[k].order = order
    heap[k].kind = kind
    heap[k].who = who


@inlined
def _before(a: Any, b: Any) -> bool:
    """Return whether an event comes before another."""
    return bool(a.time < b.time or (a.time == b.time and a.order < b.order))
