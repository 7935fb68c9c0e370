"""Measurements in a process of their own: ``python -m benchmarks.worker NUMBER,... MODE FOLDER``.

Every outcome is appended to a file as soon as there is one; what it has to say for comparison goes beside it.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from importlib import import_module
from pathlib import Path

import numpy as np

from .report import FINISHED
from .rows import ROWS, Row

MEMORY = 0.8
"""Share of the machine's memory that a measurement may take."""


def main() -> None:
    """Measure the rows with the numbers given, all on as many threads."""
    rows, mode, folder = [ROWS[int(number)] for number in sys.argv[1].split(",")], sys.argv[2], Path(sys.argv[3])
    most = int(MEMORY * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    if rows[0].threads == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for row in rows:
        measure(row, mode == "quick", folder)
        finish(row, folder)


def measure(row: Row, quick: bool, folder: Path) -> None:
    """Append an outcome a line to ``outcomes.jsonl`` in the folder."""
    module, name = row.function.split(":")
    function = getattr(import_module(f".{module}", __package__), name)
    for count, outcome in enumerate(function(quick, limit(row, quick), *row.arguments)):
        record = {
            "row": row.name,
            "case": row.case,
            "method": outcome.method or row.method,
            "seconds": [float(f"{value:.6g}") for value in outcome.seconds],
            "states": outcome.states,
            "claimed": outcome.claimed,
            "note": outcome.note,
            "stopped": outcome.stopped,
            "extrapolated": outcome.extrapolated,
            "memory_bytes": peak_memory(),
            "figures": {key: plain(value) for key, value in outcome.figures.items()},
        }
        if outcome.answer:
            file = f"{slug(row.name)}-{count}.npz"
            np.savez(folder / file, allow_pickle=False, **outcome.answer)
            record["answer"] = file
        append(folder, record)


def finish(row: Row, folder: Path) -> None:
    """Write that a row is done."""
    with (folder / FINISHED).open("a", encoding="utf-8") as file:
        file.write(row.name + "\n")


def append(folder: Path, record: dict[str, object]) -> None:
    """Write one line, complete or not at all."""
    with (folder / "outcomes.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def limit(row: Row, quick: bool) -> float:
    """Return the seconds that a row may take."""
    return row.limit / 10 if quick else row.limit


def peak_memory() -> int:
    """Return the largest resident set so far, of this process and those it waited for [bytes]."""
    own, others = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return 1024 * max(own, others)


def plain(value: object) -> object:
    """Return numpy's numbers as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def slug(name: str) -> str:
    """Return a name that a file can have."""
    return "".join(letter if letter.isalnum() else "-" for letter in name)


if __name__ == "__main__":
    main()
