"""Random viewers: a path, a video and a player, drawn from a seed before anything is solved."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tcpstream import Path, Video, throughput

SEED = 68

KINDS = ("waiting", "buffers", "pausing", "live", "skipping", "paced", "segments", "transfer")
CHAINS = ("classic", "reno", "reno-sack", "cubic", "linux")

RATES = 10.0, 600.0
"""Playback rates [packets/s]."""

RATIOS = 0.8, 3.0
"""T/mu."""

SUSTAINED = 1.05, 2.0
"""T/mu of streams without end."""

LEAST_APART = 3.0
"""Packets of a round below which players with buffers want a common part with it."""


@dataclass(frozen=True)
class Case:
    """A case, all in plain numbers: what `Path`, `Video`, the player of this kind and `Pacing` are made from.

    `chain` says how the path was drawn; of a transfer `player` is what `transfer_time` is asked for.
    """

    number: int
    kind: str
    chain: str
    path: dict[str, Any]
    video: dict[str, Any]
    player: dict[str, Any]
    pacing: dict[str, Any] | None = None

    def to_path(self) -> Path:
        """Return the path."""
        return Path(**self.path)

    def to_video(self) -> Video:
        """Return the video."""
        return Video(**self.video)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return asdict(self)


def draw(number: int, seed: int = SEED) -> Case:
    """Return a case: kinds by turns, and the chains of each."""
    rng = np.random.default_rng([seed, number])
    kind, chain = KINDS[number % len(KINDS)], CHAINS[number // len(KINDS) % len(CHAINS)]
    restarts = kind == "pausing" and chain == "reno-sack" and rng.random() < 0.7
    if kind == "segments":
        chain, restarts = "reno-sack", True
    while True:
        path = _path(chain, restarts, rng)
        T, R = throughput(Path(**path)), path["rtt"]
        least, most = SUSTAINED if kind == "skipping" else RATIOS
        m = T * R / rng.uniform(least, most)
        if rng.random() < 0.6 or (kind in ("buffers", "pausing") and m < LEAST_APART and rng.random() < 0.9):
            q = int(rng.choice([1, 1, 2, 3, 4]))
            m = max(math.floor(m * q), 1) / q
        if RATES[0] <= m / R <= RATES[1] and m <= T * R / least * 1.1:
            break
    return _watched(number, kind, chain, path, m / R, restarts, rng)


def _path(chain: str, restarts: bool, rng: np.random.Generator) -> dict[str, Any]:
    """Return the parameters of a path; where windows restart after idle times, without a bottleneck."""
    bursts, windows = chain in ("classic", "reno"), "cubic" if chain in ("cubic", "linux") else "any"
    R = round(log_uniform(rng, 0.02, 0.3), 3)
    path: dict[str, Any] = {"loss": round(log_uniform(rng, 0.005 if bursts else 0.01, 0.1), 4), "rtt": R}
    path["max_window"] = round(log_uniform(rng, 8, 40 if windows == "cubic" else 80))
    if rng.random() < 0.5:
        ratio = int(rng.integers(1, 7)) if rng.random() < 0.3 else round(log_uniform(rng, 1, 8), 2)
        path["timeout_ratio"] = ratio
    if chain in ("reno", "linux"):
        path |= {"sender": "linux"} | ({"losses": "bursts"} if chain == "reno" else {})
        if chain == "linux" and rng.random() < 0.2:
            del path["max_window"]
        return path
    path |= {"sender": "classic", "tcp": "reno" if chain == "classic" else chain}
    if rng.random() < 0.3:
        path["halving"] = "ceil"
    if rng.random() < 0.3:
        path["backoff"] = "paper"
    if chain != "cubic" and rng.random() < 0.3:
        path["rounds_per_increase"] = 2
    if restarts or rng.random() < 0.6:
        path["initial_window"] = min(path["max_window"], int(rng.choice([2, 3, 4, 10])))
    if restarts or rng.random() < 0.5:
        path["detection"] = "rack"
    if chain == "reno-sack" and not restarts and rng.random() < 0.3:
        pipe = log_uniform(rng, 4, 30)
        path |= {"bottleneck": round(pipe / R, 1), "buffer": int(rng.integers(0, 30))}
        del path["max_window"]
        path.pop("initial_window", None)
        if rng.random() < 0.4:
            path["initial_window"] = 4
    return path


def _watched(
    number: int, kind: str, chain: str, path: dict[str, Any], rate: float, restarts: bool, rng: np.random.Generator
) -> Case:  # fmt: skip
    """Return a case with a video and a player that go with the path."""
    R: float = path["rtt"]

    def rounds(low: float, high: float) -> float:
        return round(R * log_uniform(rng, low, high), 3)

    video: dict[str, Any] = {"packet_rate": rate, "duration": rounds(40, 1000)}
    player: dict[str, Any] = {"start": rounds(1.5, 40)}
    pacing = None
    if kind in ("waiting", "live") and rng.random() < 0.25:
        video = {"curve": _curve(rate, video["duration"], rng)}
    if kind == "waiting" and rng.random() < 0.2:
        player["setup_round_trips"] = int(rng.integers(0, 4))
    if kind in ("buffers", "pausing"):
        player = {"start_buffer": rounds(1, 30), "resume_buffer": rounds(1, 30) if rng.random() < 0.85 else 0.0}
    if kind == "pausing":
        room = round(max(*player.values(), 2 * R) * rng.uniform(1, 3), 3)
        player |= {"client_buffer": room, "idle": "restart" if restarts else "keep"}
        if restarts or rng.random() < 0.7:
            player["refill_at"] = min(room, round(rng.uniform(R, room), 3))
    if kind == "skipping":
        del video["duration"]
        player = {"start": rounds(1.2, 15)}
        if player["start"] > 1.1 * R and rng.random() < 0.6:
            player["resume_buffer"] = min(player["start"], round(rng.uniform(R, player["start"]), 3))
        player["on_stall"] = "skip"
    if kind == "paced":
        pacing = {"pace": round(rng.uniform(1, 2), 2), "burst": rounds(1, 40) if rng.random() < 0.6 else 0.0}
    if kind == "segments":
        segment = round(max(rounds(3, 40), 1 / rate), 3)
        video["duration"] = round(segment * int(rng.integers(5, 50)), 3)
        held = float(rng.uniform(1.1, 6))
        player = {"segment": segment, "client_buffer": round(held * segment, 3)}
        for name in ("start_buffer", "resume_buffer"):
            if rng.random() < 0.4:
                player[name] = round(int(rng.integers(1, math.floor(held) + 1)) * segment, 3)
        player |= {
            "idle": str(rng.choice(["restart", "restart", "keep"])),
            "setup_round_trips": int(rng.integers(0, 3)),
        }
    if kind == "transfer":
        video = {}
        player = {"packets": round(log_uniform(rng, 1, 1500)), "setup_round_trips": int(rng.integers(0, 4))}
    return Case(number, kind, chain, path, video, player, pacing)


def _curve(rate: float, duration: float, rng: np.random.Generator) -> tuple[list[float], list[float]]:
    """Return a playback curve of four stretches: times [s] and packets, both increasing."""
    times = np.append(np.cumsum(rng.uniform(0.5, 2, 4)), 0)
    rates = rng.uniform(0.5, 1.5, 4)
    times = np.sort(times) / times.max() * duration
    packets = np.append(0, np.cumsum(np.diff(times) * rates))
    packets *= rate * duration / packets[-1]
    return [round(t, 3) for t in times], [round(n, 3) for n in packets]


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))
