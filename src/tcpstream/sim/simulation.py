"""Running a scenario."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any

import numpy as np

from ..errors import positive
from .delivery import Delivery
from .ends import desk_of
from .engine import records
from .files import read_npz, write_csv, write_npz, write_traffic
from .observed import traffic, with_bins
from .scenario import Scenario
from .size import check
from .sources import Steady, Stored
from .traffic import Traffic
from .world import build, grown

LOOK = 10.0
"""How often it is looked whether all stored videos are there [s]."""


@dataclass(frozen=True)
class Run:
    """One simulation.

    Attributes
    ----------
    scenario : Scenario
    duration : float
        [s].
    flows : list of Delivery
        Of the measured TCP flows, in their order.
    traffic : list of Traffic
        Of all flows.
    packets : int
        Packets of data sent by all flows.
    events : int
    seed : dict
        ``entropy`` and ``spawn_key`` of the `numpy.random.SeedSequence` of the generator.
    """

    scenario: Scenario
    duration: float
    flows: list[Delivery]
    traffic: list[Traffic]
    packets: int
    events: int
    seed: dict[str, Any]

    def save(self, file: str | PathLike[str]) -> None:
        """Write the run, with its scenario, to a file (.npz), or raise `InputError`."""
        write_npz(file, {field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, file: str | PathLike[str]) -> Run:
        """Return a run that was saved, or raise `InputError`."""
        return cls(**read_npz(file))

    def write_csv(self, file: str | PathLike[str], flow: int = 0) -> None:
        """Write ``packet,generated_s,delivered_s`` of a measured flow, or raise `InputError`.

        Times are seconds from the flow's start; what a backlogged sender sends is there from the start. Lines that
        begin with # say what was simulated, by which version.
        """
        write_csv(file, self.flows[flow], self.scenario, self.seed)

    def write_traffic(self, file: str | PathLike[str]) -> None:
        """Write ``flow,from_s,to_s,sent_bytes,received_bytes,dropped_bytes`` of all flows, or raise `InputError`.

        A row is a time bin, or all of the run if the scenario has none.
        """
        write_traffic(file, self.traffic, self.scenario, self.duration, self.seed)


def simulate(scenario: Scenario, duration: float, rng: np.random.Generator) -> Run:
    """Simulate a scenario packet by packet.

    Parameters
    ----------
    scenario : Scenario
    duration : float
        How long [s]; no longer, about, than until each measured flow has delivered its video, if all are `Stored`.
    rng : numpy.random.Generator
        Of loss processes, of where in their requests connections start, and of applications. The same generator in the
        same state gives the same run, bit for bit.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        For a scenario that would take more than 4 GiB or more than 1e10 packets.
    """
    from .engine.loop import run

    positive("duration", duration, "s")
    check(scenario, float(duration))
    world = with_bins(build(scenario, rng), scenario, float(duration))
    desk = desk_of(scenario, world, rng)
    until, ends = 0.0, _ends(scenario)
    while until < duration and not (ends and _delivered(scenario, world)):
        until = min(until + LOOK, float(duration)) if ends else float(duration)
        while (reason := run(world, rng, until)) != records.DONE:
            world = desk.made(world) if reason == records.CALLED else grown(world, reason)
    flows = [_delivery(scenario, world, number, duration) for number in scenario.measured]
    seeds = rng.bit_generator.seed_seq
    seed = {"entropy": getattr(seeds, "entropy", None), "spawn_key": list(getattr(seeds, "spawn_key", ()))}
    seen = traffic(scenario, world, until, desk)
    return Run(scenario, until, flows, seen, int(world.flows["sent"].sum()), int(world.clock["events"][0]), seed)


def _ends(scenario: Scenario) -> bool:
    """Return whether a run is over before its time, as soon as all that is measured has been delivered."""
    sources = [flow.source for flow in scenario.flows if flow.measured]
    return bool(sources) and all(isinstance(source, Stored) for source in sources)


def _delivered(scenario: Scenario, world: records.World) -> bool:
    """Return whether all of each stored video that is measured is there."""
    return all(world.flows[number]["expected"] >= world.flows[number]["total"] for number in scenario.measured)


def _delivery(scenario: Scenario, world: records.World, number: int, duration: float) -> Delivery:
    flow, seen = scenario.flows[number], world.flows[number]
    source = flow.source

    def mean(total: float, count: int) -> float:
        return float(total / count) if count else math.nan

    times = world.log[seen["log"], : seen["expected"]] - flow.start
    whole = isinstance(source, Stored) and len(times) == source.packets and times[-1] > 0
    return Delivery(
        times=times,
        duration=float(times[-1]) if whole else duration - flow.start,
        interval=1 / source.packet_rate if isinstance(source, Steady) else 0.0,
        loss_rate=mean(seen["dropped"], seen["sent"]),
        loss_event_rate=mean(seen["loss_events"], seen["at_risk"]),
        rtt=mean(seen["rtt_sum"], seen["rtts"]),
        rto=mean(seen["rto_sum"], seen["rtos"]),
        sent=int(seen["sent"]),
        timeouts=int(seen["timeouts"]),
        fast_retransmits=int(seen["fast_retransmits"]),
    )
