"""The record of a run: a JSON line a case, and what it comes to."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tcpstream.system import log

from .cases import CHAINS, KINDS, OPTIONS

Record = dict[str, Any]


def read(path: Path) -> list[Record]:
    """Return the records of a file, which may be compressed; a last line that was cut off is left out."""
    if path.suffix != ".gz":
        return log.read(path)
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]


def solved(record: Record) -> bool:
    """Return whether a case was solved and judged."""
    return record["verdict"] in ("agrees", "disagrees")


def by_option(records: Iterable[Record]) -> Counter[tuple[str, str]]:
    """Return the number of solved cases of each chain and option, and of each chain and kind."""
    count: Counter[tuple[str, str]] = Counter()
    for record in records:
        if solved(record):
            tcp, kind = record["case"]["path"]["tcp"], record["case"]["kind"]
            for column in {kind, *record["options"], record["case"]["focus"]} & {*KINDS, *OPTIONS}:
                count[tcp, column] += 1
            count[tcp, "all"] += 1
    return count


def summary(records: list[Record]) -> str:
    """Return tables of what was solved, judged, refused and not run, and the disagreements."""
    verdicts = Counter(record["verdict"] for record in records)
    lines = [", ".join(f"{verdicts[name]} {name}" for name in sorted(verdicts))]
    long, passed = (sum(record.get(name, 0) for record in records) for name in ("too long", "passed over"))
    lines.append(f"{long} forecast above 30 s, not run; {passed} shorter ones passed over")
    done = [record for record in records if solved(record)]
    lines.append(f"{sum(record.get('seconds', 0.0) for record in records) / 60:.1f} minutes of the processor")
    count = by_option(records)
    lines.append(f"{'solved':24}" + "".join(f"{tcp:>11}" for tcp in CHAINS) + f"{'all':>11}")
    for column in ("all", *KINDS, *OPTIONS):
        numbers = [count[tcp, column] for tcp in CHAINS]
        lines.append(f"{column:24}" + "".join(f"{n:11}" for n in [*numbers, sum(numbers)]))
    checks = Counter(name for record in done for name in record.get("checks", []))
    checks["written out"] = sum(record.get("twin", False) for record in done)
    lines.append("identities: " + ", ".join(f"{name} {n}" for name, n in checks.most_common()))
    beside = Counter(str(record.get("agent")) for record in done)
    lines.append("agent: " + ", ".join(f"{name} {n}" for name, n in beside.most_common()))
    lines.append(f"jumps of finite streams in R that the agent has too: {sum('jump' in record for record in done)}")
    silent = Counter(one.split(":")[0] for record in done for one in record.get("not answered", []))
    lines.append("refused within an identity: " + ", ".join(f"{name} {n}" for name, n in silent.most_common()))
    claims = Counter(name.split("(")[0].split("_")[0] for record in done for name in record.get("judged", []))
    lines.append("answers that it judged: " + ", ".join(f"{name} {n}" for name, n in claims.most_common()))
    least = sorted(record["least"] for record in done if record.get("least"))
    if least:
        shares = ", ".join(f"{least[int(u * (len(least) - 1))]:.1e}" for u in (0.0, 0.1, 0.25, 0.5))
        lines.append(f"smallest f judged in a case, quantiles 0, .1, .25, .5: {shares}")
    reasons = Counter(record.get("why", "")[:60] for record in records if record["verdict"] == "refused")
    lines += [f"refused: {n} x {why}" for why, n in reasons.most_common(12)]
    wrong = [record for record in records if record["verdict"] == "disagrees"]
    for record in wrong:
        first = record.get("shrunk", record)["wrong"][0]
        lines.append(f"DISAGREES: case {record['number']}: {first['name']}: {first['found']}")
    return "\n".join(lines)
