"""The problems that are timed, each in full size and in a small size for ``--quick``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcpstream import Path, Video, throughput

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class StoredTable:
    """f and P_i of stored media, for every rate and startup delay, on the paper's horizon."""

    path: Path
    rates: tuple[float, ...]
    duration: float
    delays: Floats

    @property
    def rounds(self) -> int:
        """Rounds that are judged."""
        return int(self.duration / self.path.rtt + 1e-9)

    @property
    def videos(self) -> list[Video]:
        """One video a rate."""
        return [Video(packet_rate=rate, duration=self.duration) for rate in self.rates]


@dataclass(frozen=True)
class LiveCurve:
    """f of an endless live stream over the startup delay.

    `depth` is where an explicit chain has to be cut [packets], `delay` the one startup delay of the methods that
    cannot do more in one solve.
    """

    path: Path
    packets_per_round: int
    delays: Floats
    delay: float
    depth: int

    @property
    def video(self) -> Video:
        """The stream."""
        return Video(packet_rate=self.packets_per_round / self.path.rtt)


def stored_table(quick: bool) -> StoredTable:
    """Return the table of Section 4.2's path: 15 rates, 41 startup delays, 727 rounds."""
    if quick:
        path = Path(sender="classic", loss=0.03, rtt=0.11, timeout_ratio=2, max_window=10, backoff="paper")
        return StoredTable(path, (30.0, 33.0, 36.0), 15.0, np.arange(0, 5.5, 0.5))
    path = Path(sender="classic", loss=0.014, rtt=0.11, timeout_ratio=3, max_window=24, backoff="paper")
    return StoredTable(path, tuple(float(rate) for rate in range(51, 66)), 80.0, np.arange(0, 20.5, 0.5))


def live_curve(quick: bool) -> LiveCurve:
    """Return the live stream whose curve is wanted to tails of 1e-9; beyond `depth` the backlog has 1e-12."""
    if quick:
        return live_small(quick)
    path = Path(
        sender="classic", loss=0.02, rtt=0.1, timeout_ratio=4, max_window=20, rounds_per_increase=2, backoff="paper"
    )
    return LiveCurve(path, 3, np.arange(0, 50.5, 0.5), 9.0, 3093)


def live_small(quick: bool) -> LiveCurve:
    """Return a stream that general Markov packages can still do: 50 TCP states, and a short tail."""
    largest, longest = (5, 1.5) if quick else (8, 2.5)
    path = Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=1, max_window=largest, backoff="paper")
    return LiveCurve(path, 1, np.arange(0, longest, 0.25), 1.0, 40)


def near_capacity(quick: bool) -> LiveCurve:
    """Return a stream at a load of 0.98: four packets a round, where TCP delivers 4.076."""
    if quick:
        path = Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=1, max_window=4, backoff="paper")
        return LiveCurve(path, 2, np.array([0.0, 2.0, 10.0]), 2.0, 1000)
    path = Path(
        sender="classic", loss=0.02, rtt=0.1, timeout_ratio=4, max_window=20, rounds_per_increase=2, backoff="paper"
    )
    return LiveCurve(path, 4, np.array([0.0, 10.0, 30.0, 100.0, 300.0]), 100.0, 20_000)


def high_rate(quick: bool) -> tuple[Path, Video]:
    """Return 25 Mbit/s in packets of 1500 bytes over 50 ms with 1e-4 lost: T/mu = 1.21, 2400 rounds."""
    if quick:
        return Path(sender="classic", loss=2e-3, rtt=0.05, rto=0.25, max_window=64), Video(bitrate=5e6, duration=10)
    return Path(sender="classic", loss=1e-4, rtt=0.05, rto=0.25, max_window=1024), Video(bitrate=25e6, duration=120)


def figures(quick: bool) -> dict[str, list[tuple[Path, Video]]]:
    """Return the settings of Figures 10 (live) and 11 (80 s stored) of Section 6.2, W_max = 48, by panel."""
    losses = (0.04,) if quick else (0.004, 0.02, 0.04)
    ratios = (2.4,) if quick else tuple(np.arange(12, 25) / 10)
    timers = (4,) if quick else (1, 2, 3, 4)
    rtts = (0.1, 0.3) if quick else (0.05, 0.1, 0.2, 0.3)
    panels: dict[str, list[tuple[Path, Video]]] = {}
    for number, duration in ((10, None), (11, 80.0)):
        panels[f"{number}a"] = [_over_rtt(loss, float(ratio), duration) for loss in losses for ratio in ratios]
        panels[f"{number}b"] = [_over_rate(timer, rtt, duration) for rtt in rtts for timer in timers]
    return panels


def _paper_path(loss: float, rtt: float, timer: float) -> Path:
    return Path(sender="classic", loss=loss, rtt=rtt, timeout_ratio=timer, max_window=48, backoff="paper")


def _over_rtt(loss: float, ratio: float, duration: float | None) -> tuple[Path, Video]:
    """T/mu by the round trip time: mu is 25 packets/s, T_O is 4."""
    rtt = throughput(_paper_path(loss, 1.0, 4)) / (25 * ratio)
    return _paper_path(loss, rtt, 4), Video(packet_rate=25, duration=duration)


def _over_rate(timer: float, rtt: float, duration: float | None) -> tuple[Path, Video]:
    """T/mu = 2 by the playback rate: p is 0.04."""
    path = _paper_path(0.04, rtt, timer)
    return path, Video(packet_rate=throughput(path) / 2, duration=duration)


def sweep_axes(quick: bool) -> dict[str, Any]:
    """Return the axes of a grid over loss, timer, round trip time, playback rate and startup delay."""
    axes: dict[str, list[float]] = {
        "loss": [0.004, 0.01, 0.015, 0.02, 0.04],
        "timeout_ratio": [1, 2, 3, 4],
        "rtt": [0.05, 0.1, 0.15, 0.2, 0.3],
        "packet_rate": [10, 15, 20, 25, 30, 35, 40, 45, 50, 60],
        "delay": [0.5, 1, 2, 3, 4, 5, 6, 8, 10, 15],
    }
    return {name: values[::5] if quick else values for name, values in axes.items()}
