"""Every connection between two namespaces over one path: a delay and independent losses. A process of its own.

``python router.py SERVER CLIENT PATH``: the descriptors of two TUN devices, and as JSON the round trip [s], the loss
probability, the seed, and where which connection is captured, if one is. Says when it is ready, stops when its input
ends, and prints what it saw.
"""

from __future__ import annotations

import gc
import json
import os
import select
import struct
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from emulator import SNAP, STALL, packets, payload, real_time
from losses import Losses

IDLE = 0.5
"""Longest sleep [s]."""


class Router:
    """Forwards packets between a server and its clients.

    Parameters
    ----------
    tuns : (int, int)
        Descriptors of the server's device and the clients'.
    delay : float
        One way [s].
    losses : Losses
        Of packets with data from the server.
    capture : path, optional
        A pcap file of what the server sees of one connection.
    port : int
        The client's port of that connection.
    """

    def __init__(
        self, tuns: tuple[int, int], delay: float, losses: Losses, capture: str | None = None, port: int = 0
    ) -> None:
        self.tuns, self.delay, self.losses = tuns, delay, losses
        self.port = struct.pack(">H", port)
        self.lines: tuple[deque[tuple[float, bytes]], ...] = (deque(), deque())  # to the clients, to the server
        self.forwarded, self.lateness = 0, 0.0
        self.stalls: list[tuple[float, float]] = []
        self.capture = Path(capture or os.devnull)
        self.captured = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, SNAP, 101)]

    def run(self) -> dict[str, Any]:
        """Forward until the input ends; return when packets were late [s, monotonic clock], and by how much."""
        reading = [*self.tuns, sys.stdin.fileno()]
        while True:
            self._forward()
            wait = min([line[0][0] for line in self.lines if line], default=time.monotonic() + IDLE) - time.monotonic()
            ready = select.select(reading, [], [], max(0.0, wait))[0]
            if reading[2] in ready:
                break
            now = time.monotonic()
            for way, tun in enumerate(self.tuns):
                if tun in ready:
                    self._take(way, now)
        self.capture.write_bytes(b"".join(self.captured))
        mean = self.lateness / max(1, self.forwarded)
        return {
            "forwarded": self.forwarded, "mean_lateness": mean, "stalls": self.stalls, "sent": self.losses.asked,
            "lost": self.losses.lost,
        }  # fmt: skip

    def _take(self, way: int, now: float) -> None:
        for packet in packets(self.tuns[way]):
            if way == 0:
                self._record(packet, packet[22:24])
                if payload(packet) and self.losses.lose(0):
                    continue
            self.lines[way].append((now + self.delay, packet))

    def _forward(self) -> None:
        for way, line in enumerate(self.lines):
            while line and line[0][0] <= (now := time.monotonic()):
                due, packet = line.popleft()
                if way == 1:
                    self._record(packet, packet[20:22])
                os.write(self.tuns[1 - way], packet)
                self.forwarded += 1
                self.lateness += now - due
                if now - due > STALL and (not self.stalls or due > sum(self.stalls[-1])):
                    self.stalls.append((due, now - due))  # what is forwarded after it was late for the same reason

    def _record(self, packet: bytes, port: bytes) -> None:
        if port == self.port:
            now = time.time()
            head = struct.pack("<IIII", int(now), int(now % 1 * 1e6), min(len(packet), SNAP), len(packet))
            self.captured.append(head + packet[:SNAP])


def main() -> None:
    """Forward packets."""
    path = json.loads(sys.argv[3])
    losses = Losses(path["p"], np.random.default_rng(path["seed"]))
    tuns = int(sys.argv[1]), int(sys.argv[2])
    router = Router(tuns, path["rtt"] / 2, losses, path.get("capture"), path.get("port", 0))
    gc.disable()
    priority = real_time()
    print("ready", flush=True)
    print(json.dumps(router.run() | {"priority": priority}))


if __name__ == "__main__":
    main()
