"""What coarse lattices state where the largest window limits TCP, beside exact answers, on random stored videos.

Run ``python validation/largest_window.py --cases 100``. Losses are rare and T is near the rate: few losses, and single
packets, decide. A case is solved by ``accuracy="fine"`` and exactly, at startup delays near those that a video without
losses needs. A late fraction is wrong if it differs by more than is stated; so is the probability of a late packet.

Where an exact answer takes no second it is the one that ``accuracy="fine"`` gives, and nothing is compared.

Each case becomes a line of the record, and a run goes on where the last one ended. The exit status is 1 if anything is
wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from tcpstream import Path, Video, stored, time_limit
from tcpstream.answers.coarse_stored import CoarseStored
from tcpstream.errors import AccuracyError, TimeLimitError

Record = dict[str, Any]

RESULTS = FilePath(__file__).parent / "results" / "largest_window.jsonl"

SEED = 107

SECONDS = 60.0
"""That an exact answer may take."""

SMALLEST = 1e-10
"""Late fraction below which nothing is compared, as a tenth of it may be lost in what is not followed."""


def case(number: int) -> tuple[Path, Video]:
    """Draw case 0, 1, ..., each of a seed of its own."""
    rng = np.random.default_rng([SEED, number])
    loss, rtt = (float(f"{10 ** rng.uniform(*ends):.3g}") for ends in ((-5, -2.7), (-2, -0.8)))
    window = int(np.exp(rng.uniform(np.log(2), np.log(40))))
    ratio = rng.choice([rng.uniform(0.75, 1.3), 1.0, 1.05])
    duration = float(np.round(np.exp(rng.uniform(np.log(20), np.log(300)))))
    tcp = str(rng.choice(["cubic", "reno-sack", "reno"]))
    path = Path(loss=loss, rtt=rtt, max_window=window, tcp=tcp)
    return path, Video(packet_rate=round(window / rtt / ratio, 1), duration=duration)


def judged(number: int) -> Record:
    """Solve a case in both ways, and compare."""
    path, video = case(number)
    length = video.packets / video.packet_rate
    head_start = max(video.packets / (path.max_window / path.rtt) - length, 0.0)
    delays = [0.9 * head_start, *(head_start + more for more in (2 * path.rtt, 5 * path.rtt, 0.5, 2.0))]
    record = {"number": number, "path": path.to_dict(), "video": video.to_dict(), "delays": delays}
    try:
        fine = stored(path, video, accuracy="fine")
        if not isinstance(fine, CoarseStored):
            return record | {"verdict": "exact"}
        with time_limit(SECONDS):
            exact = stored(path, video, accuracy="exact")
            f, late = exact.late_fraction(delays), 1 - exact.no_late_probability(delays)
        risks, off = fine.stalled(np.array(delays))
        found, stated = fine.late_fraction(delays), fine.relative_error(delays)
    except (AccuracyError, TimeLimitError) as error:
        return record | {"verdict": "refused", "refused": str(error)}
    allowed = np.where(np.isfinite(stated), stated * found, 0.0) + SMALLEST / 10  # an infinite error states nothing
    excess = np.where(f > SMALLEST, np.abs(found - f) / allowed, 0.0)
    late_excess = np.abs(risks - late) / off
    return record | {
        "f": found.tolist(), "exact": f.tolist(), "excess": excess.tolist(), "late": risks.tolist(),
        "late_exact": late.tolist(), "late_excess": late_excess.tolist(),
        "verdict": "wrong" if max(excess.max(), late_excess.max()) > 1 else "right",
    }  # fmt: skip


def summary(records: list[Record]) -> str:
    """Say what a record comes to."""
    verdicts = [record["verdict"] for record in records]
    lines = [f"{verdicts.count(verdict):5d} {verdict}" for verdict in sorted(set(verdicts))]
    for name in ("excess", "late_excess"):
        values = [x for record in records for x in record.get(name, [])]
        lines.append(f"{name}: {len(values)} compared, at most {max(values, default=0.0):.3g} of what is stated")
    return "\n".join(lines + [f"wrong: case {one['number']}" for one in records if one["verdict"] == "wrong"])


def main() -> int:
    """Judge the cases that are not in the record yet, and print what it comes to."""
    parser = argparse.ArgumentParser(description="hold what is stated at the largest window against exact answers")
    parser.add_argument("--cases", type=int, default=100, help="how many cases the record shall have")
    parser.add_argument("--record", type=FilePath, default=RESULTS, help="file of JSON lines")
    options = parser.parse_args()
    lines = options.record.read_text(encoding="utf-8").splitlines() if options.record.exists() else []
    records: list[Record] = [json.loads(line) for line in lines if line.endswith("}")]
    known = {record["number"] for record in records}
    for number in range(options.cases):
        if number not in known:
            records.append(judged(number))
            print(f"{number:4d} {records[-1]['verdict']}", flush=True)
            with options.record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(records[-1]) + "\n")
    print(summary(records))
    return 1 if any(record["verdict"] == "wrong" for record in records) else 0


if __name__ == "__main__":
    sys.exit(main())
