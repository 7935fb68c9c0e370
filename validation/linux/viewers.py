"""What viewers saw of real players beside the model: ``python validation/linux/viewers.py``.

Makes the captures and the sessions that are missing (as root, with nginx and mpv), solves the model for each capture
that is not solved, and prints the tables of docs/kernel.md. With everything recorded it needs neither.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from namespaces import UnavailableError
from players.captures import MEMORY, captures
from players.cases import CASES, Case
from players.network import available
from players.prediction import FOUND, known, predicted
from players.table import table
from players.verdict import counted, share
from players.watch import watch

from tcpstream.system.log import appending, read

RESULTS = Path(__file__).parents[1] / "results"
CAPTURES = RESULTS / "linux_viewers_captures.jsonl"
SESSIONS, SOLVED = RESULTS / "linux_viewers.jsonl", RESULTS / "linux_viewers_solved.jsonl"

FIRST, MORE, BATCHES = 105, 30, 4
"""Sessions at once, and once more as long as P(any stall) is not known well enough; such series at most."""

ENOUGH = 0.1
"""Half of the interval of P(any stall)."""


def measure(case: Case, index: int) -> dict[str, Any]:
    """Make sessions of a case until P(any stall) is known well enough."""
    record: dict[str, Any] = {"case": case.to_dict(), "routers": [], "sessions": []}
    for batch in range(BATCHES):
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            seed = 1000 * index + batch
            made = watch(case, Path(folder), seed, MORE if batch else FIRST)
        record["routers"].append(made["router"])
        record["sessions"] += made["sessions"]
        if known_well(record):
            break
    return record


def known_well(record: dict[str, Any]) -> bool:
    """Tell whether the interval of P(any stall) is narrower than +- 10 points."""
    stalled = [bool(one.stalls) for one in counted(record)]
    if len(stalled) < 2:
        return False
    found = share(sum(stalled), len(stalled))
    return (found.high - found.low) / 2 < ENOUGH


def capture_missing() -> None:
    """Make a capture over each path that has none."""
    there = [record["path"] for record in read(CAPTURES)]
    missing = [case for index, case in enumerate(CASES) if case.path not in there + [one.path for one in CASES[:index]]]
    if missing:
        available()
        with appending(CAPTURES) as append:
            for record in captures(missing):
                append(record)


def measure_missing() -> None:
    """Make the sessions of all cases that are not recorded."""
    there = {Case(**record["case"]).name for record in read(SESSIONS)}
    missing = [(index, case) for index, case in enumerate(CASES) if case.name not in there]
    if not missing:
        return
    available()
    with appending(SESSIONS) as append:
        for index, case in missing:
            record = measure(case, index)
            append(record)
            print(f"{case.name}: {len(counted(record))} of {len(record['sessions'])} sessions", file=sys.stderr)


def solve_missing() -> None:
    """Solve the model for what each capture shows, and for the path itself, where that is not done."""
    there = [(solved["case"], solved["path"]) for solved in read(SOLVED)]
    found = {str(record["path"]): record["paths"] for record in read(CAPTURES)}
    with appending(SOLVED) as append:
        for record in read(SESSIONS):
            case = Case(**record["case"])
            captured = found[str(case.path)]
            for path in [known(case), *(captured[name] for name in FOUND)]:
                if (record["case"], path) not in there:
                    append({"case": record["case"], "path": path, "answers": predicted(case, path)})
            print(f"{case.name}: solved", file=sys.stderr)


def main() -> int:
    """Measure, solve, and print the tables in Markdown."""
    try:
        capture_missing()
        measure_missing()
    except UnavailableError as error:
        print(error, file=sys.stderr)
        return 2
    solve_missing()
    print(table(read(SESSIONS), read(CAPTURES), read(SOLVED)))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main())
