"""The applications of a run: servers and clients of its own, each with a generator of its own."""

from __future__ import annotations

from functools import partial

import numpy as np

from .application import Application, Client, Server
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
    ends: dict[int, tuple[Server, ServerHost, ClientHost]] = {}
    for number, flow in enumerate(scenario.flows):
        if isinstance(flow.source, Application):
            ends[number] = _begun(desk, number, flow, flow.source, rng)
    for number, (server, there, _) in ends.items():
        source = scenario.flows[number].source
        if isinstance(source, Application) and source.relayed():
            _, _, here = ends[scenario.number(source.relayed())]
            here.listen(partial(server.came, there))
    return desk


def stream_of(flow: Flow) -> Stream:
    """Return what is known of the data of a flow before it starts."""
    return Stream(flow.tcp.packet_size, flow.tcp.send_buffer) if flow.tcp else Stream(flow.packet_size)


def _begun(
    desk: Desk, number: int, flow: Flow, application: Application, rng: np.random.Generator
) -> tuple[Server, ServerHost, ClientHost]:
    """Return both ends of an application, once the loop is told what starts them."""
    stream, server, client = stream_of(flow), application.server(), application.client()
    there = ServerHost(desk, number, stream, _generator(rng))
    here = ClientHost(desk, number, stream, _generator(rng))
    there.meet(here, partial(server.timer, there), partial(server.message, there))
    here.meet(there, partial(client.timer, here), partial(client.message, here))
    if flow.tcp is None and type(client).data is not Client.data:
        here.listen(partial(client.data, here))

    def start() -> None:
        server.start(there)
        client.start(here)

    desk.begin(number, stream, start)
    return server, there, here


def _generator(rng: np.random.Generator) -> np.random.Generator:
    return np.random.default_rng(rng.integers(2**63, size=2).tolist())
