"""What the arrays of a run say of each flow."""

from __future__ import annotations

import math

import numpy as np

from .application import Application
from .calls import Calls
from .engine.records import World
from .hosts import Stream, told
from .scenario import Scenario
from .traffic import Arrivals, Bins, Count, Traffic


def with_bins(world: World, scenario: Scenario, duration: float) -> World:
    """Return a state with the time bins of a scenario, for a run of so many seconds."""
    if scenario.bins is None:
        return world
    world.clock["bin"] = scenario.bins
    return world._replace(bins=np.zeros((len(scenario.flows), 3, bins(scenario.bins, duration)), dtype=np.int64))


def bins(width: float, duration: float) -> int:
    """Return how many bins a run has."""
    return max(1, math.ceil(duration / width - 1e-9))


def traffic(scenario: Scenario, world: World, duration: float, calls: Calls) -> list[Traffic]:
    """Return what became of the packets of each flow until now."""
    data, messages = _counts(scenario, world), _messages(world)
    return [
        Traffic(
            data[k],
            messages[k],
            _bins(scenario, world, k, duration),
            _arrivals(scenario, world, k, calls) if flow.measured and flow.tcp is None else None,
            tuple(calls.notes.get(k, ())),
        )
        for k, flow in enumerate(scenario.flows)
    ]


def _counts(scenario: Scenario, world: World) -> list[Count]:
    """Return packets and bytes of data; those of an application have sizes of their own."""
    packets = np.stack([world.flows[name] for name in ("sent", "received", "dropped")])
    constant = np.array([not isinstance(flow.source, Application) or flow.tcp is not None for flow in scenario.flows])
    sizes = np.stack([world.accounts[name] for name in Count._fields[3:]])
    octets = np.where(constant, packets * world.flows["size"], sizes)
    return list(map(Count, *packets.tolist(), *octets.tolist()))


def _messages(world: World) -> list[Count]:
    return list(map(Count, *(world.accounts[f"messages_{name}"].tolist() for name in Count._fields)))


def _bins(scenario: Scenario, world: World, k: int, duration: float) -> Bins | None:
    if scenario.bins is None:
        return None
    return Bins(scenario.bins, *world.bins[k, :, : bins(scenario.bins, duration)].copy())


def _arrivals(scenario: Scenario, world: World, k: int, calls: Calls) -> Arrivals:
    row = world.flows[k]
    log = world.arrivals[row["log"], : row["logged"]]
    return told(log["time"].copy(), log["number"].copy(), calls.streams.get(k, Stream()), scenario.flows[k])
