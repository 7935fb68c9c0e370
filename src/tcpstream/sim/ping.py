"""The tool that sends small packets and waits for their echo."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import positive, whole
from .application import Application, Client, Server
from .hosts import ClientHost, ServerHost
from .traffic import Traffic

WAIT = 2.0
"""A ping that is younger when the run ends is not counted [s]."""


@dataclass(frozen=True)
class Ping(Application):
    """Round trip times and losses as a tool sees them; each round trip is a note, ``rtt``.

    Its `figures` are ``rtt_s``, the mean, ``rtt_median_s``, and ``loss``, pings without an echo over all that were sent
    at least 2 s before the end.

    Parameters
    ----------
    interval : float
        Between pings [s].
    size : int
        Of a ping, and of its echo [bytes], headers included.
    """

    interval: float = 1.0
    size: int = 84

    def __post_init__(self) -> None:
        positive("interval of pings", self.interval, "s")
        whole("size of a ping", self.size, 28, unit="bytes")

    def server(self) -> Server:
        """Return what sends pings."""
        return _Pinging(self)

    def client(self) -> Client:
        """Return what sends them back."""
        return _Echoing(self)

    def figures(self, traffic: Traffic, duration: float) -> dict[str, float]:
        """Return ``rtt_s``, ``rtt_median_s`` and ``loss``."""
        sent, _ = traffic.noted("ping")
        back, rtts = traffic.noted("rtt")
        old = duration - WAIT
        pings, echoes = int((sent <= old).sum()), int((back - rtts <= old + 1e-9).sum())
        return {
            "rtt_s": float(rtts.mean()) if len(rtts) else math.nan,
            "rtt_median_s": float(np.median(rtts)) if len(rtts) else math.nan,
            "loss": 1 - echoes / pings if pings else math.nan,
        }


class _Pinging(Server):
    def __init__(self, ping: Ping) -> None:
        self.ping = ping

    def start(self, host: ServerHost) -> None:
        self.timer(host, "ping")

    def timer(self, host: ServerHost, name: str) -> None:
        host.note("ping")
        host.tell(host.now, self.ping.size)
        host.wake(name, self.ping.interval)

    def message(self, host: ServerHost, message: Any) -> None:
        host.note("rtt", host.now - message)


class _Echoing(Client):
    def __init__(self, ping: Ping) -> None:
        self.ping = ping

    def message(self, host: ClientHost, message: Any) -> None:
        host.tell(message, self.ping.size)
