"""Running a scenario, and what a measured flow saw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, positive
from .engine import records
from .scenario import Scenario
from .size import check
from .sources import Steady
from .world import build, grown

Floats = NDArray[np.float64]

ROUNDING = 1e-9
"""A packet is late if it comes more than this after it is played [s]."""


@dataclass(frozen=True)
class Delivery:
    """What a measured TCP flow delivered, and what its path was like.

    Attributes
    ----------
    times : (n,) array
        When each packet was delivered in order [s from the flow's start]; nondecreasing.
    duration : float
        How long the flow was watched [s].
    interval : float
        Time between packets of a live source [s], 0 for a backlogged one.
    loss_rate : float
        p as Section 4 measures it: dropped over sent packets.
    loss_event_rate : float
        First losses over packets sent while nothing was missing.
    rtt : float
        R, the mean from sending a packet to its acknowledgement, of packets sent once [s].
    rto : float
        Mean retransmission timer, before back-off [s].
    sent, timeouts, fast_retransmits : int
    """

    times: Floats
    duration: float
    interval: float
    loss_rate: float
    loss_event_rate: float
    rtt: float
    rto: float
    sent: int
    timeouts: int
    fast_retransmits: int

    @property
    def timeout_ratio(self) -> float:
        """T_O = R_TO / R; NaN for a path without delay."""
        return self.rto / self.rtt if self.rtt else math.nan

    @property
    def throughput(self) -> float:
        """T, packets delivered in order per second."""
        return len(self.times) / self.duration

    def late_fraction(
        self, startup_delay: ArrayLike, packet_rate: float | None = None, duration: float | None = None
    ) -> Any:
        """Return the fraction of packets that come after they are played.

        Parameters
        ----------
        startup_delay : array_like
            tau [s].
        packet_rate : float, optional
            mu of a stored video [packets/s]; a live one has its source's.
        duration : float, optional
            Length of a stored video [s]. By default packets are judged that are played while the flow is watched.

        Returns
        -------
        float or ndarray
        """
        lateness = self._lateness(packet_rate) - ROUNDING
        delays = np.asarray(startup_delay, dtype=float)
        found = [float((self._judged(lateness, tau, packet_rate, duration) > tau).mean()) for tau in delays.ravel()]
        return np.reshape(found, delays.shape) if delays.ndim else found[0]

    def late(
        self, startup_delay: float, packet_rate: float | None = None, duration: float | None = None
    ) -> NDArray[np.bool_]:
        """Return whether each packet comes after it is played; parameters as `late_fraction`."""
        return self._judged(self._lateness(packet_rate), startup_delay, packet_rate, duration) > startup_delay

    def no_late(self, startup_delay: float, packet_rate: float | None = None, duration: float | None = None) -> bool:
        """Return whether no packet comes after it is played; parameters as `late_fraction`."""
        return bool(self.late_fraction(startup_delay, packet_rate, duration) == 0.0)

    def stalls(
        self, startup_delay: float, packet_rate: float | None = None, duration: float | None = None
    ) -> tuple[int, float]:
        """Return how often a player stalls that waits for what is missing, and for how long in all [s].

        A stall that lasts when the flow is no longer watched is counted until then; parameters as `late_fraction`.
        """
        interval = self._interval(packet_rate)
        count = None if duration is None else math.ceil(duration / interval - 1e-9)
        late = np.maximum.accumulate(np.maximum(self._lateness(packet_rate)[:count], startup_delay))
        steps = np.diff(late, prepend=startup_delay)
        steps = steps[steps > ROUNDING]
        number, seconds = len(steps), float(steps.sum())
        due = startup_delay + seconds + interval * len(late)
        if (count is None or len(late) < count) and due < self.duration - ROUNDING:
            return number + 1, seconds + self.duration - due
        return number, seconds

    def _interval(self, packet_rate: float | None) -> float:
        if packet_rate is not None:
            return 1 / positive("packet rate", packet_rate, "packets/s")
        if self.interval == 0:
            raise InputError("stored media need a packet rate [packets/s]")
        return self.interval

    def _lateness(self, packet_rate: float | None) -> Floats:
        """Startup delay that each packet would need to be in time [s]."""
        return self.times - self._interval(packet_rate) * np.arange(len(self.times))

    def _judged(self, lateness: Floats, tau: float, packet_rate: float | None, duration: float | None) -> Floats:
        """Lateness of the packets that are played while the flow is watched, or of the whole video."""
        end = self.duration - tau if duration is None else duration
        count = max(0, math.ceil(end / self._interval(packet_rate) - 1e-9))
        if count == 0:
            raise InputError(f"no packet is played within {self.duration:g} s after a startup delay of {tau:g} s")
        missing = max(0, count - len(lateness))
        return np.concatenate([lateness[:count], np.full(missing, math.inf)])


@dataclass(frozen=True)
class Run:
    """One simulation.

    Attributes
    ----------
    scenario : Scenario
    duration : float
        [s].
    flows : list of Delivery
        Of the measured flows, in their order.
    packets : int
        Packets sent by all flows.
    events : int
    seed : dict
        ``entropy`` and ``spawn_key`` of the `numpy.random.SeedSequence` of the generator.
    """

    scenario: Scenario
    duration: float
    flows: list[Delivery]
    packets: int
    events: int
    seed: dict[str, Any]

    def save(self, file: str | PathLike[str]) -> None:
        """Write the run, with its scenario, to a file (.npz), or raise `InputError`."""
        from .store import write_npz

        write_npz(self, file)

    @classmethod
    def load(cls, file: str | PathLike[str]) -> Run:
        """Return a run that was saved, or raise `InputError`."""
        from .store import read_npz

        return read_npz(file)

    def write_csv(self, file: str | PathLike[str], flow: int = 0) -> None:
        """Write ``packet,generated_s,delivered_s`` of a measured flow, or raise `InputError`.

        Times are seconds from the flow's start; what a backlogged sender sends is there from the start. Lines that
        begin with # say what was simulated, by which version.
        """
        from .store import write_csv

        write_csv(self, file, flow)


def simulate(scenario: Scenario, duration: float, rng: np.random.Generator) -> Run:
    """Simulate a scenario packet by packet.

    Parameters
    ----------
    scenario : Scenario
    duration : float
        How long [s].
    rng : numpy.random.Generator
        Of loss processes, and of where in their requests connections start. The same generator in the same state
        gives the same run, bit for bit.

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
    world = build(scenario, rng)
    while (full := run(world, rng, float(duration))) != records.DONE:
        world = grown(world, full)
    flows = [_delivery(scenario, world, number, duration) for number in scenario.measured]
    seeds = rng.bit_generator.seed_seq
    seed = {"entropy": getattr(seeds, "entropy", None), "spawn_key": list(getattr(seeds, "spawn_key", ()))}
    return Run(scenario, duration, flows, int(world.flows["sent"].sum()), int(world.clock["events"][0]), seed)


def _delivery(scenario: Scenario, world: records.World, number: int, duration: float) -> Delivery:
    flow, seen = scenario.flows[number], world.flows[number]
    source = flow.source

    def mean(total: float, count: int) -> float:
        return float(total / count) if count else math.nan

    return Delivery(
        times=world.log[seen["log"], : seen["expected"]] - flow.start,
        duration=duration - flow.start,
        interval=1 / source.packet_rate if isinstance(source, Steady) else 0.0,
        loss_rate=mean(seen["dropped"], seen["sent"]),
        loss_event_rate=mean(seen["loss_events"], seen["at_risk"]),
        rtt=mean(seen["rtt_sum"], seen["rtts"]),
        rto=mean(seen["rto_sum"], seen["rtos"]),
        sent=int(seen["sent"]),
        timeouts=int(seen["timeouts"]),
        fast_retransmits=int(seen["fast_retransmits"]),
    )
