"""Live streams of application-limited senders beside the kernel's: ``python validation/linux/limited.py``.

Prints a table of the recorded runs, and one of those of `fresh.py`, which were drawn before any was looked at. The
chain of each run is solved by ``live(..., growth="limited")`` for the p and R that the path was given, and with the
p for which it has the throughput of downloads over the same path. A packet travels for R/2: so much less delay is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from conditions import disturbed
from fresh import FRESH
from late import VISIBLE
from records import RECORDED, Record, chain, kind, measured_path, place, recorded, run_name, together, with_throughput
from run import DELAYS

from tcpstream import Path, TcpstreamError, Video, live
from tcpstream.system.log import appending, read

SOLVED = RECORDED.with_name("linux_limited.jsonl")
FRESH_SOLVED = RECORDED.with_name("linux_fresh_solved.jsonl")
"""The chains' answers, a run a line."""

CHAINS = ("reno", "reno-sack", "cubic")

LEAST = 1.2
"""T / mu from here on."""

KNOWN = 0.25
"""Relative standard error up to which a measured late fraction is known to a factor of about 1.5."""

LARGEST = 200
"""Largest window of the chains [packets]: the streams have up to ten packets a round."""


def fractions(path: Path, rate: float) -> list[float]:
    """Return the late fraction for every delay; nan where there is no answer."""
    delays = np.maximum(np.array(DELAYS) - path.rtt / 2, 0.0)
    try:
        return list(live(path, Video(packet_rate=rate), growth="limited").late_fraction(delays))
    except TcpstreamError:
        return [np.nan] * len(DELAYS)


def compared(record: Record, download: Record) -> list[dict[str, Any]]:
    """Return the points of a run that are judged."""
    condition = record["condition"]
    rate, T = condition["packet_rate"], download["throughput"]
    rto = measured_path(record).rto if "estimate" in record else record["rto_mean"]
    judged = [k for k, (share, _) in enumerate(record["late"]) if share >= VISIBLE]
    if T / rate < LEAST or not judged:
        return []
    sender: dict[str, Any] = {"tcp": chain(record), "initial_window": 10, "detection": "rack", "max_window": LARGEST}
    sender["sender"] = "classic"
    given = Path(loss=condition["p"], rtt=condition["rtt"], rto=max(rto, condition["rtt"]), **sender)
    found = {"path": fractions(given, rate), "throughput": fractions(with_throughput(given, T), rate)}
    return [
        {
            "chain": chain(record), "p": condition["p"], "rtt": condition["rtt"], "load": T / rate, "delay": DELAYS[k],
            "late": record["late"][k][0], "error": record["late"][k][1],
            **{name: values[k] for name, values in found.items()},
        }
        for k in judged
    ]  # fmt: skip


def rows() -> Iterator[dict[str, Any]]:
    """Give every point of the recorded runs; what is solved once is kept in `SOLVED`."""
    records = recorded()
    downloads = together([one for one in records if kind(one) == "file" and chain(one)])
    yield from _solved([one for one in records if kind(one) == "live" and chain(one) in CHAINS], downloads, SOLVED)


def fresh_rows() -> Iterator[dict[str, Any]]:
    """Give every point of the new runs; what is solved once is kept in `FRESH_SOLVED`."""
    records = [one for one in read(FRESH) if not disturbed(one)]
    downloads = [one for one in records if kind(one) == "file"]
    yield from _solved([one for one in records if kind(one) == "live"], downloads, FRESH_SOLVED)


def _solved(streams: list[Record], downloads: list[Record], file: FilePath) -> Iterator[dict[str, Any]]:
    over = {place(one): one for one in downloads}
    solved = {line["run"]: line["points"] for line in read(file)}
    with appending(file) as append:
        for one in sorted(streams, key=lambda one: chain(one) == "cubic"):
            if place(one) not in over:
                continue
            if (name := run_name(one)) not in solved:
                solved[name] = compared(one, over[place(one)])
                append({"run": name, "points": solved[name]})
            yield from solved[name]


def shares(chosen: list[dict[str, Any]], given: str) -> str:
    """Return how many are within 1.5, 2 and 5."""
    off = np.array([abs(np.log(max(row[given], 1e-300) / row["late"])) for row in chosen])
    return " / ".join(f"{np.mean(off <= np.log(factor)):.0%}" for factor in (1.5, 2, 5)) + f" of {len(chosen)}"


def main() -> None:
    """Print the tables in Markdown."""
    for title, table in (("recorded runs", list(rows())), ("new runs", list(fresh_rows()))):
        print(f"| {title}, chain | points | by the path: within 1.5 / 2 / 5 | with the p for the measured T |")
        print("|---|---|---|---|")
        for name in CHAINS:
            every = [row for row in table if row["chain"] == name]
            known = [row for row in every if row["error"] <= KNOWN * row["late"]]
            for which, chosen in (("all", every), ("known to a factor of 1.5", known)):
                print(f"| `{name}` | {which} | {shares(chosen, 'path')} | {shares(chosen, 'throughput')} |")


if __name__ == "__main__":
    main()
