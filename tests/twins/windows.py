"""A sender's window while a scenario runs: the event loop, stopped at given times."""

import numpy as np

from tcpstream.sim import Scenario
from tcpstream.sim.engine.loop import run
from tcpstream.sim.engine.records import DONE
from tcpstream.sim.world import build, grown


def watched(scenario: Scenario, times, of="cwnd", seed=1, **first):
    """Return what a record of the first flow says at given times; `first` is what it says at the start."""
    rng = np.random.default_rng(seed)
    world = build(scenario, rng)
    for name, value in first.items():
        world.flows[0][name] = value
    found = []
    for time in times:
        while (reason := run(world, rng, time)) != DONE:
            world = grown(world, reason)
        record = next(one for one in (world.flows, world.control, world.bbr) if of in one.dtype.names)
        found.append(record[0][of].item())
    return found
