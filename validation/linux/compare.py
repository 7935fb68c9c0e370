"""Kernel throughputs beside the chains': ``python validation/linux/compare.py [RECORDS]``.

Reads the records of ``matrix.py`` and solves the chain of each run's losses: `reno` where a loss takes the rest of its
round along, `reno-sack` where losses are independent and SACK is on. Runs that were disturbed are left out. R is once
the propagation delay of the emulated path and once the mean round trip that the kernel measured, which includes the
receiver's delayed acknowledgements; the timer is the kernel's. Whether a loss ends in a timeout was chosen by looking
at the runs with R = 0.05 s, which are marked with a star and do not count below.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path as FilePath
from typing import Any

from conditions import disturbed

from tcpstream import Path, throughput

RECORDS = FilePath(__file__).parent.parent / "results" / "linux_runs.jsonl"

CHAINS = {("round", "reno"): "reno", ("bernoulli", "reno"): "reno-sack"}
"""Chain by losses and kernel TCP, with SACK."""

TUNED = 0.05
"""Round trip delay of the runs that were looked at before [s]."""

CLOSE = 0.05
"""Relative difference that counts as agreement."""


def chain(record: dict[str, Any], rtt: float) -> float | None:
    """Return T of a run's chain with a round trip time [packets/s]; None for a run that no chain describes."""
    condition = record["condition"]
    name = CHAINS.get((condition["losses"], condition["tcp"]))
    if name is None or not condition["sack"] or condition["packet_rate"] or disturbed(record):
        return None
    return throughput(Path(loss=condition["p"], rtt=rtt, rto=max(record["rto"], rtt), tcp=name))


def main() -> int:
    """Print the table."""
    file = FilePath(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    if not file.exists():
        print(f"no records in {file}: run matrix.py first", file=sys.stderr)
        return 2
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    records.sort(key=lambda record: [record["condition"][key] for key in ("losses", "p", "rtt")])
    print("losses     p      R [s]   kernel T +- s.e.     chain/kernel: R of the path, R as measured")
    ratios: dict[str, list[tuple[float, float]]] = {}
    for record in records:
        condition, T = record["condition"], record["throughput"]
        found = [chain(record, rtt) for rtt in (condition["rtt"], record["rtt"])]
        if found[0] is None or found[1] is None:
            continue
        pair = found[0] / T, found[1] / T
        tuned = condition["rtt"] == TUNED and condition["losses"] == "bernoulli"
        if not tuned:
            ratios.setdefault(condition["losses"], []).append(pair)
        print(
            f"{condition['losses']:9}  {condition['p']:<6g} {condition['rtt']:<6g}{'*' if tuned else ' '} "
            f"{T:8.1f} +- {record['throughput_error']:<6.1f}   {pair[0]:20.3f} {pair[1]:16.3f}"
        )
    for losses, pairs in ratios.items():
        for what, column in zip(("of the path", "as measured"), zip(*pairs)):
            close = sum(abs(ratio - 1) <= CLOSE for ratio in column)
            print(
                f"{losses}, R {what}: {close} of {len(column)} runs within {CLOSE:.0%}, "
                f"chain/kernel {min(column):.3f} to {max(column):.3f}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
