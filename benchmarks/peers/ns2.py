"""ns-2 without traces: seconds of its own CPU, from the start of the simulated time on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from .. import simulator
from ..outcome import Outcome

MISSING = "not installed: apt-get install ns2"


def one_flow(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """One flow."""
    from witness import lines

    if shutil.which("ns") is None:
        yield Outcome([], note=MISSING)
        return
    simulated = simulator.shorter(simulator.ONE_FLOW, quick)
    ends = []
    for seed in range(1, simulator.REPETITIONS + 1):
        *_, last = lines("calibrate.tcl", 0.02, 0.1, "Reno", 1, simulated, seed, 0, 0)
        ends.append([float(one) for one in last.split()[1:]])
    yield simulator.outcome([int(end[0]) for end in ends], [end[-1] for end in ends], simulated)


def topology(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """All the topology."""
    from network import there

    if shutil.which("ns") is None:
        yield Outcome([], note=MISSING)
        return
    simulated = simulator.shorter(simulator.TOPOLOGY, quick)
    seeds = range(simulator.REPETITIONS)
    runs = [there(simulator.dumbbell(seed), simulated, seed + 1, trace=False) for seed in seeds]
    yield simulator.outcome([one.packets for one in runs], [one.seconds for one in runs], simulated)
