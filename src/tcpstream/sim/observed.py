"""What the arrays of a run say of each flow."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .application import Application
from .desk import Desk, Stream
from .ends import stream_of
from .engine import records
from .engine.records import World
from .hosts import told
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


def traffic(scenario: Scenario, world: World, duration: float, desk: Desk) -> list[Traffic]:
    """Return what became of the packets of each flow until now."""
    there, back = _counts(scenario, world)
    return [
        Traffic(
            there[k],
            back[k],
            _bins(scenario, world, k, duration),
            _arrivals(world, k, desk.streams.get(k) or stream_of(flow)) if flow.measured and flow.tcp is None else None,
            tuple(desk.notes.get(k, ())),
        )
        for k, flow in enumerate(scenario.flows)
    ]


def _counts(scenario: Scenario, world: World) -> tuple[list[Count], list[Count]]:
    """Return packets and bytes, there and back; datagrams of an application have sizes of their own."""
    packets = np.stack([world.flows[name] for name in Count._fields[:3]], axis=1)
    there = np.stack([packets, packets * world.flows["size"][:, None]], axis=1)
    own = [isinstance(flow.source, Application) and flow.tcp is None for flow in scenario.flows]
    there[own] = world.accounts[own, records.DATA]
    there += world.accounts[:, records.TOLD]
    back = world.accounts[:, records.REPORT]
    return _rows(there), _rows(back)


def _rows(counts: NDArray[np.int64]) -> list[Count]:
    return [Count(*row) for row in counts.reshape(len(counts), 6).tolist()]


def _bins(scenario: Scenario, world: World, k: int, duration: float) -> Bins | None:
    if scenario.bins is None:
        return None
    return Bins(scenario.bins, *world.bins[k, :, : bins(scenario.bins, duration)].copy())


def _arrivals(world: World, k: int, stream: Stream) -> Arrivals:
    row = world.flows[k]
    log = world.arrivals[row["log"], : row["logged"]]
    return told(log["time"].copy(), log["number"].copy(), stream)
