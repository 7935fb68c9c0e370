"""The applications of a run: servers and clients of its own, each with a generator of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .application import Application, Client
from .desk import Desk, Stream
from .engine.records import World
from .hosts import ClientHost, ServerHost
from .scenario import Flow, Scenario


def desk_of(scenario: Scenario, world: World, rng: np.random.Generator) -> Desk:
    """Return what the loop calls for the applications of a scenario.

    Parameters
    ----------
    scenario : Scenario
    world : World
    rng : numpy.random.Generator
        Of the run: each end gets one of its own from it.
    """
    desk = Desk(world)
    for number, flow in enumerate(scenario.flows):
        if isinstance(flow.source, Application):
            stream = stream_of(flow)
            desk.begin(number, stream, _start(desk, number, stream, flow, rng))
    return desk


def stream_of(flow: Flow) -> Stream:
    """Return what is known of the data of a flow before it starts."""
    return Stream(flow.tcp.packet_size, flow.tcp.send_buffer) if flow.tcp else Stream(flow.packet_size)


def _start(desk: Desk, number: int, stream: Stream, flow: Flow, rng: np.random.Generator) -> Callable[[], None]:
    """Return what starts both ends of an application."""
    assert isinstance(flow.source, Application)
    server, client = flow.source.server(), flow.source.client()
    there = ServerHost(desk, number, stream, _generator(rng))
    here = ClientHost(desk, number, stream, _generator(rng))
    there.meet(here, partial(server.timer, there), partial(server.message, there))
    here.meet(there, partial(client.timer, here), partial(client.message, here))

    if flow.tcp is None and type(client).data is not Client.data:
        here.listen(partial(client.data, here))

    def start() -> None:
        server.start(there)
        client.start(here)

    return start


def _generator(rng: np.random.Generator) -> np.random.Generator:
    return np.random.default_rng(rng.integers(2**63, size=2).tolist())
