"""The chains beside the kernel's TCP where it fills a queue: ``python validation/linux/bottleneck_tables.py``.

Solves what `bottlenecks.py` has recorded and is not solved yet, and prints the tables of docs/kernel.md. Sessions in
which a packet was forwarded 50 ms late, or one in a hundred 1 ms, do not count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from bottlenecks import LOADS, RATES, RECORD, VIDEO, WITH_STALLS, Bottleneck, P, conditions
from numpy.typing import NDArray
from scipy.stats import t as student
from switched.judged import JUDGED, UNDER_WAY

import tcpstream
from tcpstream import Path, Video, stored
from tcpstream.numerics.confidence import wilson
from tcpstream.system.log import appending, read

Floats = NDArray[np.float64]

SOLVED = RECORD.with_name("linux_bottlenecks_solved.jsonl")

CHAINS = {"reno": "reno-sack", "cubic": "cubic", "bbr": "bbr"}

DELAYS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Startup delays [s], since the connection was asked for."""

EVEN, LONGER = 31, 13
"""Delays over which the mean is taken: so many even ones from the shortest to the longest, and longer ones."""

LATE = 1e-3
"""99% of the packets of a session that counts were forwarded less late [s]."""

LEAST = 1e-6
"""Loss rate where there are no losses but those of the queue."""

NEAR = 0.05

PAUSE = 5e-3
"""A packet that is forwarded later shows that the machine paused [s]."""

TOGETHER = 2
"""Packets that are sent and acknowledged together: the first is acknowledged with the second, which waits for it."""


def path(one: Bottleneck) -> Path:
    """Return the path of a condition as the model is told: R is that of packets that find no queue but each other."""
    rtt = one.rtt + TOGETHER / one.packet_rate
    return Path(
        loss=max(one.p, LEAST), rtt=rtt, rto=rtt + 0.2, tcp=CHAINS[one.tcp], bottleneck=one.packet_rate,
        buffer=one.queue,
    )  # fmt: skip


def solved(one: Bottleneck, compared: set[int]) -> dict[str, Any]:
    """Return P(any stall) and the mean stalled time for each load and delay; None for loads that are not compared."""
    longer = np.geomspace(DELAYS[-1], VIDEO, LONGER)
    delays = np.unique(np.concatenate([np.linspace(DELAYS[0], DELAYS[-1], EVEN), longer]))
    at, since = np.searchsorted(delays, DELAYS), np.maximum(delays - UNDER_WAY * one.rtt, 0.0)  # R/2 after a handshake
    stalls: list[list[float] | None] = []
    stalled: list[list[float] | None] = []
    for i, load in enumerate(LOADS):
        if i not in compared:
            stalls.append(None)
            stalled.append(None)
            continue
        late, _ = stored(path(one), Video(packet_rate=load * one.packet_rate, duration=VIDEO)).stalled(since)
        more = np.append(0.0, np.cumsum((late[1:] + late[:-1]) / 2 * np.diff(delays)))
        stalls.append(late[at].tolist())
        stalled.append((more[-1] - more[at]).tolist())  # the mean of what is above a delay
    return {"stalls": stalls, "stalled_s": stalled}


def chains(compared: dict[int, set[int]]) -> dict[int, dict[str, Any]]:
    """Return what the chains say of some conditions and loads; what is solved once is kept."""
    known = {line["condition"]: line for line in read(SOLVED)}
    with appending(SOLVED) as append:
        for number in sorted(set(compared) - set(known)):
            known[number] = {"condition": number, **solved(conditions()[number], compared[number])}
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
    """Give every load and delay that is compared; conditions without one are not solved."""
    needed = measured()
    late = {number: np.array([rows > delay for delay in DELAYS]).sum(axis=1) for number, rows in needed.items()}
    judged = {
        number: [tuple(one) for one in np.argwhere(_within(counts / len(needed[number]))).tolist()]
        for number, counts in late.items()
    }
    answers = chains(
        {
            number: {int(i) for _, i in some}
            for number, some in judged.items()
            if some and conditions()[number].tcp in WITH_STALLS
        }
    )
    for number, some in judged.items():
        if number not in answers:
            continue
        rows = needed[number]
        for j, i in sorted(some, key=lambda one: one[::-1]):
            share, delay = late[number][j, i] / len(rows), DELAYS[j]
            low, high = wilson(int(late[number][j, i]), len(rows))
            yield {
                "condition": number, "tcp": conditions()[number].tcp, "load": LOADS[i], "delay": delay,
                "sessions": len(rows), "measured": share, "low": low, "high": high,
                "chain": answers[number]["stalls"][i][j], **stalled_time(rows[:, i] - delay),
                "stalled_chain": answers[number]["stalled_s"][i][j],
            }  # fmt: skip


def _within(share: Floats) -> NDArray[np.bool_]:
    return np.asarray((share >= JUDGED[0]) & (share <= JUDGED[1]))


def stalled_time(missing: Floats) -> dict[str, float]:
    """Return the mean time that a player stalls which goes on with each packet that it misses, and its 95% interval.

    It stalls for as long as the startup delay was too short. NaN where a session was too short to tell.
    """
    stalled = np.maximum(missing, 0.0)
    mean, off = float(stalled.mean()), math.nan
    if math.isfinite(mean):
        off = float(student.ppf(0.975, len(stalled) - 1) * stalled.std(ddof=1) / math.sqrt(len(stalled)))
    return {"stalled": mean, "stalled_low": mean - off, "stalled_high": mean + off}


def near(chain: Floats, measured: Floats, low: Floats, high: Floats) -> tuple[int, float, float]:
    """Return how many points there are, what share is within a factor of 2, and within that or inside the interval."""
    known = np.isfinite(measured) & np.isfinite(low)
    off = np.abs(np.log(np.maximum(chain, 1e-300) / np.where(known, measured, 1.0)))
    twice, inside = off <= math.log(2), (low <= chain) & (chain <= high)
    return int(known.sum()), float(twice[known].mean()), float((twice | inside)[known].mean())


def main() -> None:
    """Print the tables in Markdown."""
    downloads = [line for line in read(RECORD) if "throughput" in line and not line["stalled_packets"]]
    print("| sender | link | conditions | T within 5% | farthest |\n|---|--:|--:|--:|--:|")
    for tcp, mbps in product(CHAINS, RATES):
        ratios = [
            tcpstream.throughput(path(conditions()[line["condition"]])) / line["throughput"]
            for line in downloads
            if (line["tcp"], line["mbps"]) == (tcp, mbps)
        ]
        right = sum(abs(ratio - 1) <= NEAR for ratio in ratios)
        far = max(ratios, key=lambda ratio: abs(math.log(ratio)), default=math.nan)
        print(f"| {tcp} | {mbps:g} Mbit/s | {len(ratios)} | {right} | {far:.2f} |")
    compared = list(points())
    twice = "| points | within 2 | within 2, or in the interval " * 2
    print(f"\n| sender | p {twice}|\n|---|--:|--:|--:|--:|--:|--:|--:|")
    for tcp, p in product(WITH_STALLS, reversed(P)):
        chosen = [one for one in compared if one["tcp"] == tcp and conditions()[one["condition"]].p == p]
        columns = {name: np.array([one[name] for one in chosen]) for name in compared[0]}
        cells = []
        for names in (
            ("chain", "measured", "low", "high"),
            ("stalled_chain", "stalled", "stalled_low", "stalled_high"),
        ):
            count, within, inside = near(*(columns[name] for name in names))
            cells.append(f"{count} | {within:.0%} | {inside:.0%}")
        print(f"| {tcp} | {p:g} | {' | '.join(cells)} |")
    print("\nWithout other losses, sessions that recorded the latest packet:\n")
    print(f"| a packet was more than {1000 * PAUSE:g} ms late | cases | stall |\n|---|--:|--:|")
    for words, seen in pauses(compared).items():
        print(f"| {words} | {len(seen)} | {np.mean(seen):.0%} |")


def pauses(compared: list[dict[str, Any]]) -> dict[str, list[bool]]:
    """Return which sessions stalled without other losses, by whether the machine paused."""
    judged = {(one["condition"], LOADS.index(one["load"]), one["delay"]) for one in compared}
    lines = [line for line in read(RECORD) if "needed" in line and "latest" in line]
    return {
        words: [
            line["needed"][i] is None or line["needed"][i] > delay
            for line in lines
            for number, i, delay in judged
            if line["condition"] == number and conditions()[number].p == 0 and (line["latest"] > PAUSE) == paused
        ]
        for words, paused in (("no", False), ("yes", True))
    }


if __name__ == "__main__":
    main()
