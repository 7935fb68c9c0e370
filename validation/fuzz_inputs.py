"""Whatever the command line is given ends in an answer or in one line: a seeded fuzz of everything that it reads.

Run ``python validation/fuzz_inputs.py`` (some minutes). It tries 2,000 command lines in this process and 100 more in
processes of their own, 500 TOML files (of sweeps and simulations), 500 saved runs and stores of sweeps, and 500 reports
of ss and iperf3, as ``hostile.py`` and ``damaged.py`` draw them. Each must end, within some seconds, in an answer or in
one line on standard error that says what is wrong: never in a traceback, a warning of Python or numpy, a control
character, or a request to report a failure. What takes longer is a long solve; it is counted as not run, and named. The
record, ``results/fuzz_inputs.json``, is written as it goes: the next run tries again what was wrong, and goes
on. Remove it to start over. ``--family NAME --number N`` repeats a case and shows all that it prints.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import damaged
import hostile
from tcpstream.cli import main as command
from tcpstream.errors import TcpstreamError

RESULTS = FilePath(__file__).parent / "results" / "fuzz_inputs.json"

FAMILIES = {"command lines": 2000, "processes": 100, "TOML files": 500, "saved runs and stores": 500, "reports": 500}

LONGEST, PATIENCE = 10.0, 120.0
"""Seconds of computing after which a case is long, and of waiting."""

MEMORY = 8 * 2**30
"""Address space of a process that tries cases [bytes]."""

ANSWERED, REFUSED, LONG = "answers", "refused in one line", "not run: too long"

HIDDEN = (DeprecationWarning, PendingDeprecationWarning, ResourceWarning)
"""Warnings that Python does not show by default."""


class Done(NamedTuple):
    """What a command line left behind."""

    status: int
    out: str
    err: str


def wrong(done: Done, *, as_json: bool = False) -> str:
    """Return what must not be in an ending, or nothing."""
    status, out, err = done
    lines = err.splitlines()
    if status not in (0, 1, 2, 3):
        return f"exit status {status}"
    if any(not line.startswith("tcpstream: ") for line in lines):
        return "something else than messages on stderr"
    if "please report" in err:
        return "a failure to be reported"
    if any(unicodedata.category(c) == "Cc" and c != "\n" for c in out + err):
        return "a control character"
    if (
        status in (1, 2)
        and sum(not line.startswith(("tcpstream: warning: ", "tcpstream: note: ")) for line in lines) != 1
    ):
        return "not one line"
    if max(map(len, lines), default=0) > 3000:
        return "a line without end"
    if status == 2 and out:
        return "an answer to bad input"
    if status == 0 and not out:
        return "no answer"
    if as_json and out.startswith("{"):
        try:
            json.loads(out, parse_constant=lambda _: 1 / 0)
        except (ValueError, ZeroDivisionError):
            return "no JSON"
    return ""


@contextlib.contextmanager
def redirected(folder: FilePath) -> Iterator[None]:
    """Let everything that is printed, also by compiled code, go to the files ``out`` and ``err`` of a folder."""
    kept, streams = [os.dup(1), os.dup(2)], (sys.stdout, sys.stderr)
    for stream in streams:
        stream.flush()
    try:
        with (folder / "out").open("w", encoding="utf-8") as out, (folder / "err").open("w", encoding="utf-8") as err:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            sys.stdout, sys.stderr = out, err
            yield
    finally:
        sys.stdout, sys.stderr = streams
        for number, one in enumerate(kept, 1):
            os.dup2(one, number)
            os.close(one)


def here(line: list[str], folder: FilePath) -> Done:
    """Run a command line in this process."""
    with redirected(folder):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                for kind in HIDDEN:
                    warnings.simplefilter("ignore", kind)
                status = command(line)
        except BaseException as error:  # what ends in a traceback
            import traceback

            traceback.print_exc(file=sys.stderr)
            status = 1 if isinstance(error, Exception) else 2
    out, err = ((folder / name).read_text(encoding="utf-8", errors="replace") for name in ("out", "err"))
    return Done(status, out, err)


def elsewhere(line: list[str], folder: FilePath) -> Done:
    """Run a command line in a process of its own."""
    arguments = [os.fsencode(part) for part in (sys.executable, "-m", "tcpstream", *line)]
    done = subprocess.run(arguments, capture_output=True, cwd=folder, timeout=PATIENCE, check=False)
    return Done(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def try_case(family: str, number: int, *, show: bool = False) -> tuple[str, str]:
    """Return how a case ended, and what is wrong with that."""
    rng = random.Random(f"{family} {number}")
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder, aside = FilePath(name, "work"), FilePath(name)
        folder.mkdir()
        os.chdir(folder)
        if family == "saved runs and stores":
            return _asked(rng, folder)
        draw = {"TOML files": hostile.toml, "reports": hostile.report}.get(family, hostile.command)
        line = [part.replace("\0", "") for part in draw(rng, folder)]
        if show:
            print(line, *sorted(folder.iterdir()), flush=True)
        try:
            done = elsewhere(line, folder) if family == "processes" else here(line, aside)
        except subprocess.TimeoutExpired:
            return LONG, ""
        if show:
            print(*done, sep="\n")
        fault = wrong(done, as_json="--json" in line)
        last = done.err.strip().splitlines()[-1:]
        return (REFUSED if done.status in (1, 2) else ANSWERED), fault and f"{fault}: {line} {last}"[:1000]


def _asked(rng: random.Random, folder: FilePath) -> tuple[str, str]:
    """Return how a question to a damaged file ended, and what is wrong with that."""
    ask = rng.choice((damaged.run_file, damaged.store))(rng, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in HIDDEN:
            warnings.simplefilter("ignore", kind)
        try:
            ask()
            return ANSWERED, ""
        except TcpstreamError as error:
            return REFUSED, "" if str(error).isprintable() else f"a control character: {error!r}"
        except BaseException as error:
            return REFUSED, f"{type(error).__name__}: {error}"[:1000]


def _work(orders: Any, family: str) -> None:
    """Try the cases whose numbers come, and send back how they ended."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if family == "saved runs and stores":
        damaged.saved()
    orders.send("ready")
    while True:
        orders.send(try_case(family, orders.recv()))


class Worker:
    """A process that tries cases, and is replaced when one of them takes too long or ends it."""

    def __init__(self, family: str) -> None:
        self.family = family
        self.process: Any = None

    def try_case(self, number: int) -> tuple[str, str]:
        """Return how a case ended, and what is wrong with that."""
        if self.process is None:
            context = multiprocessing.get_context("fork")
            self.orders, theirs = context.Pipe()
            self.process = context.Process(target=_work, args=(theirs, self.family), daemon=True)
            self.process.start()
            theirs.close()
            self.orders.recv()
        try:
            self.orders.send(number)
            begun, end = self.computing(), time.monotonic() + PATIENCE
            while not self.orders.poll(0.5):
                if self.computing() - begun > LONGEST or time.monotonic() > end:
                    return self.stop(LONG, "")
            ended: tuple[str, str] = self.orders.recv()
            return ended
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return self.stop(REFUSED, f"the process ended: {self.process.exitcode}")

    def computing(self) -> float:
        """Return the seconds that the process has computed."""
        fields = FilePath(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self, ending: str = "", fault: str = "") -> tuple[str, str]:
        """End the process, and return how its case ended."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None
        return ending, fault


def fuzz(family: str, count: int, record: dict[str, Any]) -> None:
    """Try the cases of a family that are not in its record yet, and write the record as it grows."""
    found = record.setdefault(family, {"cases": 0, "endings": {}, "wrong": {}, "too long": []})
    endings, worker = Counter(found["endings"]), Worker(family)
    again = {int(number): ending for number, (ending, _) in found["wrong"].items()}
    endings.subtract(again.values())
    found["wrong"] = {}
    for number in (*again, *range(found["cases"], count)):
        ending, fault = worker.try_case(number)
        endings[ending] += 1
        if fault:
            found["wrong"][str(number)] = ending, fault
            print(family, number, fault, flush=True)
        if ending == LONG:
            found["too long"].append(number)
        found |= {"cases": max(number + 1, found["cases"]), "endings": dict(+endings)}
        if number % 20 == 19 or number + 1 == count:
            RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    worker.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("--number", type=int)
    given = parser.parse_args()
    if given.number is not None:
        print(*try_case(given.family, given.number, show=True), sep="\n")
        return
    record = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for family, count in FAMILIES.items():
        if given.family in (None, family):
            fuzz(family, count, record)
    print(json.dumps({family: found["endings"] | {"wrong": len(found["wrong"])} for family, found in record.items()}))


if __name__ == "__main__":
    main()
