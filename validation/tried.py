"""What other rules and settings make of the rows of a paper: explanations that were tried, and are no part of its bed.

``python validation/tried.py [PAPER ...]`` makes what is not recorded yet: chung (40 clips; some 12 minutes), hessler (5
runs), nichols (3 runs; some minutes), zink (2 runs). ``--table`` prints what is recorded: rows whose verdict is another
one than without the alternative on the same runs, and how many tests hold.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tcpstream.paper.claim import Claim
from tcpstream.system.log import appending, read
from tcpstream.testbeds.papers import NAMES, bed

from tried_parts import cross_traffic, layered_video, real_video, windows_media  # isort: skip
from tried_parts.alternative import Alternative, judged

RESULTS = Path(__file__).parent / "results" / "tried.jsonl"

RUNS = {"chung": 40, "hessler": 5, "nichols": 3, "zink": 2}

ALTERNATIVES = (
    *windows_media.ALTERNATIVES,
    *real_video.ALTERNATIVES,
    *cross_traffic.ALTERNATIVES,
    *layered_video.ALTERNATIVES,
)


def record(papers: list[str]) -> None:
    """Make what is not recorded of some papers, each without an alternative first."""
    done = {(row["paper"], row["name"]) for row in read(RESULTS)}
    every = (*(Alternative(paper, "") for paper in papers), *(one for one in ALTERNATIVES if one.paper in papers))
    with appending(RESULTS) as append:
        for one in every:
            if (one.paper, one.name) not in done:
                append(row(one))
                print(one.paper, one.name, flush=True)


def row(one: Alternative) -> dict[str, Any]:
    """Return what an alternative makes of the rows of its paper."""
    found = judged(bed(one.paper), one, RUNS[one.paper])
    return {"paper": one.paper, "name": one.name, "claims": [_short(claim) for claim in found]}


def _short(claim: Claim) -> list[Any]:
    return [claim.key, claim.basis, claim.holds, claim.found]


def table(rows: list[dict[str, Any]]) -> str:
    """Return what alternatives change."""
    without = {one["paper"]: one["claims"] for one in rows if not one["name"]}
    lines = []
    for one in rows:
        tests = [holds for _, basis, holds, _ in one["claims"] if basis == "T"]
        lines.append(f"{one['paper']}: {one['name'] or 'as it is'}: {sum(tests)} of {len(tests)} tests hold")
        for before, after in zip(without[one["paper"]], one["claims"]):
            key, basis, holds, found = after
            if holds != before[2] or not (holds or before[3] == found):
                lines.append(f"  {key} ({basis}) {'holds' if holds else 'does not hold'}: {found}, was {before[3]}")
    return "\n".join(lines)


def main() -> None:
    """Make what is missing, or print what is recorded."""
    parser = argparse.ArgumentParser(description="explanations that were tried")
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=f"of {', '.join(NAMES)}; all by default")
    parser.add_argument("--table", action="store_true", help="print what is recorded")
    asked = parser.parse_args()
    papers = asked.papers or list(NAMES)
    if set(papers) - set(NAMES):
        parser.error(f"papers are {', '.join(NAMES)}")
    if asked.table:
        print(table([one for one in read(RESULTS) if one["paper"] in papers]))
    else:
        record(papers)


if __name__ == "__main__":
    main()
