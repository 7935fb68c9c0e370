"""Every engine against every other source of the same numbers, on random cases from the whole valid region.

Run ``python validation/differential.py --solved 3000`` (about an hour of a core). It draws paths and videos, solves
them, and holds the answers against

- an agent that draws packets one by one and shares no code with the solvers (`differential_parts.agent`), with
  sequential tests whose rate of false alarms over a whole run is below 1e-3 (`differential_parts.evidence`);
- the chain written out, where it is small (`differential_parts.twins`);
- identities that hold for every answer (`differential_parts.identities`).

Each case becomes a line of the record. A run that is interrupted goes on where it was. What disagrees is made as simple
as it stays wrong, and the run exits with 1. Cases that would take more than 30 s are counted and not run; of those that
take t > 0.25 s a share of 0.25 / t is run, the others are passed over.

``--summary`` prints what a record comes to, ``--case 17`` judges case 17 again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import sys
import time
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from differential_parts.cases import Case, draw
from differential_parts.identities import LEFT_OUT, SOMETIMES
from differential_parts.judge import judged
from differential_parts.record import read, solved, summary
from differential_parts.shrink import shrunk
from tcpstream.system import threads as cores
from tcpstream.system.log import appending

SEED = 14
RESULTS = Path(__file__).parent / "results" / "differential.jsonl"

HANGS = 900.0
"""Seconds after which a case is given up."""


def worker(pipe: Connection, seed: int, simplify: bool) -> None:
    """Judge the cases whose numbers come through a pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    one_core()
    while True:
        number = pipe.recv()
        record = judged(number, seed)
        if simplify and record["verdict"] == "disagrees":
            case, wrong = shrunk(Case.of(record["case"]), record["wrong"])
            record["shrunk"] = {"case": case.to_dict(), "wrong": wrong}
        pipe.send(record)


def one_core() -> None:
    """Let solvers start no threads: a thread that works cannot be interrupted."""
    cores.cores = lambda: 1


class Worker:
    """A process that judges; a new one where it dies."""

    def __init__(self, seed: int, simplify: bool) -> None:
        self.seed, self.simplify = seed, simplify
        self._start()

    def _start(self) -> None:
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=worker, args=(other, self.seed, self.simplify), daemon=True)
        self.process.start()
        other.close()

    def ask(self, number: int) -> None:
        """Hand a case over."""
        self.number, self.since = number, time.monotonic()
        self.pipe.send(number)

    def answer(self) -> dict[str, Any]:
        """Return the record of the case asked for, or that the process has died."""
        try:
            record: dict[str, Any] = self.pipe.recv()
            return record
        except (EOFError, ConnectionResetError):
            self.process.join()
            code = self.process.exitcode
            self._start()
            return _died(self.number, self.seed, f"the process died with {code}")

    def give_up(self) -> dict[str, Any]:
        """End the process, and start a new one; return what is recorded."""
        self.process.kill()
        self.process.join()
        self._start()
        return _died(self.number, self.seed, f"no answer within {HANGS:g} s")


def _died(number: int, seed: int, why: str) -> dict[str, Any]:
    case = draw(number, seed).to_dict()
    return {"number": number, "verdict": "disagrees", "wrong": [{"name": "crash", "found": why}], "case": case,
            "options": [], "seconds": 0.0}  # fmt: skip


def run(path: Path, seed: int, wanted: int, workers: int, budget: float, simplify: bool) -> None:
    """Judge cases until so many are solved, or the seconds are over; append them to the record."""
    records = read(path)
    done = {record["number"] for record in records}
    count, number, begun = sum(map(solved, records)), 0, time.monotonic()
    team = [Worker(seed, simplify) for _ in range(workers)]
    busy: list[Worker] = []
    with appending(path) as append:
        while True:
            more = count < wanted and time.monotonic() - begun < budget
            for one in team:
                if more and one not in busy:
                    while number in done:
                        number += 1
                    done.add(number)
                    one.ask(number)
                    busy.append(one)
            if not busy:
                return
            ready = wait([one.pipe for one in busy], timeout=10)
            for one in list(busy):
                if one.pipe not in ready and time.monotonic() - one.since < HANGS:
                    continue
                record = one.answer() if one.pipe in ready else one.give_up()
                busy.remove(one)
                count += solved(record)
                append(record)
                if record["verdict"] == "disagrees":
                    print(f"case {record['number']}: {json.dumps(record['wrong'])[:400]}", flush=True)


def main() -> None:
    """Run, and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solved", type=int, default=3000, help="cases to be solved")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="time for it")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--record", type=Path, default=RESULTS)
    parser.add_argument("--as-found", action="store_true", help="do not simplify the cases that disagree")
    parser.add_argument("--without", action="append", default=[], choices=SOMETIMES, help="an identity to leave out")
    parser.add_argument("--case", type=int, help="judge one case and print all about it")
    parser.add_argument("--summary", action="store_true", help="print what the record comes to, and run nothing")
    given = parser.parse_args()
    LEFT_OUT.update(given.without)
    if given.case is not None:
        one_core()
        print(json.dumps(judged(given.case, given.seed), indent=1))
        return
    if not given.summary:
        os.environ["NUMBA_NUM_THREADS"] = "1"
        run(given.record, given.seed, given.solved, given.workers, given.seconds, not given.as_found)
    records = read(given.record)
    print(summary(records))
    sys.exit(any(record["verdict"] == "disagrees" for record in records))


if __name__ == "__main__":
    main()
