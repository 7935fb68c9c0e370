"""Answers of many cases to all digits, to see that a change of the code changes no number.

Run ``python validation/answers.py --out before.jsonl`` on the one version and ``--out after.jsonl`` on the other (five
minutes of a core each), then ``python validation/answers.py --compare before.jsonl after.jsonl``. The cases are the
first 500 that the differential harness has solved (``results/differential.jsonl``). The comparison names every number
that differs by more than 1e-12 of itself, beyond the error bounds of both; it exits with 1 where there is one.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from differential_parts.cases import Case
from differential_parts.identities import solve
from tcpstream import EndlessLive, InputWarning, StoredStreaming, TcpstreamError, throughput
from tcpstream.system.log import appending, read

CASES = Path(__file__).parent / "results" / "differential.jsonl"

CLOSE = 1e-12
"""Relative difference up to which two numbers are the same."""

ALPHA = 2
"""Delays for which alpha is asked: each is a pass of its own."""


def cases(count: int) -> list[dict[str, Any]]:
    """Return the first records that hold a solved case, by number."""
    records = read(CASES)
    solved = sorted((one for one in records if "solve" in one), key=lambda one: one["number"])
    return solved[:count]


def answers(case: Case, delays: list[float]) -> dict[str, Any]:
    """Return the numbers of one case."""
    found: dict[str, Any] = {"T": throughput(case.to_path())}
    try:
        result = solve(case)
        found["f"] = np.asarray(result.late_fraction(delays)).tolist()
        found["error_bound"] = result.error_bound
        for target in (1e-2, 1e-4):
            if target > 10 * result.error_bound:
                found[f"delay {target:g}"] = result.required_delay(target)
        if isinstance(result, EndlessLive):
            found |= result.decay_rates
        if isinstance(result, StoredStreaming) and result.quantum == 1:
            found["P"] = [float(x) for x in result.late_probability_per_round(delays[0])[:200]]
            found["alpha"] = [float(result.no_late_probability(tau)) for tau in delays[:ALPHA]]
    except TcpstreamError as error:
        found["refused"] = f"{type(error).__name__}: {error}"
    return found


def record(out: Path, count: int) -> None:
    """Solve the cases that `out` does not hold yet, and append their answers."""
    done = {one["number"] for one in read(out)}
    warnings.simplefilter("ignore", InputWarning)
    with appending(out) as append:
        for one in cases(count):
            if one["number"] not in done:
                found = answers(Case.of(one["case"]), one["delays"])
                append({"number": one["number"], **found})


def compare(before: Path, after: Path) -> int:
    """Print what differs, and return how many cases do."""
    found = [{one["number"]: one for one in read(path)} for path in (before, after)]
    common = sorted(found[0].keys() & found[1].keys())
    differing, largest, numbers = 0, 0.0, 0
    for number in common:
        one, other = found[0][number], found[1][number]
        bound = one.get("error_bound", 0.0) + other.get("error_bound", 0.0)
        wrong = []
        for name in sorted((one.keys() | other.keys()) - {"error_bound", "number"}):
            if isinstance(one.get(name), str) or name not in one or name not in other:
                if one.get(name) != other.get(name):
                    wrong.append(f"{name}: {one.get(name)} / {other.get(name)}")
                continue
            a, b = np.atleast_1d(one[name]), np.atleast_1d(other[name])
            numbers += a.size
            apart = np.abs(a - b)
            relative = apart / np.maximum(np.abs(a), 1e-300)
            same = (apart <= CLOSE * np.abs(a)) | (a == b)
            allowed = same | (apart <= bound) if name in ("f", "P", "alpha") else same
            largest = max(largest, float(relative[~same].max(initial=0.0)))
            if not allowed.all():
                at = int(np.argmax(np.where(allowed, 0, relative)))
                wrong.append(f"{name}[{at}]: {a[at]!r} / {b[at]!r}, relative {relative[at]:.1e}, bound {bound:.1e}")
        if wrong:
            differing += 1
            print(f"case {number}: " + "; ".join(wrong))
    print(f"{len(common)} cases in both, {numbers} numbers; {differing} cases differ; "
          f"largest relative difference above {CLOSE:g}: {largest:.1e}")  # fmt: skip
    return differing + len(found[0].keys() ^ found[1].keys())


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="file that the answers are appended to")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"))
    given = parser.parse_args()
    if given.out:
        record(given.out, given.cases)
    if given.compare:
        sys.exit(compare(*given.compare) > 0)


if __name__ == "__main__":
    main()
