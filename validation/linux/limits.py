"""What `tcpstream estimate` says of the kernel's flows that something known limits.

``python validation/linux/limits.py FOLDER`` makes the flows, a capture each in FOLDER, and prints the table of
validation/results/kernel/limits.txt; captures that are there already are used again. Needs what matrix.py needs.
"""

from __future__ import annotations

import math
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from emulator import Emulator, Source, Steady
from losses import PROCESSES, Losses
from namespaces import ends

from tcpstream.traces import estimate

BUFFER = 1 << 20
FRAMES = 25
"""Frames per second of a live stream."""


class Frames(Source):
    """A live stream of 1 Mbit/s, its frames of uneven size."""

    def __init__(self) -> None:
        sizes = np.random.default_rng(1).lognormal(0, 0.5, 10_000)
        self.total = np.cumsum(sizes / sizes.mean() * 1e6 / 8 / FRAMES)

    def made(self, seconds: float) -> float:
        """Return how many bytes there are in all, so long after the start."""
        return float(int(self.total[int(seconds * FRAMES)]))

    def following(self, seconds: float) -> float:
        """Return when the next will be there [s]."""
        return (math.floor(seconds * FRAMES) + 1) / FRAMES


class Segments(Source):
    """A player that fetches 500 kB every 4 s."""

    def made(self, seconds: float) -> float:
        """Return how many bytes there are in all, so long after the start."""
        return (math.floor(seconds / 4) + 1) * 500_000.0

    def following(self, seconds: float) -> float:
        """Return when the next will be there [s]."""
        return (math.floor(seconds / 4) + 1) * 4.0


class Policer:
    """A token bucket: what finds it empty is lost. Takes the place of a loss process."""

    def __init__(self, rate: float, bucket: float) -> None:
        self.rate, self.bucket = rate, bucket
        self.tokens, self.filled = bucket, time.monotonic()

    def lose(self, round_number: int) -> bool:  # noqa: ARG002
        """Return whether the next packet is lost."""
        now = time.monotonic()
        self.tokens = min(self.tokens + (now - self.filled) * self.rate, self.bucket)
        self.filled = now
        if self.tokens < 1:
            return True
        self.tokens -= 1
        return False


@dataclass(frozen=True)
class Flow:
    """A flow and what limits it.

    Attributes
    ----------
    limit : str
        In words.
    tcp : str
    loss : float
        Of each packet by itself.
    rtt, seconds : float
        [s].
    rate, queue : float, int
        Of the path [Mbit/s; packets]; 0 for no limit.
    source : callable
        Makes what is sent.
    receive : int
        Receive buffer [bytes]; 0 for a large one.
    police, bucket : float
        Of a policer [packets/s; packets]; 0 for none.
    """

    limit: str
    tcp: str = "reno"
    loss: float = 0.0
    rtt: float = 0.05
    seconds: float = 20.0
    rate: float = 0.0
    queue: int = 0
    chain: Callable[[], Source] = Source
    receive: int = 0
    police: float = 0.0
    bucket: float = 20.0


FLOWS = {
    "reno": Flow("losses", loss=0.01),
    "cubic": Flow("losses", "cubic", loss=0.01),
    "reno-link": Flow("losses", loss=0.01, rate=8, queue=60),
    "bbr": Flow("pacing", "bbr", loss=0.01, rate=8, queue=60),
    "bbr-short-queue": Flow("pacing", "bbr", loss=0.01, rate=8, queue=15),
    "bbr-no-loss": Flow("pacing, and a queue", "bbr", rate=8, queue=60),
    "reno-queue": Flow("a queue", rate=8, queue=60),
    "reno-short-queue": Flow("a queue", rate=8, queue=15),
    "cubic-queue": Flow("a queue", "cubic", rate=8, queue=60),
    "live": Flow("a live stream of 50 packets/s", loss=0.01, rtt=0.1, chain=lambda: Steady(50)),
    "live-near": Flow("a live stream of 80 packets/s", loss=0.01, rtt=0.1, seconds=40, chain=lambda: Steady(80)),
    "frames": Flow("a live stream, T / mu = 1.2", loss=0.01, rtt=0.1, chain=Frames),
    "frames-no-loss": Flow("a live stream", rtt=0.1, chain=Frames),
    "segments": Flow("a player that pauses", loss=0.005, seconds=30, chain=Segments),
    "window": Flow("the receive window", loss=0.001, rtt=0.1, receive=20_000),
    "police": Flow("a policer of 300 packets/s", seconds=30, police=300),
    "police-cubic": Flow("a policer of 300 packets/s", "cubic", seconds=30, police=300, bucket=60),
    "police-bbr": Flow("a policer of 300 packets/s", "bbr", police=300),
    "overshoot": Flow("the first slow start", rtt=0.1, seconds=10, rate=20, queue=200),
    "overshoot-cubic": Flow("the first slow start", "cubic", rtt=0.1, seconds=10, rate=20, queue=200),
}


def make(flow: Flow, capture: Path) -> None:
    """Make a flow and its capture."""
    made = ends(flow.tcp, {"tcp_sack": 1}, BUFFER)
    if flow.receive:
        made.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, flow.receive)
    losses: Losses = PROCESSES["bernoulli"](flow.loss, np.random.default_rng(1))
    if flow.police:
        losses = Policer(flow.police, flow.bucket)  # type: ignore[assignment]
    rate = flow.rate * 1e6 or None
    Emulator(made, flow.rtt / 2, losses, rate=rate, queue=flow.queue, capture=capture).run(flow.chain(), flow.seconds)


def main() -> None:
    """Make what is missing and print the table in Markdown."""
    folder = Path(sys.argv[1])
    print("| sender | limited by | `limitation` | evidence |\n|---|---|---|---|")
    for name, flow in FLOWS.items():
        capture = folder / f"{name}.pcap"
        if not capture.exists():
            make(flow, capture)
        found = estimate(capture).limitation
        print(f"| {flow.tcp} | {flow.limit} | {found.cause if found else 'none'} | {found.evidence if found else ''} |")


if __name__ == "__main__":
    main()
