"""Whole processes: what a command costs before and with its first answer.

The commands take turns, so that a slow minute of the machine meets all of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from .outcome import Outcome

PROBES = Path(__file__).parent / "probes"
DELAY = [
    "delay",
    "--loss",
    "0.02",
    "--rtt",
    "100ms",
    "--rto",
    "300ms",
    "--sender",
    "classic",
    "--rate",
    "25pps",
    "--live",
]

FIRST = (
    "delay --loss 0.005 --rtt 40ms --rate 5Mbps --duration 10min",
    "delay --loss 0.01 --rtt 60ms --rate 1.5Mbps --live",
    "play --loss 0.02 --rtt 100ms --sender classic --max-window 30 --rate 480kbps --duration 1min --start-buffer 2s "
    "--resume-buffer 5s",
    "transfer --loss 0.003 --rtt 40ms --tcp reno-sack --size 2.5MB",
    "simulate --loss 0.02 --rtt 100ms --rate 25pps --live --seconds 20",
)
"""What a newcomer asks for. Each needs other kernels."""


def processes(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """Time every command, and the first answer with an empty cache of kernels."""
    python, command = sys.executable, str(Path(sys.executable).parent / "tcpstream")
    commands = {
        "python -c pass": [python, "-c", "pass"],
        "empty click program --help": [python, str(PROBES / "empty_click.py"), "--help"],
        "tcpstream --help": [command, "--help"],
        "tcpstream --version": [command, "--version"],
        "import tcpstream": [python, "-c", "import tcpstream"],
        "import numpy, scipy": [python, "-c", "import numpy, scipy"],
        "import numba, one cached kernel": [python, str(PROBES / "cached_kernel.py")],
        "tcpstream delay": [command, *DELAY],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for arguments in () if quick else commands.values():
        spent(arguments)
    for _ in range(1 if quick else 9):
        for name, arguments in commands.items():
            seconds[name].append(spent(arguments))
    for name, times in seconds.items():
        yield Outcome(times, method=name)
    cold = []
    for _ in range(1 if quick else 2):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(spent(commands["tcpstream delay"], NUMBA_CACHE_DIR=folder))
    yield Outcome(cold, method="tcpstream delay, empty cache", note="kernels are compiled")
    for line in () if quick else FIRST:
        with tempfile.TemporaryDirectory() as folder:
            empty, full = (spent([command, *line.split()], NUMBA_CACHE_DIR=folder) for _ in range(2))
        yield Outcome([empty], method=f"tcpstream {line}, empty cache", note=f"again: {full:.1f} s")


def spent(arguments: list[str], **environment: str) -> float:
    """Run a command to its end and return the seconds."""
    start = time.perf_counter()
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env=os.environ | environment)
    return time.perf_counter() - start
