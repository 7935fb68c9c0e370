"""The chains beside the kernel's TCP where it fills a queue: ``python validation/linux/bottleneck_tables.py``.

Solves what `bottlenecks.py` has recorded and is not solved yet, and prints the tables of docs/kernel.md. Sessions in
which a packet was forwarded 50 ms late, or one in a hundred 1 ms, do not count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from bottlenecks import LOADS, RECORD, VIDEO, Bottleneck, conditions
from switched.judged import JUDGED, UNDER_WAY

import tcpstream
from tcpstream import Path, TcpstreamError, Video, stored
from tcpstream.numerics.confidence import wilson
from tcpstream.system.log import appending, read

SOLVED = RECORD.with_name("linux_bottlenecks_solved.jsonl")

CHAINS = {"reno": "reno-sack", "cubic": "cubic", "bbr": "bbr"}

DELAYS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Startup delays [s], since the connection was asked for."""

LATE = 1e-3
"""99% of the packets of a session that counts were forwarded less late [s]."""

LEAST = 1e-6
"""Loss rate where there are no losses but those of the queue."""

NEAR = 0.05


def path(one: Bottleneck) -> Path:
    """Return the path of a condition as the model is told."""
    return Path(
        loss=max(one.p, LEAST), rtt=one.rtt, rto=one.rtt + 0.2, tcp=CHAINS[one.tcp], bottleneck=one.packet_rate,
        buffer=one.queue,
    )  # fmt: skip


def solved(one: Bottleneck) -> dict[str, Any]:
    """Return T, and the probability of a late packet for each load and delay; None where there is no answer."""
    found: dict[str, Any] = {"throughput": None, "stalls": None}
    try:
        chain = path(one)
        found["throughput"] = tcpstream.throughput(chain)
        delays = np.maximum(np.array(DELAYS) - UNDER_WAY * one.rtt, 0.0)
        answers = [stored(chain, Video(packet_rate=load * one.packet_rate, duration=VIDEO)) for load in LOADS]
        found["stalls"] = [[float(x) for x in 1 - answer.no_late_probability(delays)] for answer in answers]
    except TcpstreamError as error:
        found["reason"] = str(error)
    return found


def chains(numbers: set[int]) -> dict[int, dict[str, Any]]:
    """Return what the chains say of some conditions; what is solved once is kept."""
    known = {line["condition"]: line for line in read(SOLVED)}
    with appending(SOLVED) as append:
        for number in sorted(numbers - set(known)):
            known[number] = {"condition": number, **solved(conditions()[number])}
            append(known[number])
    return known


def measured() -> dict[int, np.ndarray]:
    """Return what the sessions of each condition had to wait, a row a session, a column a load."""
    found: dict[int, list[list[float]]] = {}
    for line in read(RECORD):
        if "needed" in line and not line["stalled_packets"] and line["late_99"] < LATE:
            needed = [math.inf if delay is None else delay for delay in line["needed"]]
            found.setdefault(line["condition"], []).append(needed)
    return {number: np.array(rows) for number, rows in found.items()}


def points() -> Iterator[dict[str, Any]]:
    """Give every load and delay that is compared."""
    needed = measured()
    answers = chains(set(needed))
    for number, rows in needed.items():
        if answers[number]["stalls"] is None:
            continue
        for i, load in enumerate(LOADS):
            for j, delay in enumerate(DELAYS):
                late = int((rows[:, i] > delay).sum())
                if JUDGED[0] <= late / len(rows) <= JUDGED[1]:
                    low, high = wilson(late, len(rows))
                    yield {
                        "condition": number, "tcp": conditions()[number].tcp, "load": load, "delay": delay,
                        "sessions": len(rows), "measured": late / len(rows), "low": low, "high": high,
                        "chain": answers[number]["stalls"][i][j],
                    }  # fmt: skip


def main() -> None:
    """Print the tables in Markdown."""
    downloads = [line for line in read(RECORD) if "throughput" in line]
    answers = chains({line["condition"] for line in downloads})
    compared = list(points())
    print("| sender | conditions | T within 5% | farthest | points | within 2 | within 2, or in the interval |")
    print("|---|---|---|---|---|---|---|")
    for tcp in CHAINS:
        ratios = [
            answers[line["condition"]]["throughput"] / line["throughput"]
            for line in downloads
            if line["tcp"] == tcp and answers[line["condition"]]["throughput"]
        ]
        near = sum(abs(ratio - 1) <= NEAR for ratio in ratios)
        far = max(ratios, key=lambda ratio: abs(math.log(ratio)), default=math.nan)
        chosen = [one for one in compared if one["tcp"] == tcp]
        off = np.array([abs(math.log(max(one["chain"], 1e-300) / one["measured"])) for one in chosen])
        inside = np.array([one["low"] <= one["chain"] <= one["high"] for one in chosen], dtype=bool)
        twice = off <= math.log(2)
        shares = [f"{np.mean(one):.0%}" if len(chosen) else "" for one in (twice, twice | inside)]
        print(f"| {tcp} | {len(ratios)} | {near} | {far:.2f} | {len(chosen)} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
