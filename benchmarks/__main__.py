"""Run the benchmarks: ``python -m benchmarks [--quick] [--only TEXT] [--resume]``."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from datetime import date
from itertools import groupby
from pathlib import Path

from rich.console import Console

from . import report
from .machine import ROOT, commit
from .rows import ROWS, Row
from .worker import append, finish, limit

HERE = Path(__file__).parent
GRACE = 20
"""Seconds that a measurement has beyond its limit, to load, to build and to stop by itself."""


def main() -> int:
    """Measure every row that is asked for, then write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, some minutes; not recorded")
    parser.add_argument("--only", default="", help="rows whose name contains this text; not recorded")
    parser.add_argument("--resume", action="store_true", help="keep what an interrupted run has measured")
    options = parser.parse_args()

    mode = "quick" if options.quick else "full"
    folder = HERE / "runs" / f"{mode}-{commit()}"
    if not options.resume:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    begin = time.perf_counter()
    if options.quick and not options.only:
        for numbers in together():
            start = time.perf_counter()
            measure(numbers, mode, folder)
            console.print(f"{time.perf_counter() - start:7.1f} s  {len(numbers)} rows, from {ROWS[numbers[0]].name} on")
    for number, row in enumerate(ROWS):
        if options.quick and not (row.quick or options.only):
            continue
        if options.only.lower() in row.name.lower() and row.name not in report.finished(folder):
            start = time.perf_counter()
            with console.status(f"{row.name}, at most {limit(row, options.quick):.0f} s"):
                failure = alone(number, row, mode, folder)
            console.print(f"{time.perf_counter() - start:7.1f} s  {row.name}{failure and ': ' + failure}")
    results = report.collect(folder, mode)
    recorded = not (options.quick or options.only)
    target = HERE / "results" if recorded else folder
    target.mkdir(exist_ok=True)
    stem = f"{date.today():%Y-%m-%d}-{commit()}" if recorded else "results"
    text = report.write(results, target, stem)
    console.print(text, markup=False, soft_wrap=True)
    console.print(f"{time.perf_counter() - begin:.0f} s; written to {(target / stem).relative_to(ROOT)}.json and .md")
    return 1 if any(one.get("failed") for one in results["rows"]) else 0


def together() -> list[list[int]]:
    """Return the rows at small sizes by their number, in lists of those that follow each other on as many threads."""
    rows = ((number, row.threads) for number, row in enumerate(ROWS) if row.quick)
    return [[number for number, _ in some] for _, some in groupby(rows, key=lambda one: one[1])]


def alone(number: int, row: Row, mode: str, folder: Path) -> str:
    """Run one row in a new process; say in a word what went wrong, and leave a line about it."""
    before = len(report.read(folder))
    failure = measure([number], mode, folder)
    if failure == "stopped":
        fresh = report.read(folder)[before:]
        method = row.method + (", the rest" if fresh else "")
        seconds = limit(row, mode == "quick") + GRACE
        append(folder, _blank(row, method) | {"seconds": [seconds], "stopped": True, "note": "did not finish"})
        finish(row, folder)
    elif failure:
        append(folder, _blank(row, row.method) | {"failed": True, "note": f"failed: {failure[:200]}"})
    return failure


def measure(numbers: list[int], mode: str, folder: Path) -> str:
    """Run rows of as many threads in a new process, up to the first that fails; say in a word what went wrong."""
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = os.environ | single | {"NUMBA_NUM_THREADS": str(ROWS[numbers[0]].threads)}
    try:
        run = subprocess.run(
            [sys.executable, "-m", "benchmarks.worker", ",".join(map(str, numbers)), mode, str(folder)],
            cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            timeout=sum(limit(ROWS[number], mode == "quick") for number in numbers) + GRACE,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "stopped"
    return (run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[-1] if run.returncode else ""


def _blank(row: Row, method: str) -> dict[str, object]:
    return {"row": row.name, "case": row.case, "method": method, "seconds": []}


if __name__ == "__main__":
    sys.exit(main())
