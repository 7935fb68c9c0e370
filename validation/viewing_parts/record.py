"""The record of a run: a JSON line a case, and what it comes to."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Any

from .cases import KINDS
from .judge import SURE

Record = dict[str, Any]


def summary(records: list[Record]) -> str:
    """Return what was held against sessions, how far it was off, and what was refused."""
    count = Counter(record["verdict"] for record in records)
    lines = [f"{len(records)} cases: " + ", ".join(f"{n} {name}" for name, n in sorted(count.items()))]
    done = [record for record in records if "metrics" in record]
    spent = (sum(record.get(name, 0.0) for record in records) / 60 for name in ("answer_s", "drawn_s"))
    lines.append("minutes of the processor: {:.1f} for answers, {:.1f} for sessions".format(*spent))
    lines.append(f"{sum(record['sessions'] for record in done):,} sessions, or runs of streams without end")
    metrics = [(record["case"]["kind"], line) for record in done for line in record["metrics"] if "z" in line]
    few = sum("z" not in line for record in done for line in record["metrics"])
    lines.append(f"{len(metrics)} metrics judged; {few} of too few sessions to judge")
    if metrics:
        lines.append(f"largest |z| beyond the stated error: {max(abs(beyond(line)) for _, line in metrics):.2f}")
        for name, within in (("stated error", stated), ("3% for thresholds that are forgotten", forgotten)):
            lines.append(f"the {name} is needed for {sum(map(within, (line for _, line in metrics)))}")
    for kind in KINDS:
        mine = [line for one, line in metrics if one == kind]
        cases = [record["verdict"] for record in records if record["case"]["kind"] == kind]
        worst = max((abs(beyond(line)) for line in mine), default=0.0)
        lines.append(
            f"  {kind:10} {len(cases):4} cases, {cases.count('refused'):3} refused, {len(mine):5} metrics, "
            f"{sum(map(stated, mine)):4} need the stated error, largest |z| beyond it {worst:.2f}"
        )
    by = defaultdict(list)
    for _, line in metrics:
        by[re.sub(r"[0-9][0-9.e+-]*( s)?", "x", line["name"])].append(line)
    for name, mine in sorted(by.items()):
        lines.append(
            f"  {name:20} {len(mine):5}, {sum(map(stated, mine)):4} need the stated error, largest |z| beyond it "
            f"{max(abs(beyond(line)) for line in mine):.2f}"
        )
    why = Counter(re.sub(r"[0-9][0-9.,e+-]*", "x", record["why"])[:120] for record in records if "why" in record)
    lines += [f"not answered: {n} x {reason}" for reason, n in why.most_common()]
    for record in records:
        for line in record.get("metrics", []):
            if line["wrong"]:
                lines.append(f"DISAGREES: case {record['number']}, {record['case']['kind']}: {line}")
    return "\n".join(lines)


def beyond(line: Record) -> float:
    """Return the standard errors between an answer and the sessions, beyond what is stated."""
    return float(line["excess"])


def stated(line: Record) -> bool:
    """Return whether an answer needs the error that it states."""
    return abs(float(line["z"])) > SURE


def forgotten(line: Record) -> bool:
    """Return whether an answer needs what forgotten thresholds may make."""
    return abs(float(line.get("z_stated", 0.0))) > SURE
