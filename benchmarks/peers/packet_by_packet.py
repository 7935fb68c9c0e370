"""Packet by packet at ordinary rates: what a standard error of 1% at f = 1e-4 takes in the bundled simulator and ns-2.

How many seconds of video that takes follows from the simulated chain, what a second costs from a short run.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator

import numpy as np

from tcpstream import Path, Video
from tcpstream.sim import Backlogged, Bernoulli, Link, Steady, Tcp, simulate, single_path

from ..machine import ROOT
from ..ordinary_inputs import Input, inputs
from ..outcome import Outcome
from .chain_monte_carlo import simulated
from .ns2 import MISSING

sys.path.insert(0, str(ROOT / "validation" / "ns2"))

CHAIN = 5.0
"""Seconds for the simulation of the chain."""

PACKETS = 1e6
"""That are sent in the run that is timed."""


def simulator(quick: bool, limit: float, number: int) -> Iterator[Outcome]:  # noqa: ARG001
    """Extrapolate for the bundled simulator."""
    one = inputs()[number]
    path, rate, seconds = _run(one, quick)
    tcp = Tcp("sack", max_window=path.max_window, initial_window=1, slow_start=False, timer="rfc6298", granularity=0.0)
    there, back = Link(path.rtt / 2, loss=Bernoulli(path.loss)), Link(path.rtt / 2)
    scenario = single_path(there, back, tcp, Steady(rate) if one.kind == "live" else Backlogged())
    simulate(scenario, 1.0, np.random.default_rng(0))  # compiles
    start = time.process_time()
    packets = simulate(scenario, seconds, np.random.default_rng(1)).packets
    yield _outcome(one, f"simulator {number + 1:02}", time.process_time() - start, seconds, packets)


def ns2(quick: bool, limit: float, number: int) -> Iterator[Outcome]:  # noqa: ARG001
    """Extrapolate for ns-2."""
    name = f"ns-2 {number + 1:02}"
    if shutil.which("ns") is None:
        yield Outcome([], method=name, note=MISSING)
        return
    from witness import lines

    one = inputs()[number]
    path, rate, seconds = _run(one, quick)
    steady = rate if one.kind == "live" else 0
    *_, last = lines("calibrate.tcl", path.loss, path.rtt, "Sack1", 1, seconds, 1, steady, 0, path.max_window)
    end = [float(word) for word in last.split()[1:]]
    yield _outcome(one, name, end[-1], seconds, int(end[0]))


def _run(one: Input, quick: bool) -> tuple[Path, float, float]:
    """Return path, playback rate [packets/s] and the seconds of a run that sends about `PACKETS`."""
    path, rate = Path(**one.path), Video(**one.video).packet_rate
    return path, rate, (PACKETS / 10 if quick else PACKETS) / rate


def _outcome(one: Input, name: str, spent: float, seconds: float, packets: int) -> Outcome:
    needed = simulated(one, CHAIN)["video_seconds"]
    return Outcome(
        [spent / seconds * needed],
        method=name,
        note=f"{packets / spent:,.0f} packets/s of CPU; {needed:.2g} s of video for a standard error of 1%",
        extrapolated=True,
        figures={"packets_per_second": packets / spent, "video_seconds": needed},
    )
