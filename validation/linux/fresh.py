"""New live streams and downloads of the kernel's TCP: ``python validation/linux/fresh.py``, as root.

Forty conditions, drawn from a seed before any was looked at, all at the same time in one process; each has a live
stream and a download beside it over a path of its own. They take three quarters of an hour; `limited.py` compares the
record with the chains.
"""

from __future__ import annotations

import math
import sys
import zlib
from dataclasses import replace
from itertools import cycle, islice

import numpy as np
from conditions import Condition
from hub import Flow, carry
from losses import PROCESSES
from namespaces import UnavailableError, check
from records import CHAINS, LINUX, RECORDED, Record
from run import measured, source

from tcpstream import Path, throughput
from tcpstream.system.log import appending

FRESH = RECORDED.with_name("linux_fresh.jsonl")

NUMBER, SEED = 40, 2026

SECONDS = 2700.0

P, R, LOAD = (0.003, 0.04), (0.03, 0.3), (1.2, 2.5)
"""Ranges of p, R [s] and T / mu; p and R are uniform in their logarithm."""

T = (10.0, 250.0)
"""Paths are drawn again when their chain has another throughput [packets/s]."""


def conditions() -> list[tuple[Condition, Condition]]:
    """Return a live stream and a download for each path, the three chains by turns."""
    rng = np.random.default_rng(SEED)
    found = []
    for losses, tcp in islice(cycle(CHAINS), NUMBER):
        while True:
            p, rtt = (float(f"{math.exp(rng.uniform(*np.log(ends))):.3g}") for ends in (P, R))
            path = Path(
                loss=p, rtt=rtt, rto=rtt + 0.2, tcp=CHAINS[losses, tcp], sender="classic", max_window=200, **LINUX
            )
            if T[0] <= throughput(path) <= T[1]:
                break
        rate = float(f"{throughput(path) / rng.uniform(*LOAD):.3g}")
        download = Condition(losses, p, rtt, tcp, seconds=SECONDS)
        found.append((replace(download, packet_rate=rate), download))
    return found


def flow(condition: Condition) -> Flow:
    """Return the connection of a condition."""
    rng = np.random.default_rng(zlib.crc32(condition.name.encode()))
    losses = PROCESSES[condition.losses](condition.p, rng)
    return Flow(condition.tcp, condition.rtt / 2, losses, source(condition), condition.seconds)


def record(condition: Condition, seen: Flow) -> Record:
    """Return the record of a run, without its series."""
    found = measured(condition, seen.seen)
    del found["series"], found["disturbed_pieces"]
    losses = seen.losses
    return {
        "condition": condition.to_dict(), "first_losses": losses.first, "asked": losses.asked, "lost": losses.lost,
        **found,
    }  # fmt: skip


def main() -> int:
    """Make all runs, and record them."""
    try:
        check()
    except UnavailableError as error:
        print(error, file=sys.stderr)
        return 2
    drawn = [one for pair in conditions() for one in pair]
    flows = [flow(one) for one in drawn]
    carry(flows)
    with appending(FRESH) as append:
        for condition, seen in zip(drawn, flows, strict=True):
            append(record(condition, seen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
