"""Every answer about a viewer beside sessions drawn at random, on random cases.

Run ``python validation/viewing.py --workers 2`` (about an hour). It draws 300 cases, of every chain and every player of
`tcpstream.play` and of `tcpstream.transfer_time`, by turns, from a seed before anything is solved
(`viewing_parts.cases`). Each number that an answer has is held against what sessions see that agents draw round by
round, written from docs/theory.md, docs/stalls.md and docs/segments.md without the solvers (`viewing_parts.players`,
`viewing_parts.downloads`, `differential_parts.agent`). It is wrong where it is off by more than four standard errors
and what it states itself, and so beside four times as many sessions of another seed.

Each case becomes a line of the record. A run that is interrupted goes on where it was. ``--summary`` prints what a
record comes to, ``--case 17`` judges case 17 again. The exit status is 1 where anything disagrees.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tcpstream.system import threads as cores
from tcpstream.system.log import appending, read
from viewing_parts.cases import draw
from viewing_parts.judge import judged
from viewing_parts.record import summary

CASES = 300

RESULTS = Path(__file__).parent / "results" / "viewing.jsonl"

HANGS = 900.0
"""Seconds after which a case is given up."""

Record = dict[str, Any]


def main() -> int:
    """Judge the cases that are not in the record yet, and print what it comes to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=CASES, help="how many cases the record shall have")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no case is begun after these seconds")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--record", type=Path, default=RESULTS, help="file of JSON lines")
    parser.add_argument("--case", type=int, help="judge one case and print all about it")
    parser.add_argument("--summary", action="store_true", help="print what the record comes to, and run nothing")
    given = parser.parse_args()
    cores.cores = lambda: 1  # a thread that works cannot be interrupted
    if given.case is not None:
        print(json.dumps(judged(draw(given.case)), indent=1))
        return 0
    if not given.summary:
        run(given.record, given.cases, given.workers, given.seconds)
    records = sorted(read(given.record), key=lambda record: int(record["number"]))
    print(summary(records))
    return int(any(record["verdict"] == "disagrees" for record in records))


def run(file: Path, cases: int, workers: int, seconds: float) -> None:
    """Judge cases, each in a process of its own, and append them to the record."""
    known = {record["number"] for record in read(file)}
    left = [number for number in range(cases) if number not in known]
    begun = time.monotonic()
    busy: dict[Connection, tuple[int, float, Any]] = {}
    with appending(file) as append:
        while left or busy:
            while left and len(busy) < workers and time.monotonic() - begun < seconds:
                number = left.pop(0)
                here, there = multiprocessing.Pipe(duplex=False)
                process = multiprocessing.get_context("fork").Process(target=_send, args=(there, number))
                process.start()
                there.close()
                busy[here] = number, time.monotonic(), process
            if not busy:
                return
            ready = wait(list(busy), timeout=10)
            for pipe, (number, since, process) in list(busy.items()):
                if pipe not in ready and time.monotonic() - since < HANGS:
                    continue
                record = _received(pipe, number) if pipe in ready else _died(number, f"no answer within {HANGS:g} s")
                process.kill()
                process.join()
                del busy[pipe]
                append(record)
                print(f"{number:4d} {record['verdict']:10s} {record['case']['kind']}", flush=True)


def _send(pipe: Connection, number: int) -> None:
    try:
        pipe.send(judged(draw(number)))
    except Exception as error:  # what raises is a finding
        pipe.send(_died(number, f"{type(error).__name__}: {error}"))


def _received(pipe: Connection, number: int) -> Record:
    try:
        record: Record = pipe.recv()
        return record
    except EOFError:
        return _died(number, "the process died")


def _died(number: int, why: str) -> Record:
    return {"number": number, "case": draw(number).to_dict(), "verdict": "disagrees", "why": why}


if __name__ == "__main__":
    sys.exit(main())
