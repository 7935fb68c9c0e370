"""Between the event loop and applications: whom it calls, and what they order until it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .engine import records
from .engine.records import World
from .traffic import Note


@dataclass
class Stream:
    """What is known of the data of a flow.

    Attributes
    ----------
    packet_size : int
        Of packets of TCP, and of a steady source [bytes].
    send_buffer : int, optional
        Of a flow over TCP [packets].
    sizes, tags : lists
        Of an application's packets, by their numbers; sizes [bytes] of datagrams.
    headers : dict
        What a client that is called for data reads in packets under way, by their numbers.
    """

    packet_size: int
    send_buffer: int | None = None
    sizes: list[int] = field(default_factory=list)
    tags: list[int] = field(default_factory=list)
    headers: dict[int, Any] = field(default_factory=dict)


class Desk:
    """Where the applications of a run leave their orders, and calls wait."""

    def __init__(self, world: World) -> None:
        self.world, self.now = world, 0.0
        self.streams: dict[int, Stream] = {}
        self.notes: dict[int, list[Note]] = {}
        self._calls = len(world.flows)
        self._listeners: dict[int, Callable[[int], None]] = {}
        self._waiting: dict[int, Callable[[], None]] = {}
        self._orders: list[tuple[float, int, int, int, int, int]] = []

    def begin(self, flow: int, stream: Stream, start: Callable[[], None]) -> None:
        """Keep what starts the application of a flow."""
        self.streams[flow], self.notes[flow], self._waiting[flow] = stream, [], start

    def listen(self, flow: int, told: Callable[[int], None]) -> None:
        """Call `told` with the number of each datagram of a flow when it arrives."""
        self._listeners[flow] = told
        self.world.flows[flow]["listens"] = 1

    def later(self, call: Callable[[], None]) -> int:
        """Keep a call until the loop makes it, and return its number."""
        self._calls += 1
        self._waiting[self._calls] = call
        return self._calls

    def order(self, kind: int, flow: int, at: float, number: int, way: int = 0, size: int = 0) -> None:
        """Keep an order until the loop goes on."""
        self._orders.append((at, number, kind, flow, way, size))

    def made(self, world: World) -> World:
        """Make the call that the loop stopped for, and return what it goes on with."""
        self.world, self.now = world, float(world.clock["now"][0])
        called = int(world.clock["called"][0])
        if called < 0:
            self._listeners[-1 - called](int(world.clock["number"][0]))
        else:
            self._waiting.pop(called)()
        orders, self._orders = self._orders, []
        if len(orders) > len(world.orders):
            world = world._replace(orders=np.zeros(2 * len(orders), dtype=records.ORDER))
        world.orders[: len(orders)] = orders
        world.clock["orders"] = len(orders)
        return world
