"""What the coarse engine states about its errors, beside exact answers and simulation, on random cases.

Run ``python validation/coarse.py --cases 200 --seconds 3600``. By turns a case is drawn as the ordinary inputs of the
benchmarks are, and smaller. It is solved by ``accuracy="fine"``, and held against the exact answer where that takes at
most two minutes, else against a simulation of the chain (`chain_simulation`), directly or by splitting, whichever has
the smaller standard error; where that says wrong, an exact answer decides, if there is one in half an hour. A late
fraction is wrong if it differs by more than the result states and four standard errors; so is the probability that
something is late.

Each case becomes a line of the record, and a run goes on where the last one ended. ``--again`` solves the cases of the
record once more and holds them against the references that are there, which takes a small part of the time. The exit
status is 1 if anything is wrong, and 2 where the library does not state these errors.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tcpstream
from tcpstream import Path, Video
from tcpstream.errors import AccuracyError, InputError, TcpstreamError

HERE = FilePath(__file__).parent
sys.path.insert(0, str(HERE.parent))

from benchmarks.ordinary_inputs import ORDINARY, Input, Ranges, drawn  # noqa: E402
from chain_simulation.direct import simulate  # noqa: E402
from chain_simulation.splitting import split  # noqa: E402

Floats = NDArray[np.float64]
Record = dict[str, Any]

RESULTS = HERE / "results" / "coarse.jsonl"

SEED = 90_000

SMALL = Ranges(
    losses=(5e-3, 0.2), round_trips=(20.0, 300.0), rates=(0.064, 5.0), lengths=(10.0, 120.0),
    live=("--live", "--duration 1min"), largest_window=200,
)  # fmt: skip

TARGETS = (0.3, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
"""Late fractions at whose startup delays is compared."""

FINE, EXACT = 300.0, 120.0
"""Seconds that a coarse and an exact answer may take."""

DECIDES = 1800.0
"""Seconds that an exact answer may take where a simulation says that something is wrong: its own error is an estimate,
which rare paths that it never saw make too small."""

SIMULATED = 20.0
"""Seconds of direct simulation of a case, on each core."""

RARE = 0.02
"""Relative standard error above which a late fraction is simulated by splitting, too."""

SEEN = 0.3
"""Relative standard error above which a reference says nothing."""

REFERENCES = ("reference", "error", "late_reference", "late_error")
"""What a record has of the answers that are held against."""

SURE = 4
"""Standard errors."""

MISSING = 'this tcpstream has no stored(..., accuracy="fine") and live(..., accuracy="fine"), or no '


class NotStatedError(Exception):
    """The library lacks what is to be checked."""


def case(number: int) -> Input:
    """Draw case 0, 1, ..., the first of its own seed."""
    return Input.of(next(drawn(SEED + number, SMALL if number % 2 else ORDINARY)))


def solved(one: Input, **how: Any) -> Any:
    """Solve a case in some way."""
    solve: Any = tcpstream.live if one.kind == "live" else tcpstream.stored
    return solve(Path(**one.path), Video(**one.video), **how)


def fine(one: Input, delays: list[float] | None = None) -> Record:
    """Return the coarse answers, by default at the delays of all targets, and what they state about themselves."""
    try:
        result = solved(one, accuracy="fine")
    except TypeError:
        raise NotStatedError(MISSING + "errors beside them") from None
    for name in ("relative_error", "no_late_error")[: 2 if one.kind == "stored" else 1]:
        if not hasattr(result, name):
            raise NotStatedError(f"{MISSING}{type(result).__name__}.{name}")
    start = time.process_time()
    delays = delays or sorted(
        {float(result.required_delay(target)) for target in TARGETS if target >= 10 * result.error_bound}
    )
    found = {"delays": delays, "T/mu": 1 / result.load, "f": np.asarray(result.late_fraction(delays)).tolist()}
    found["stated"] = [float(result.relative_error(delay)) for delay in delays]
    if one.kind == "stored":
        known = [no_late(result, delay) for delay in delays]
        found["late"] = [None if alpha is None else 1 - alpha for alpha in known]
        found["late_stated"] = [
            None if alpha is None else float(result.no_late_error(delay)) for alpha, delay in zip(known, delays)
        ]
    return found | {"fine_seconds": time.process_time() - start}


def no_late(result: Any, delay: float) -> float | None:
    """Return alpha at a delay, or None where it is refused: up to a round trip an exact solve is needed."""
    try:
        return float(result.no_late_probability(delay))
    except AccuracyError:
        return None


def exact(one: Input, delays: list[float]) -> Record | None:
    """Return exact answers at some delays, or None where there are none."""
    try:
        result = solved(one, **({"quantum": 1} if one.kind == "stored" else {"accuracy": "exact"}))
    except (TypeError, InputError):  # no such way to solve it
        return None
    f = np.asarray(result.late_fraction(delays))
    error = f * np.asarray(result.lattice_error(delays)) / SURE if one.kind == "live" else 0 * f
    found = {"reference": f.tolist(), "error": (error + result.error_bound).tolist()}
    if one.kind == "stored":
        found["late_reference"] = (1 - np.asarray(result.no_late_probability(delays))).tolist()
        found["late_error"] = (0 * f + result.error_bound).tolist()
    return found


def simulation(one: Input, delays: list[float], seed: int) -> Record:
    """Return simulated answers at some delays, with standard errors."""
    path, video, live = Path(**one.path), Video(**one.video), one.kind == "live"
    found = simulate(path, video, delays, live=live, seed=seed, seconds=SIMULATED)
    f, error = found.late_fraction, found.late_error
    rare = (f <= 0) | (error > RARE * f)
    if rare.any():
        again = split(path, video, np.asarray(delays)[rare], live=live, seed=seed + 1)
        g, its = again.late_fraction, again.late_error
        better = (g > 0) & (its > 0) & ((f[rare] <= 0) | (its * f[rare] < error[rare] * g))
        f[rare], error[rare] = np.where(better, g, f[rare]), np.where(better, its, error[rare])
    result = {"reference": f.tolist(), "error": error.tolist(), "rounds": found.rounds}
    if not live:
        result |= {"late_reference": (1 - found.no_late).tolist(), "late_error": found.no_late_error.tolist()}
    return result


def judged(number: int, limit: float = EXACT) -> Record:
    """Solve a case, find what it should be, and compare."""
    one = case(number)
    record: Record = {"number": number, "command": one.command, "kind": one.kind}
    ours = limited(FINE, fine, one)
    if ours is None:
        return record | {"verdict": f"no answer in {FINE:g} s"}
    if "refused" in ours:
        return record | {"verdict": "refused"} | ours
    if not ours["delays"]:
        return record | {"verdict": "no target can be reached"} | ours
    truth = limited(limit, exact, one, ours["delays"])
    by = "exact"
    if truth is None or "refused" in truth:
        by, truth = "simulated", simulation(one, ours["delays"], number)
    found = record | ours | compared(one, ours, truth) | {"by": by}
    if found["verdict"] == "wrong" and by == "simulated":
        truth = limited(DECIDES, exact, one, ours["delays"])
        if truth is not None and "refused" not in truth:
            found |= compared(one, ours, truth) | {"by": "exact"}
    return found


def again(record: Record) -> Record:
    """Solve a case of the record once more, and compare with its references."""
    if "reference" not in record:
        return record
    one = case(record["number"])
    record = {name: value for name, value in record.items() if name != "refused"}
    ours = limited(FINE, fine, one, record["delays"])
    if ours is None or "refused" in ours:
        return record | (ours or {}) | {"verdict": "refused" if ours else f"no answer in {FINE:g} s"}
    return record | ours | compared(one, ours, {name: record[name] for name in REFERENCES if name in record})


def compared(one: Input, ours: Record, truth: Record) -> Record:
    """Return what is held against the answers to a case, and the verdict."""
    record = truth | {"f_excess": excess(ours["f"], ours["stated"], truth["reference"], truth["error"])}
    if one.kind == "stored":
        record["late_excess"] = excess(ours["late"], ours["late_stated"], truth["late_reference"], truth["late_error"])
    over = [x for x in record["f_excess"] + record.get("late_excess", []) if x is not None]
    return record | {"verdict": "wrong" if any(x > 1 for x in over) else "right" if over else "not seen"}


def excess(
    found: list[float | None], stated: list[float | None], reference: list[float], error: list[float]
) -> list[float | None]:
    """Return differences over what is allowed; None where there is no answer or the reference says nothing."""
    result: list[float | None] = []
    for mine, share, its, spread in zip(found, stated, reference, error, strict=True):
        if mine is None or share is None or its <= 0 or spread > SEEN * its:
            result.append(None)
            continue
        result.append(float(f"{abs(mine - its) / max(share * its + SURE * spread, 1e-300):.3g}"))
    return result


def limited(seconds: float, work: Callable[..., Record | None], *arguments: Any) -> Record | None:
    """Return what a function returns in a process of its own, or None if that takes longer.

    What the library refuses is returned as ``{"refused": ...}``.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(there, work, *arguments))
    process.start()
    there.close()
    try:
        answer = here.recv() if here.poll(seconds) else None
    except EOFError:
        answer = {"refused": "the process ended without an answer"}
    process.kill()
    process.join()
    if isinstance(answer, NotStatedError):
        raise answer
    return answer


def _send(pipe: Connection, work: Callable[..., Record | None], *arguments: Any) -> None:
    try:
        pipe.send(work(*arguments))
    except NotStatedError as error:
        pipe.send(error)
    except (TcpstreamError, MemoryError) as error:
        pipe.send({"refused": f"{type(error).__name__}: {error}"})


def summary(records: list[Record]) -> str:
    """Say what a record comes to."""
    verdicts = [record["verdict"] for record in records]
    lines = [f"{verdicts.count(verdict):5d} {verdict}" for verdict in sorted(set(verdicts))]
    for name in ("f_excess", "late_excess"):
        values = [x for record in records for x in record.get(name, []) if x is not None]
        if values:
            lines.append(
                f"{name.split('_')[0]}: {len(values)} compared, difference at most {max(values):.3g} of allowed"
            )
    wrong = [
        f"wrong: case {record['number']}: {record['command']}" for record in records if record["verdict"] == "wrong"
    ]
    return "\n".join(lines + wrong)


def main() -> int:
    """Judge the cases that are not in the record yet, and print what it comes to."""
    parser = argparse.ArgumentParser(description="hold the stated errors of the coarse engine against other answers")
    parser.add_argument("--cases", type=int, default=200, help="how many cases the record shall have")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no case is begun after these seconds")
    parser.add_argument("--limit", type=float, default=EXACT, help="seconds that an exact answer may take")
    parser.add_argument("--again", action="store_true", help="solve again what the record has, with its references")
    parser.add_argument("--record", type=FilePath, default=RESULTS, help="file of JSON lines")
    options = parser.parse_args()
    lines = options.record.read_text(encoding="utf-8").splitlines() if options.record.exists() else []
    records: list[Record] = [json.loads(line) for line in lines if line.endswith("}")]
    known = {record["number"] for record in records}
    start = time.monotonic()
    try:
        for i, record in enumerate(records if options.again else []):
            if time.monotonic() - start > options.seconds:
                break
            records[i] = again(record)
            options.record.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
            print(f"{record['number']:4d} {record['verdict']:10s} -> {records[i]['verdict']}", flush=True)
        for number in range(0 if options.again else options.cases):
            if number in known or time.monotonic() - start > options.seconds:
                continue
            records.append(judged(number, options.limit))
            print(f"{number:4d} {records[-1]['verdict']:10s} {records[-1]['command']}", flush=True)
            with options.record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(records[-1]) + "\n")
    except NotStatedError as error:
        print(error, file=sys.stderr)
        return 2
    print(summary(records))
    return 1 if any(record["verdict"] == "wrong" for record in records) else 0


if __name__ == "__main__":
    sys.exit(main())
