"""The sixty ordinary inputs, each answered in a process of its own: ``python -m benchmarks.ordinary NUMBER``.

An answer is f at `DELAYS` startup delays, for stored video alpha at the same, and the required delay; for `rate` the
rate first. It is timed twice, in CPU seconds, and the second time counts: kernels are there then. Where the first takes
long it counts itself.
"""

from __future__ import annotations

import json
import math
import resource
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import tcpstream
from tcpstream import Path, Video
from tcpstream.errors import TcpstreamError

from .machine import ROOT
from .ordinary_inputs import Input, inputs
from .ours import varied
from .outcome import Outcome

Record = dict[str, Any]

DELAYS = 40

SPAN = 1.5
"""Delays are spread up to this many times the required one."""

FIRST, SHORTEST = 4, 10
"""Rounds from which, and up to which at least, they are spread: below, alpha comes from an exact solve only."""

AGAIN = 10.0
"""CPU seconds of a first answer that is not repeated."""

METHODS = tuple(f"{number:02} {one.command}" for number, one in enumerate(inputs(), 1))
"""What the rows are called."""


def answer(quick: bool, limit: float, number: int) -> Iterator[Outcome]:  # noqa: ARG001
    """Answer an input, and run its command; each may take half of the limit."""
    one = inputs()[number]
    lines, stopped = _run([sys.executable, "-m", "benchmarks.ordinary", str(number)], limit / 2)
    found: Record = json.loads(lines[-1]) if lines else {}
    if "refused" in found:
        yield Outcome([], note=f"refused: {found['refused']}", figures={"verdict": "refused"})
        return
    if "seconds" not in found:
        yield Outcome([limit / 2], stopped=stopped, note="" if stopped else "failed", figures={"verdict": "stopped"})
        return
    before = _children()
    _, stopped = _run([sys.executable, "-m", "tcpstream", *shlex.split(one.command)], limit / 2)
    command = math.inf if stopped else _children() - before
    error = found["relative_error"]
    yield Outcome(
        [found["seconds"]],
        claimed="" if error is None else f"f within {error:.1g} of itself",
        note=f"whole command {command:.2g} s; required delay {found['required']:.4g} s",
        figures=found | {"verdict": "answered", "command_seconds": command if math.isfinite(command) else None},
    )


def _run(command: list[str], limit: float) -> tuple[list[str], bool]:
    """Return the lines that a command writes, and whether it was stopped after some seconds."""
    try:
        ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=limit)
    except subprocess.TimeoutExpired as expired:
        return (expired.stdout or b"").decode().splitlines(), True
    return ran.stdout.decode().splitlines(), False


def _children() -> float:
    """Return the CPU seconds of the processes that were waited for."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def answered(one: Input, repetition: int) -> Record:
    """Return the answers to an input, and what they took."""
    begun, start = time.perf_counter(), time.process_time()
    path = varied(Path(**one.path), repetition)
    found: Record = {"T/mu": None}
    given = dict(one.video)
    if one.question == "rate":
        given["packet_rate"] = found["rate"] = tcpstream.largest_rate(path, delay=one.delays[0])
    video = Video(**given)
    result: Any = (tcpstream.live if one.kind == "live" else tcpstream.stored)(path, video)
    required = float(result.required_delay())
    delays = np.linspace(FIRST * path.rtt, max(SPAN * required, SHORTEST * path.rtt), DELAYS)
    found["f"] = np.asarray(result.late_fraction(delays)).tolist()
    if one.kind == "stored":
        found["no_late"] = np.asarray(result.no_late_probability(delays)).tolist()
    found["seconds"] = time.process_time() - start
    found["wall_seconds"] = time.perf_counter() - begun
    found |= {"required": required, "delays": delays.tolist(), "T/mu": 1 / result.load}
    return found | {"relative_error": stated(result, required)}


def stated(result: Any, delay: float) -> float | None:
    """Return what a result says about the relative error of f at a delay."""
    for name in ("relative_error", "lattice_error"):
        if hasattr(result, name):
            return float(getattr(result, name)(delay))
    return float(result.quantum_error)


def main() -> None:
    """Answer an input, and write a line for each time that it was."""
    one = inputs()[int(sys.argv[1])]
    try:
        found = answered(one, 0)
        print(json.dumps(found | {"first_seconds": found["seconds"]}), flush=True)
        if found["seconds"] < AGAIN:
            print(json.dumps(answered(one, 1) | {"first_seconds": found["seconds"]}), flush=True)
    except (TcpstreamError, MemoryError) as error:
        print(json.dumps({"refused": str(error) or type(error).__name__}), flush=True)


if __name__ == "__main__":
    main()
