"""What the packet-level simulator and ns-2 are timed on, and how long the simulator takes: CPU without start-up."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np

from tcpstream.sim import Bernoulli, Link, Scenario, simulate, single_path

from .machine import ROOT
from .outcome import Outcome

sys.path.insert(0, str(ROOT / "validation" / "ns2"))

SETTING = "live 2"
"""Of the dumbbell; ten file transfers, the video included, and 640 web connections."""

REPETITIONS = 5


ONE_FLOW, TOPOLOGY = 20_000.0, 2_000.0
"""How long is simulated [s]; a tenth of it with `--quick`."""


def shorter(seconds: float, quick: bool) -> float:
    """Return how long is simulated [s]."""
    return seconds / 10 if quick else seconds


def flow() -> Scenario:
    """Return one backlogged Reno flow, 2% independent losses, 100 ms."""
    return single_path(Link(0.05, loss=Bernoulli(0.02)), Link(0.05))


def dumbbell(seed: int) -> Scenario:
    """Return the paper's topology with web requests."""
    from network import SETTINGS, drawn

    return drawn(SETTINGS[SETTING], seed, web=True)


def outcome(packets: list[int], seconds: list[float], simulated: float) -> Outcome:
    """Return a row that says how many packets are sent per second of CPU, in so many simulated seconds."""
    rate = float(np.median(np.array(packets) / np.array(seconds)))
    return Outcome(
        seconds,
        note=f"{rate:,.0f} packets/s of CPU; {simulated:,.0f} s simulated, {np.mean(packets):,.0f} packets",
        figures={"packets_per_second": rate, "packets": float(np.mean(packets))},
    )


def one_flow(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """One flow."""
    yield _timed([flow()] * REPETITIONS, shorter(ONE_FLOW, quick))


def topology(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """All the topology."""
    yield _timed([dumbbell(seed) for seed in range(REPETITIONS)], shorter(TOPOLOGY, quick))


def _timed(scenarios: list[Scenario], simulated: float) -> Outcome:
    simulate(scenarios[0], 1.0, np.random.default_rng(0))  # compiles
    packets, seconds = [], []
    for seed, scenario in enumerate(scenarios):
        start = time.process_time()
        packets.append(simulate(scenario, simulated, np.random.default_rng(seed)).packets)
        seconds.append(time.process_time() - start)
    return outcome(packets, seconds, simulated)
