"""TFRC of the simulator: beside its equation, alone on a link, beside ns-2's TFRC, and beside TCP.

Run ``python validation/ns2/tfrc.py`` (some 20 minutes on two cores; interrupted, it goes on where it was), or with
``--recorded`` to print what was found before. ``--part`` takes one part alone; that of ns-2 needs ns-2.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, NamedTuple

import numpy as np
from tfrc_conditions import ALONE, EQUATION, NS2, TCP, Bottleneck
from tfrc_flows import SECONDS, WARMUP, by_equation, here, measured_here, measured_there, received
from tfrc_tables import TABLES
from witness import Record, mean_and_margin, require_ns, rounded

SEEDS = 3
CORES = 2

SETTINGS = {"seeds": SEEDS, "seconds": SECONDS, "warmup_s": WARMUP}
"""Of all runs but those beside the equation."""


def equation(case: Any) -> dict[str, Any]:
    """Return means over seeds of `by_equation`, and halves of their 95% intervals."""
    return _means([by_equation(case, seed) for seed in range(1, SEEDS + 1)])


def alone(case: Bottleneck) -> dict[str, Any]:
    """Return which part of its link a flow has, without and with the options of the RFC: a run each."""
    plain, options = (received(here(case, 1, options=one))[0] / case.rate for one in (False, True))
    return {"plain": rounded(plain), "options": rounded(options)}


OPTIONS = {"none": (0, 0, 0), "weights": (0, 1, 0), "all": (1, 1, 1)}
"""Of ns-2: ``discount_``, ``smooth_`` and ``ca_``. With ``smooth_`` intervals have the weights of the RFC."""


def ns2(case: Bottleneck) -> dict[str, Any]:
    """Return p, R and X in ns-2 and here, without history discounting and X_inst, and with both."""
    seeds = range(1, SEEDS + 1)
    there = {
        f"ns2 {name}": _means([measured_there(case, seed, *one) for seed in seeds]) for name, one in OPTIONS.items()
    }
    plain, options = (_means([measured_here(case, seed, options=one) for seed in seeds]) for one in (False, True))
    return there | {"sim none": plain, "sim all": options}


def tcp(case: Bottleneck) -> dict[str, Any]:
    """Return the rates of TFRC and TCP, means over flows [bit/s], and their ratio."""
    rows = []
    for seed in range(1, SEEDS + 1):
        found = received(here(case, seed, tcp=case.flows))
        paced, window = np.mean(found[: case.flows]), np.mean(found[case.flows :])
        rows.append({"tfrc": paced, "tcp": window, "ratio": paced / window, "used": sum(found) / case.rate})
    return _means(rows)


def _means(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return means, and halves of their 95% intervals under ``margin``."""
    mean, margin = mean_and_margin([list(row.values()) for row in rows])
    names = list(rows[0])
    return dict(zip(names, rounded(mean))) | {"margin": dict(zip(names, rounded(margin, 2)))}


class Part(NamedTuple):
    """What is compared in which conditions."""

    cases: Sequence[Any]
    compare: Callable[[Any], dict[str, Any]]


PARTS = {
    "equation": Part(EQUATION, equation),
    "alone": Part(ALONE, alone),
    "ns2": Part(NS2, ns2),
    "tcp": Part(TCP, tcp),
}


def key(part: str, case: Any) -> str:
    """Return the name of a case in the record."""
    return f"{part}: {case.key}"


def work(parts: Sequence[str], record: Record) -> None:
    """Compare what is not in the record, on all cores."""
    missing = [(part, case) for part in parts for case in PARTS[part].cases if key(part, case) not in record.cases]
    begin = time.perf_counter()
    with ProcessPoolExecutor(CORES) as pool:
        futures = {pool.submit(PARTS[part].compare, case): key(part, case) for part, case in missing}
        for number, future in enumerate(as_completed(futures), 1):
            record.add(futures[future], future.result())
            print(f"{time.perf_counter() - begin:6.0f} s  {number}/{len(missing)}  {futures[future]}", flush=True)


def main() -> None:
    """Compare, record and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--recorded", action="store_true", help="print what was found before")
    parser.add_argument("--part", choices=PARTS, help="one part alone")
    options = parser.parse_args()
    parts = [options.part] if options.part else list(PARTS)
    record = Record("tfrc.json", SETTINGS)
    if not options.recorded:
        if "ns2" in parts:
            require_ns()
        work(parts, record)
    for part in parts:
        cases = [(case, record.cases[key(part, case)]) for case in PARTS[part].cases if key(part, case) in record.cases]
        print(f"{part}\n{TABLES[part](cases)}\n")


if __name__ == "__main__":
    main()
