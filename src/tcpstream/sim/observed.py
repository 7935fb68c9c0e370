"""What the arrays of a run say of each flow."""

from __future__ import annotations

import math

import numpy as np

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
    data, messages = (_counts(world, what) for what in ("", "messages_"))
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


def _counts(world: World, what: str) -> list[Count]:
    return list(map(Count, *(world.flows[what + name].tolist() for name in Count._fields)))


def _bins(scenario: Scenario, world: World, k: int, duration: float) -> Bins | None:
    if scenario.bins is None:
        return None
    return Bins(scenario.bins, *world.bins[k, :, : bins(scenario.bins, duration)].copy())


def _arrivals(scenario: Scenario, world: World, k: int, calls: Calls) -> Arrivals:
    row = world.flows[k]
    log = world.arrivals[row["log"], : row["logged"]]
    return told(log["time"].copy(), log["number"].copy(), calls.streams.get(k, Stream()), scenario.flows[k])
