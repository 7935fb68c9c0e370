"""Would a test notice? Small errors are put into the source one at a time, and the tests beside it are run.

Run ``python validation/mutation.py`` (five mutants a file; ``--each N``, ``--only TEXT`` for the files whose name
contains it). Which mutants are drawn follows from the seed, the file and the mutated statement alone, so an edit
elsewhere does not draw others; the mutants that the map names come before them. Each ends as a line of
results/mutation.jsonl: caught, and by which test, or survived. An interrupted run goes on; a record whose statement is
gone from the file is forgotten. ``--again`` tries the survivors once more. A survivor that no test can catch, since it
computes the same, gets its ``argument`` in that file by hand (docs/decisions/0048-mutation-testing.md). ``--report``
counts.

Mutants live in a copy of the source. The compiler's cache and Python's know a file by its time and size alone: what
they hold of a mutated file is removed before and after.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mutants import Mutant, mutants, named
from mutation_map import NAMED, TESTS

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "validation" / "results" / "mutation.jsonl"
SOURCE = Path("src") / "tcpstream"
OUTPUT = "output.txt"
LIMIT = 100
"""Processor seconds after which a run of tests counts as endless: no unmutated one needs a third of it."""

MEMORY = 2**33
"""Bytes that a run of tests may address."""

PRELOADED = ("hypothesis.strategies", "numba", "pandas", "scipy.optimize", "scipy.sparse.linalg")
"""What most tests need, loaded once: each run of tests is forked from here."""

Record = dict[str, Any]


def main() -> int:
    """Run the mutants that are asked for; return 1 where one survives without an argument."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=5, help="mutants a file")
    parser.add_argument("--only", default="", help="files whose name contains this text")
    parser.add_argument("--again", action="store_true", help="try survivors without an argument once more")
    parser.add_argument("--report", action="store_true", help="run nothing")
    options = parser.parse_args()

    records = current(read())
    if not options.report:
        os.environ |= {"OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
        for name in PRELOADED:
            import_module(name)
        with tempfile.TemporaryDirectory() as folder:
            sandbox = Path(folder)
            copy(sandbox)
            for file in (file for file in TESTS if options.only in file):
                chosen = drawn(file, options.each)
                known = {key(record): record for record in records}
                again = [r for r in known.values() if options.again and r["file"] == file and open_(r)]
                todo = [one for one in chosen if one.key not in known]
                todo += [one for one in all_of(file) if one.key in {key(record) for record in again}]
                for record in run(sandbox, file, todo):
                    records = [old for old in records if key(old) != key(record)] + [record]
                    write(records)
                    print(f"{record['seconds']:6.1f} s  {file}:{record['line']}  {record['caught'] or 'SURVIVED'}")
    write(records)
    report(records)
    return int(any(map(open_, records)))


def all_of(file: str) -> list[Mutant]:
    """Return every mutant of a file, each statement and change once."""
    text = (ROOT / SOURCE / file).read_text("utf-8")
    return list({one.key: one for one in [*reversed(list(mutants(file, text))), *by_name(file)]}.values())


def by_name(file: str) -> list[Mutant]:
    """Return the mutants of a file that the map names."""
    text = (ROOT / SOURCE / file).read_text("utf-8")
    return [named(file, text, before, after) for where, before, after in NAMED if where == file]


def drawn(file: str, count: int) -> list[Mutant]:
    """Return the named mutants of a file, and the first of all in an order that only they themselves decide."""
    ranked = sorted(all_of(file), key=lambda one: hashlib.sha256("\0".join(one.key).encode()).digest())
    return list({one.key: one for one in by_name(file) + ranked[:count]}.values())


def copy(sandbox: Path) -> None:
    """Copy what is mutated, and what its tests read."""
    shutil.copytree(ROOT / "src", sandbox / "src")
    shutil.copytree(ROOT / "tests", sandbox / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "examples", "docs", "notebooks", "validation"):
        (sandbox / name).symlink_to(ROOT / name)


def run(sandbox: Path, file: str, todo: list[Mutant]) -> Iterator[Record]:
    """Run the tests of a file against its mutants, after they have passed without."""
    target = sandbox / SOURCE / file
    kept = [(path, path.read_bytes(), path.stat()) for path in (target, *cached(target))]
    if todo and (caught := trial(sandbox, TESTS[file])[0]):
        print((sandbox / OUTPUT).read_text("utf-8"), f"{file}: left out; not mutated, and yet {caught}", sep="\n")
        return
    for one in todo:
        forget(target)
        target.write_text(one.text, "utf-8")
        caught, seconds = trial(sandbox, TESTS[file])
        yield {"file": file, "line": one.line, "before": one.before, "after": one.after,
               "caught": caught, "seconds": round(seconds, 1)}  # fmt: skip
    forget(target)
    for path, data, stat in kept:
        path.write_bytes(data)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def cached(target: Path) -> list[Path]:
    """Return what Python and the compiler have made of a file."""
    return list((target.parent / "__pycache__").glob(f"{target.stem}.*"))


def forget(target: Path) -> None:
    """Remove what was made of a file."""
    for path in cached(target):
        path.unlink()


def trial(sandbox: Path, tests: tuple[str, ...]) -> tuple[str, float]:
    """Return which test fails first, empty where none does, and the processor time [s]."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=session, args=(sandbox, tests, theirs))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child.start()
    theirs.close()
    child.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if child.exitcode and child.exitcode < 0:
        return f"the process: {signal.Signals(-child.exitcode).name}", seconds
    with contextlib.suppress(EOFError):
        return (ours.recv() if child.exitcode else ""), seconds
    return f"pytest: exit status {child.exitcode}", seconds


def session(sandbox: Path, tests: tuple[str, ...], answer: Any) -> None:
    """Run tests in this process, which is one of its own."""

    class First:
        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed:
                answer.send(report.nodeid)

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                answer.send(f"{report.nodeid}: not imported")

    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(sandbox)
    with Path(OUTPUT).open("w") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    os.environ["PYTHONPATH"] = str(sandbox / "src")
    sys.path.insert(0, str(sandbox / "src"))
    quiet = ("-m", "", "-x", "-n0", "--assert=plain", "-p", "no:cacheprovider", "-c", "pyproject.toml")
    status = pytest.main([*quiet, *tests], plugins=[First()])
    os._exit(int(status))


def key(record: Record) -> tuple[str, str, str]:
    """Return what a record is known by."""
    return record["file"], record["before"], record["after"]


def open_(record: Record) -> bool:
    """Return whether nothing catches a mutant and nothing excuses it."""
    return not (record["caught"] or record.get("argument"))


def read() -> list[Record]:
    """Return what was recorded."""
    return [json.loads(line) for line in RESULTS.read_text("utf-8").splitlines()] if RESULTS.exists() else []


def current(records: list[Record]) -> list[Record]:
    """Return the records whose mutants still exist, on the lines where they are now."""
    lines = {one.key: one.line for file in {record["file"] for record in records} & set(TESTS) for one in all_of(file)}
    return [record | {"line": lines[key(record)]} for record in records if key(record) in lines]


def write(records: list[Record]) -> None:
    """Record, files in the order of their names."""
    records.sort(key=lambda record: (record["file"], record["line"], record["after"]))
    partial = RESULTS.with_suffix(".partial")
    partial.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")
    partial.replace(RESULTS)


def report(records: list[Record]) -> None:
    """Print the counts by file."""
    rows: dict[str, Counter[str]] = {}
    for record in records:
        outcome = "caught" if record["caught"] else "equivalent" if record.get("argument") else "survived"
        for name in (record["file"], "all"):
            rows.setdefault(name, Counter())[outcome] += 1
    print(f"{'file':30}{'caught':>10}{'survived':>10}{'equivalent':>12}")
    for name, counts in sorted(rows.items(), key=lambda row: (row[0] == "all", row[0])):
        print(f"{name:30}{counts['caught']:>10}{counts['survived']:>10}{counts['equivalent']:>12}")
    if rows:
        caught, survived = rows["all"]["caught"], rows["all"]["survived"]
        print(f"caught of those that differ: {caught / max(1, caught + survived):.1%}")


if __name__ == "__main__":
    sys.exit(main())
