"""The kernel's TCP where it fills a queue: ``python validation/linux/bottlenecks.py [--hours H]``, as root.

48 conditions, drawn from a seed before any was looked at: Reno, CUBIC and BBR; links of 8 and 25 Mbit/s; round trips of
20, 50 and 150 ms; buffers of .3, 1 and 4 bandwidth-delay products; no other losses, or p = .002. Of each a download of
three minutes, then, of Reno and CUBIC, a session of each after the other: what a viewer of 30 s at .6 to .95 of the
link had to wait. After an interruption it goes on where it was.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
from emulator import MSS, Source, deliveries
from hub import Flow, carry
from link import PACKET, constant
from losses import Losses
from namespaces import UnavailableError, check
from records import RECORDED
from waits import needed

from tcpstream.system.log import appending, read

RECORD = RECORDED.with_name("linux_bottlenecks.jsonl")

SENDERS, RATES = ("reno", "cubic", "bbr"), (8.0, 25.0)
WITH_STALLS = "reno", "cubic"
"""Senders with a chain that tells stalls: only of these there are sessions."""

ROUND_TRIPS, BUFFERS, P = (0.02, 0.05, 0.15), (0.3, 1.0, 4.0), (0.0, 0.002)

EACH, SEED = 8, 2030
"""Conditions of each sender and rate, of the 18 that there are."""

LOADS = (0.6, 0.7, 0.8, 0.9, 0.95)
"""Rates of videos over that of the link."""

VIDEO, LONGEST = 30.0, 60.0
"""Length of a session's video, and of the session at most [s]."""

DOWNLOAD, WARMUP = 180.0, 30.0
"""Length of a download, and what of it does not count [s]."""

SESSIONS = 200
"""Of each condition at most."""

PACKETS = 18_000
"""Packets per second of all connections at the same time, about."""


@dataclass(frozen=True)
class Bottleneck:
    """A condition: congestion control, rate [Mbit/s], R [s], buffer [bandwidth-delay products], p."""

    tcp: str
    mbps: float
    rtt: float
    buffer: float
    p: float

    @property
    def packet_rate(self) -> float:
        """Of the link [packets/s]."""
        return self.mbps * 1e6 / PACKET

    @property
    def queue(self) -> int:
        """Packets that wait at most."""
        return max(1, round(self.buffer * self.packet_rate * self.rtt))

    def flow(self, seconds: float, seed: Sequence[int], begin: float, enough: float = np.inf) -> Flow:
        """Return an endless download."""
        losses = Losses(self.p, np.random.default_rng(seed))
        link = constant(self.mbps * 1e6, self.queue)
        return Flow(self.tcp, self.rtt / 2, losses, Source(), seconds, begin, enough, link)


def conditions() -> list[Bottleneck]:
    """Return the conditions."""
    rng = np.random.default_rng(SEED)
    every = list(product(ROUND_TRIPS, BUFFERS, P))
    found = []
    for tcp, mbps in product(SENDERS, RATES):
        chosen = sorted(rng.choice(len(every), EACH, replace=False).tolist())
        found += [Bottleneck(tcp, mbps, *every[k]) for k in chosen]
    return found


def together(mbps: Sequence[float], senders: Sequence[str]) -> Iterator[list[int]]:
    """Give the numbers of conditions that run at the same time, those of links of these rates and of these senders."""
    for rate in mbps:
        numbers = [number for number, one in enumerate(conditions()) if one.mbps == rate and one.tcp in senders]
        at_once = int(PACKETS * PACKET / (rate * 1e6))
        yield from (numbers[k : k + at_once] for k in range(0, len(numbers), at_once))


def download(numbers: list[int]) -> list[dict[str, Any]]:
    """Measure T of some conditions."""
    known = conditions()
    found = measured_throughputs([known[k] for k in numbers], SEED, numbers)
    return [{"condition": k} | line for k, line in zip(numbers, found, strict=True)]


def measured_throughputs(
    paths: Sequence[Bottleneck], seed: int, numbers: Sequence[int] | None = None
) -> list[dict[str, Any]]:
    """Measure T of downloads over some paths at the same time; the losses of each are drawn from its number."""
    numbers = range(len(paths)) if numbers is None else numbers
    flows = [one.flow(DOWNLOAD, (seed, k), 0.02 * i) for i, (k, one) in enumerate(zip(numbers, paths, strict=True))]
    carry(flows)
    found = []
    for path, one in zip(paths, flows, strict=True):
        times = deliveries(one.seen)
        counts = np.histogram(times, np.linspace(WARMUP, DOWNLOAD, 11))[0] / ((DOWNLOAD - WARMUP) / 10)
        found.append(
            {
                **asdict(path), "throughput": float(counts.mean()),
                "throughput_error": float(counts.std(ddof=1) / np.sqrt(10)), "rtt_seen": _mean_rtt(one),
                "lost": one.losses.lost, "dropped_by_queue": one.seen.dropped_by_queue, "sent": one.seen.sent,
                **_lateness(one),
            }
        )  # fmt: skip
    return found


def session(numbers: list[int], seed: int) -> list[dict[str, Any]]:
    """Return what viewers of a session of some conditions had to wait, for each load; None if too long to tell."""
    known = conditions()
    phase = np.random.default_rng((SEED, seed)).random(len(numbers))
    flows = [
        known[k].flow(LONGEST, (SEED, k, seed), phase[i], max(LOADS) * known[k].packet_rate * VIDEO * MSS + 2 * MSS)
        for i, k in enumerate(numbers)
    ]
    carry(flows)
    return [
        {
            "condition": k,
            "session": seed,
            "needed": [needed(one, 0.0, load * known[k].packet_rate, VIDEO) for load in LOADS],
        }
        | _lateness(one)
        for k, one in zip(numbers, flows, strict=True)
    ]


def _mean_rtt(one: Flow) -> float:
    return float(np.mean([rtt for at, rtt, _, _ in one.seen.info if at > WARMUP]))


def _lateness(one: Flow) -> dict[str, float]:
    """Return how late 99% of the packets were at most, the latest one, and how many were more than 50 ms late."""
    late = one.seen.late
    return {
        "late_99": round(float(np.quantile(late, 0.99)), 6), "latest": round(max(late), 6),
        "stalled_packets": len(one.seen.stalls),
    }  # fmt: skip


def apart(work: Any, *arguments: Any) -> Any:
    """Return what a function returns in a process of its own: its namespaces and priority end with it."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def main() -> int:
    """Make what is missing, for so long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=8.0, help="begin nothing after so long (default 8)")
    parser.add_argument("--mbps", type=float, choices=RATES, help="only links of this rate (default: all)")
    chosen = parser.parse_args()
    try:
        check()
    except UnavailableError as error:
        print(error, file=sys.stderr)
        return 2
    end = time.monotonic() + 3600 * chosen.hours
    done = {(line["condition"], line.get("session")) for line in read(RECORD)}
    with appending(RECORD) as append:
        for seed in (None, *range(SESSIONS)):
            senders = SENDERS if seed is None else WITH_STALLS
            for numbers in together([chosen.mbps] if chosen.mbps else RATES, senders):
                todo = [k for k in numbers if (k, seed) not in done]
                if not todo or time.monotonic() > end:
                    continue
                found = apart(download, todo) if seed is None else apart(session, todo, seed)
                for line in found:
                    append(line)
            print("downloads" if seed is None else f"session {seed + 1}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
