"""Kernel TCP over emulated paths: ``python validation/linux/matrix.py [--hours H] [--at-once N]``, as root.

Runs every condition in a process of its own, several at once, and appends each record when its run ends: an interrupted
matrix goes on where it was. Long runs first. Runs that a busy machine disturbed are kept,
marked, and made again the next time.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from conditions import Condition, disturbed, everything
from namespaces import UnavailableError, check
from records import RAW

from tcpstream.system.log import appending, read

HERE = Path(__file__).parent
ONE_THREAD = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
"""Environment of a run: the memory that it locks is small."""


def records() -> list[dict[str, Any]]:
    """Return the runs so far."""
    return read(RAW)


def one(condition: Condition) -> dict[str, Any] | None:
    """Make a run in a process of its own; None if it failed."""
    command = [sys.executable, str(HERE / "run.py"), json.dumps(condition.to_dict())]
    done = subprocess.run(command, env=ONE_THREAD, capture_output=True, text=True, timeout=condition.seconds + 3600)
    if done.returncode != 0:
        print(f"{condition.name}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def main() -> int:
    """Make the runs that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=4.0, help="start no run that would end later (default 4)")
    parser.add_argument("--at-once", type=int, default=16, help="runs at once (default 16)")
    parser.add_argument(
        "--only", default="", help="regular expression in the kind (file, live, stored, pieces) and name of a run"
    )
    chosen = parser.parse_args()
    try:
        check()
    except UnavailableError as error:
        print(error, file=sys.stderr)
        return 2
    end = time.monotonic() + 3600 * chosen.hours
    good = {Condition(**record["condition"]).name for record in records() if not disturbed(record)}
    todo = [one for one in everything() if one.name not in good and re.search(chosen.only, f"{one.kind} {one.name}")]

    def work(condition: Condition) -> dict[str, Any] | None:
        return one(condition) if time.monotonic() + condition.seconds < end else None

    with ThreadPoolExecutor(chosen.at_once) as pool, appending(RAW) as append:
        futures = {pool.submit(work, condition): condition for condition in todo}
        for number, future in enumerate(as_completed(futures), 1):
            record = future.result()
            if record is None:
                continue
            append(record)
            marked = ", disturbed" if disturbed(record) else ""
            print(f"{number}/{len(todo)} {futures[future].name}{marked}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
