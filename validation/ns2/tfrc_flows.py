"""TFRC in this simulator and in ns-2, on the same path."""

from __future__ import annotations

from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
from tfrc_conditions import SIZE, Bottleneck, Equation
from witness import lines

from tcpstream.sim import Bernoulli, Flow, Link, Run, Scenario, Tcp, Tfrc, simulate
from tcpstream.sim.tfrc.equation import throughput
from tcpstream.sim.tfrc.tfrc_figures import figures

WARMUP = 60.0
"""Not looked at [s]."""

SECONDS = 360.0

WIDE = 4000
"""Largest window of TCP: it limits nothing [packets]."""


def by_equation(case: Equation, seed: int) -> dict[str, float]:
    """Return what a flow with independent losses measures, and its rate over that of the equation."""
    way = case.rtt / 2
    links = {"there": Link(way, loss=Bernoulli(case.loss)), "back": Link(way)}
    flow = Flow(("there",), ("back",), None, Tfrc(SIZE))
    warmup = 0.1 * case.seconds
    rng = np.random.default_rng([seed, round(1e6 * case.rtt)])  # R only sets the clock: other losses for each
    run = simulate(Scenario(links, (flow,), bins=warmup), warmup + case.seconds, rng)
    seen, bins = figures(run.traffic[0], warmup, run.duration), run.traffic[0].bins
    assert bins is not None
    rate = bins.sent[1:].sum() / case.seconds
    return {
        "events": seen["loss_event_rate"],
        "p": seen["p"],
        "R": seen["rtt_s"],
        "ratio": rate / throughput(SIZE, seen["rtt_s"], seen["loss_event_rate"]),
        "ratio_p": rate / throughput(SIZE, seen["rtt_s"], seen["p"]),
        "ratio_loss": rate / throughput(SIZE, case.rtt, case.loss),
    }


def here(case: Bottleneck, seed: int, *, tcp: int = 0, options: bool = False) -> Run:
    """Run flows of TFRC, and as many as said of TCP, on a link; starts are drawn from the first two seconds."""
    loss = Bernoulli(case.loss) if case.loss else None
    links = {
        "there": Link(case.rtt / 2, case.rate, queue=case.queue, loss=loss),
        "back": Link(case.rtt / 2),
    }
    jitter = 8 * SIZE / case.rate
    rng = np.random.default_rng(seed)
    paced = Tfrc(SIZE, discounting=options, damping=options, jitter=jitter)
    sack = Tcp("sack", max_window=WIDE, packet_size=SIZE, jitter=jitter)
    starts = 2 * rng.random(case.flows + tcp)
    kinds: list[dict[str, Any]] = [{"tcp": None, "source": paced}] * case.flows + [{"tcp": sack}] * tcp
    flows = [Flow(("there",), ("back",), start=float(start), **kind) for start, kind in zip(starts, kinds)]
    return simulate(Scenario(links, tuple(flows), bins=WARMUP), SECONDS, rng)


def received(run: Run) -> list[float]:
    """Return what each flow received after the warm-up [bit/s]."""
    found = []
    for seen in run.traffic:
        assert seen.bins is not None
        found.append(8 * float(seen.bins.received[1:].sum()) / (SECONDS - WARMUP))
    return found


def measured_here(case: Bottleneck, seed: int, *, options: bool) -> dict[str, float]:
    """Return p and R, means over reports, and the rate of a flow [bit/s]."""
    run = here(case, seed, options=options)
    found = {"X": float(np.mean(received(run)))}
    for name, note in (("p", "p"), ("R", "rtt")):
        values = [seen.noted(note) for seen in run.traffic]
        found[name] = float(np.concatenate([value[times >= WARMUP] for times, value in values]).mean())
    return found


def measured_there(case: Bottleneck, seed: int, *options: int) -> dict[str, float]:
    """Run ns-2 with its options, and return the same of it: twice, since its timer of 4 R has to be told R."""
    found = _ns2(case, seed, 4 * case.rtt, options)
    return _ns2(case, seed, 4 * found["R"], options)


def _ns2(case: Bottleneck, seed: int, timer: float, options: tuple[int, ...]) -> dict[str, float]:
    p, R = [], []
    rate = 0.0
    path = (case.rate, case.rtt / 2, case.queue, case.loss, case.flows)
    with NamedTemporaryFile("r") as file:
        for line in lines("tfrc.tcl", *path, SECONDS, WARMUP, seed, timer, *options, file.name):
            words = line.split()
            if words[0] == "time:" and float(words[1]) >= WARMUP:
                if words[2] == "loss_rate:":
                    p.append(float(words[3]))
                elif words[2] == "rate:":
                    rate = float(words[3])
                elif words[2] == "packetrate:" and rate > 0:
                    R.append(float(words[3]) * SIZE / rate)
        sent = float(file.read())
    return {"p": float(np.mean(p)), "R": float(np.mean(R)), "X": 8 * sent / case.flows / (SECONDS - WARMUP)}
