"""The ten settings of Section 4: Tables II to V."""

from __future__ import annotations

from dataclasses import dataclass

from ..sim import Dumbbell, Tcp

THINK = 60.0
"""Mean pause of web connections [s], which the paper does not give."""

TICK = 0.1
"""Tick of the senders' clocks [s]: that of ns-2 at the time; it sets T_O."""

WINDOW = 64
"""Largest window [packets], which the paper does not give."""


@dataclass(frozen=True)
class Setting:
    """A row of Table II and III (live) or IV and V (stored).

    Parameters
    ----------
    kind : str
        "live" or "stored".
    number : int
    transfers, web : int
        TCP sources, the video included; HTTP sources.
    delay, rate, queue : float
        Bottleneck: [s], [bit/s], [packets].
    round_trip : float
        D [s].
    loss, rtt, timeout_ratio, throughput, packet_rate : float
        p, R [s], T_O, T and mu [packets/s] of the paper's runs.
    """

    kind: str
    number: int
    transfers: int
    web: int
    delay: float
    rate: float
    queue: int
    round_trip: float
    loss: float
    rtt: float
    timeout_ratio: float
    throughput: float
    packet_rate: float

    @property
    def name(self) -> str:
        """As "live 2"."""
        return f"{self.kind} {self.number}"

    @property
    def load(self) -> float:
        """Load mu / T of the paper."""
        return self.packet_rate / self.throughput

    def network(self) -> Dumbbell:
        """Return the network of Figure 3."""
        jitter = 8 * 1500 / self.rate  # one packet's time at the bottleneck
        tcp = Tcp(max_window=WINDOW, granularity=TICK, min_rto=0.0, jitter=jitter)
        return Dumbbell(
            self.rate, self.delay, self.queue, self.transfers - 1, self.web, self.round_trip, think=THINK, tcp=tcp
        )


SETTINGS = (
    Setting("live", 1, 7, 40, 0.005, 3.7e6, 100, 0.050, 0.004, 0.285, 3, 49.7, 25),
    Setting("live", 2, 10, 40, 0.040, 3.7e6, 50, 0.120, 0.019, 0.210, 2, 31.7, 25),
    Setting("live", 3, 6, 15, 0.005, 5e6, 80, 0.050, 0.007, 0.165, 5, 64.9, 50),
    Setting("live", 4, 8, 30, 0.001, 5e6, 50, 0.042, 0.014, 0.113, 4, 68.1, 25),
    Setting("live", 5, 5, 20, 0.001, 5e6, 30, 0.022, 0.014, 0.064, 6, 105.5, 50),
    Setting("stored", 1, 9, 40, 0.040, 3.7e6, 50, 0.120, 0.022, 0.220, 2, 30.8, 28),
    Setting("stored", 2, 5, 30, 0.040, 3.7e6, 50, 0.120, 0.006, 0.195, 2, 66.5, 60),
    Setting("stored", 3, 9, 40, 0.005, 5e6, 100, 0.050, 0.015, 0.162, 3, 46.1, 42),
    Setting("stored", 4, 5, 30, 0.005, 5e6, 100, 0.050, 0.014, 0.110, 3, 71.4, 65),
    Setting("stored", 5, 6, 20, 0.001, 5e6, 30, 0.022, 0.029, 0.059, 6, 67.1, 61),
)
