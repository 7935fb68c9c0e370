"""Between the event loop and applications: whom it calls, and what they order until it goes on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .application import Application
from .engine import records
from .engine.records import World
from .hosts import ClientHost, ServerHost, Stream
from .scenario import Scenario
from .traffic import Note


class Calls:
    """The applications of a run.

    Parameters
    ----------
    scenario : Scenario
    world : World
    rng : numpy.random.Generator
        Of the run: each end gets one of its own from it.
    """

    def __init__(self, scenario: Scenario, world: World, rng: np.random.Generator) -> None:
        self.world, self.now = world, 0.0
        self.notes: dict[int, list[Note]] = {}
        self.streams: dict[int, Stream] = {}
        self._waiting: dict[int, Callable[[], None]] = {}
        self._orders: list[tuple[float, int, int, int, int, int]] = []
        self._calls = len(scenario.flows)  # the first ones start flows
        for number, flow in enumerate(scenario.flows):
            if isinstance(flow.source, Application):
                self.notes[number], self.streams[number] = [], Stream()
                self._waiting[number] = self._ends(number, scenario, flow.source, rng)

    def _ends(
        self, number: int, scenario: Scenario, application: Application, rng: np.random.Generator
    ) -> Callable[[], None]:
        """Return what starts both ends."""
        flow, stream = scenario.flows[number], self.streams[number]
        server, client = application.server(), application.client()
        there = ServerHost(self, number, flow, stream, _generator(rng))
        here = ClientHost(self, number, flow, stream, _generator(rng))
        there.meet(here, partial(server.timer, there), partial(server.message, there))
        here.meet(there, partial(client.timer, here), partial(client.message, here))

        def start() -> None:
            server.start(there)
            client.start(here)

        return start

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
        self._waiting.pop(int(world.clock["called"][0]))()
        orders, self._orders = self._orders, []
        if len(orders) > len(world.orders):
            world = world._replace(orders=np.zeros(2 * len(orders), dtype=records.ORDER))
        world.orders[: len(orders)] = orders
        world.clock["orders"] = len(orders)
        return world


def _generator(rng: np.random.Generator) -> np.random.Generator:
    return np.random.default_rng(rng.integers(2**63, size=2).tolist())
