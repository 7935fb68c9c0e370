"""Random cases from the whole region in which a path and a video make sense."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from tcpstream import Path, Video

KINDS = ("stored", "endless", "finite")
CHAINS = ("reno", "reno-sack", "cubic")

OPTIONS = (
    "rounds_per_increase=2", "halving=ceil", "backoff=paper", "initial_window", "detection=rack", "bottleneck",
    "application_limited", "curve", "quantum", "horizon=paper", "on lattice", "off lattice", "overloaded",
)  # fmt: skip
"""Every case has one of them at least, by turns; as 13 and 9 have no common factor, with every kind and chain."""

LATTICE = (1, 2, 3, 4, 5, 6, 8, 10)
"""Denominators of packets per round."""


@dataclass(frozen=True)
class Case:
    """A case: what it is made from, all in plain numbers."""

    kind: str
    path: dict[str, Any]
    video: dict[str, Any]
    application_limited: bool = False
    quantum: int | None = None
    horizon: str = "end"
    focus: str = ""
    seed: int = 0
    delays: tuple[float, ...] = field(default=())

    def to_path(self) -> Path:
        """Return the path."""
        path = Path(sender="classic", **self.path)
        return path.application_limited(self.to_video().packet_rate) if self.application_limited else path

    def to_video(self) -> Video:
        """Return the video."""
        return Video(**self.video)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return asdict(self)

    @classmethod
    def of(cls, values: dict[str, Any]) -> Case:
        """Return the case of a dict, also of one read from JSON."""
        video = dict(values["video"])
        if "curve" in video:
            video["curve"] = tuple(map(tuple, video["curve"]))
        return cls(**(values | {"video": video, "delays": tuple(values["delays"])}))

    @property
    def options(self) -> list[str]:
        """Return the options that it has."""
        path = self.to_path()
        m = path.rtt * self.to_video().packet_rate
        has = {
            "rounds_per_increase=2": path.rounds_per_increase == 2,
            "halving=ceil": path.halving == "ceil",
            "backoff=paper": path.backoff == "paper",
            "initial_window": path.initial_window is not None,
            "detection=rack": path.detection == "rack",
            "bottleneck": path.bottleneck is not None,
            "application_limited": self.application_limited,
            "curve": "curve" in self.video,
            "quantum": self.quantum is not None,
            "horizon=paper": self.horizon == "paper",
            "on lattice": any(abs(m * q - round(m * q)) < 1e-9 for q in LATTICE),
        }
        return [name for name, present in has.items() if present] + ([] if has["on lattice"] else ["off lattice"])


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))


def draw(number: int, seed: int, attempt: int = 0) -> Case:
    """Return case `number` of a seed; the load is set later, when T is known: see `with_load`.

    The first attempt is drawn from everything, each further one from smaller windows and shorter videos.
    """
    rng = np.random.default_rng([seed, number, attempt])
    shrink = 2.0**-attempt
    focus = OPTIONS[number % len(OPTIONS)]

    def has(option: str, chance: float) -> bool:
        return focus == option or bool(rng.random() < chance)

    kind = KINDS[number % 3]
    tcp = CHAINS[number // 3 % 3]
    if focus in ("curve", "quantum", "horizon=paper"):
        kind = "stored"
    elif focus == "application_limited" and kind == "stored":
        kind = str(rng.choice(["endless", "finite"]))
    elif focus == "overloaded" and kind == "endless":
        kind = "finite"
    if focus == "bottleneck":
        tcp = "reno-sack"
    elif focus == "quantum" or (focus == "rounds_per_increase=2" and tcp == "cubic"):
        tcp = "reno"
    R = log_uniform(rng, 1e-4 if attempt < 4 else 1e-2, 3.0)
    T_O = float(rng.integers(1, 6)) if rng.random() < 0.25 else log_uniform(rng, 1, 300 if rng.random() < 0.3 else 20)
    W = round(log_uniform(rng, 1, max((2000 if rng.random() < 0.2 else 150) * shrink, 12)))
    path: dict[str, Any] = {
        "loss": log_uniform(rng, 1e-5, 0.5) if rng.random() < 0.4 else log_uniform(rng, 1e-3, 0.3),
        "rtt": R, "timeout_ratio": T_O, "tcp": tcp, "max_window": W,
    }  # fmt: skip
    if tcp != "cubic" and has("rounds_per_increase=2", 0.2):
        path["rounds_per_increase"] = 2
    if has("halving=ceil", 0.2):
        path["halving"] = "ceil"
    if has("backoff=paper", 0.2):
        path["backoff"] = "paper"
    if has("detection=rack", 0.25):
        path["detection"] = "rack"
    limited = kind != "stored" and focus != "bottleneck" and has("application_limited", 0.1)
    if tcp == "reno-sack" and not limited and has("bottleneck", 0.15):
        del path["max_window"]
        pipe = log_uniform(rng, 2, max(200 * shrink, 10))
        path["bottleneck"] = pipe / R
        path["buffer"] = round(log_uniform(rng, 1, max(200 * shrink, 10))) - 1
        W = Path(sender="classic", **path).max_window
    if focus != "quantum" and has("initial_window", 0.25):
        path["initial_window"] = min(W, int(rng.choice([1, 2, 3, 4, 10, 20])))
    quantum = None
    if focus == "quantum":
        quantum = int(rng.choice([2, 4, 8, 16]))
        path["max_window"] = max(path["max_window"], 4 * quantum)
    video: dict[str, Any] = {"packet_rate": 1.0}
    if kind != "endless":
        video["duration"] = max(log_uniform(rng, 1, max(10800 * shrink**2, 2)), 2 * R)
    horizon = "paper" if kind == "stored" and has("horizon=paper", 0.05) else "end"
    if kind == "stored" and horizon == "end" and has("curve", 0.15):
        video["curve"] = ()
    return Case(kind, path, video, limited, quantum, horizon, focus, number)


def with_load(case: Case, T: float, seed: int) -> Case:
    """Return a case whose video has a rate that goes with T [packets/s]: T/mu from .3, where it may, to 300."""
    rng = np.random.default_rng([seed, case.seed, 1])
    R = case.path["rtt"]
    least = 1.02 if case.kind == "endless" or case.application_limited else 0.3
    if case.focus == "overloaded":
        ratio = float(rng.uniform(0.3, 1.0))
    elif rng.random() < 0.6:
        ratio = log_uniform(rng, max(least, 0.7), 2.5)
    else:
        ratio = log_uniform(rng, least, 300)
    m = min(max(T * R / ratio, 0.02), 500.0)
    lattice = case.focus == "on lattice" or (case.focus != "off lattice" and rng.random() < 0.5)
    if lattice:
        q = int(rng.choice(LATTICE))
        if m * q < 1:
            m = 1 / math.ceil(1 / m)
        else:
            m = (math.floor if case.kind == "endless" else round)(m * q) / q
    video = dict(case.video)
    mu = m / R
    if "curve" in video:
        points = int(rng.integers(2, 7))
        times = np.sort(rng.uniform(0.05, 0.95, points - 1)) * video["duration"]
        shares = np.sort(rng.uniform(0, 1, points - 1)) * mu * video["duration"]
        video["curve"] = (
            (0.0, *times.tolist(), video["duration"]),
            (0.0, *shares.tolist(), max(mu * video["duration"], 1e-3)),
        )
        del video["packet_rate"]
    else:
        video["packet_rate"] = mu
    return replace(case, video=video)
