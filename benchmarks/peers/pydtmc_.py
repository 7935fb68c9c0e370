"""PyDTMC, in an environment of its own: it does not go with matplotlib 3.8 and later (`make bench` makes it)."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..cases import live_small
from ..chain import embedded_live
from ..outcome import Outcome

PYTHON = Path(sys.prefix) / "peers" / "pydtmc" / "bin" / "python"
CHILD = Path(__file__).parent.parent / "probes" / "pydtmc_child.py"


def stationary(quick: bool, limit: float) -> Iterator[Outcome]:
    """`MarkovChain.stationary_distributions` on chains cut ever deeper, while there is time."""
    if not PYTHON.exists():
        yield Outcome([], method="PyDTMC", note="not installed")
        return
    case = live_small(quick)
    spent = 0.0
    for depth in (5,) if quick else (5, 10, 20, case.depth):
        chain = embedded_live(case, depth)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "chain.npz"
            np.savez(file, matrix=chain.matrix.toarray())
            left = limit - spent
            try:
                run = subprocess.run([PYTHON, CHILD, file], capture_output=True, text=True, timeout=left)
            except subprocess.TimeoutExpired:
                yield Outcome([left], method=f"PyDTMC, {chain.size} states", states=chain.size, stopped=True)
                return
            if run.returncode != 0:
                last = (run.stderr.strip().splitlines() or ["no message"])[-1]
                yield Outcome([], method=f"PyDTMC, {chain.size} states", states=chain.size, note=f"failed: {last}")
                continue
            seconds = json.loads(run.stdout.splitlines()[-1])
            weights = np.load(file.with_suffix(".out.npy"))
        spent += seconds
        yield Outcome(
            [seconds],
            {"f": chain.late_fraction(weights)},
            method=f"PyDTMC, {chain.size} states",
            states=chain.size,
            claimed="rounding",
            note=f"chain cut at a backlog of {depth} packets",
        )
