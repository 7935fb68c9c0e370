"""ns-2 from Python: run a script, read what it traced, keep what was found."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

HERE = FilePath(__file__).parent
RESULTS = HERE.parent / "results"
MISSING = "ns is not installed: apt-get install ns2"


def require_ns() -> None:
    """Leave with status 2 where there is no ns-2."""
    if shutil.which("ns") is None:
        print(MISSING, file=sys.stderr)
        sys.exit(2)


def lines(script: str, *arguments: object) -> Iterator[str]:
    """Run a script of this folder, and yield what it writes while it runs."""
    command = ["ns", str(HERE / script), *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        yield from process.stdout
        if process.wait() != 0 or (problem := process.stderr.read().strip()):
            raise RuntimeError(f"{' '.join(command)}: {problem if process.returncode == 0 else process.returncode}")


class InOrder:
    """Puts what arrives in order, as a receiver does.

    Attributes
    ----------
    times : list of float
        When each packet was delivered in order [s].
    """

    def __init__(self) -> None:
        self.times: list[float] = []
        self._early: set[int] = set()

    def arrived(self, number: int, time: float) -> None:
        """Take the arrival of packet `number` at a time [s]."""
        if number >= len(self.times):
            self._early.add(number)
            while len(self.times) in self._early:
                self._early.remove(len(self.times))
                self.times.append(time)


def mean_and_margin(values: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean over independent runs (first axis), and half of its 95% interval."""
    runs = np.asarray(values, dtype=float)
    if len(runs) < 2:
        return runs.mean(axis=0), np.full(runs.shape[1:], math.nan)
    spread = runs.std(axis=0, ddof=1) / math.sqrt(len(runs))
    return runs.mean(axis=0), student.ppf(0.975, len(runs) - 1) * spread


def rounded(value: Any, digits: int = 5) -> Any:
    """Return numbers, alone or in lists, with a few digits."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [rounded(one, digits) for one in value]
    return float(f"{float(value):.{digits}g}")


class Record:
    """Finished cases in a file, so that an interrupted run goes on where it was.

    Parameters
    ----------
    name : str
        File in the folder of results.
    settings : mapping
        What all cases share; cases found with other settings are not kept.
    """

    def __init__(self, name: str, settings: Mapping[str, Any]) -> None:
        self.file = RESULTS / name
        self.settings = json.loads(json.dumps(settings))
        self.cases: dict[str, dict[str, Any]] = {}
        if self.file.exists():
            found = json.loads(self.file.read_text())
            if found["settings"] == self.settings:
                self.cases = found["cases"]

    def add(self, key: str, case: dict[str, Any]) -> None:
        """Keep a finished case."""
        self.cases = dict(sorted((self.cases | {key: case}).items()))
        RESULTS.mkdir(exist_ok=True)
        rows = ",\n".join(f"  {json.dumps(key)}: {json.dumps(case)}" for key, case in self.cases.items())
        whole = f'{{\n "settings": {json.dumps(self.settings)},\n "cases": {{\n{rows}\n }}\n}}\n'
        self.file.write_text(whole)


def columns(rows: Sequence[Sequence[object]]) -> str:
    """Return rows of cells as text, right-aligned under the first row."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[k]) for row in texts) for k in range(len(texts[0]))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in texts)
