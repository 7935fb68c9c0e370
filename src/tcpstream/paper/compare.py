"""What the runs of a study say beside the model."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..answers import live as live_model
from ..answers import stored as stored_model
from ..errors import NoFiniteDelayError
from ..numerics.confidence import student, wilson
from ..numerics.roots import crossing
from ..path import Path
from ..tcp import throughput
from ..video import Video
from .settings import WINDOW, Setting
from .study import DELAYS, NO_LATE, NO_LATE_DELAY, VIDEO, Record, achieved

EPSILON = 0.15
"""Runs count whose loss rate is this near the mean one, relative (Section 4)."""

VISIBLE = 1e-3
"""Late fractions from here on are judged."""

INPUTS = ("events", "dropped", "throughput")
"""What the model gets as p: the loss-event rate, dropped over sent as the paper, or the p at which it has T."""


@dataclass(frozen=True)
class Point:
    """The late fraction at one startup delay.

    Attributes
    ----------
    delay : float
        tau [s].
    simulated, low, high : float
        Mean over the runs, and its 95% interval.
    model : dict
        The model's, by what it gets as p (`INPUTS`); nan where T <= mu.
    """

    delay: float
    simulated: float
    low: float
    high: float
    model: dict[str, float]

    def ratio(self, given: str) -> float:
        """Return the model's late fraction over the simulated one."""
        return self.model[given] / self.simulated if self.simulated > 0 else math.nan

    def verdict(self, given: str) -> str:
        """Return "inside" the interval, "within 2", "within 5", or "off"."""
        f = self.model[given]
        if self.low <= f <= self.high:
            return "inside"
        ratio = self.ratio(given)
        for factor in (2, 5):
            if 1 / factor <= ratio <= factor:
                return f"within {factor}"
        return "off"


@dataclass(frozen=True)
class Comparison:
    """A setting: what its runs saw of the path, and the late fractions.

    Attributes
    ----------
    setting : Setting
    runs, selected : int
        All runs, and those with a loss rate near the mean one.
    loss, loss_events, rtt, timeout_ratio, throughput : float
        Means over the selected runs: dropped over sent, loss-event rate, R [s], T_O; and T [packets/s] of a
        backlogged flow in the same place.
    packet_rate : float
        mu [packets/s].
    model_loss, model_throughput : dict
        p, and T of the chain [packets/s], by what it gets as p.
    points : list of Point
    no_late : list of (float, float, float, float, float)
        For Section 4.2: mu [packets/s], share of runs without a late packet and its interval, alpha of the model.
    """

    setting: Setting
    runs: int
    selected: int
    loss: float
    loss_events: float
    rtt: float
    timeout_ratio: float
    throughput: float
    packet_rate: float
    model_loss: dict[str, float]
    model_throughput: dict[str, float]
    points: list[Point]
    no_late: list[tuple[float, float, float, float, float]]

    @property
    def judged(self) -> list[Point]:
        """Points with a late fraction that is judged."""
        return [point for point in self.points if point.simulated >= VISIBLE]

    def path(self, given: str) -> Path:
        """Return the model's path, by what it gets as p."""
        return _path({"rtt": self.rtt, "timeout_ratio": self.timeout_ratio}, self.model_loss[given])


def compare(setting: Setting, records: Iterable[Record]) -> Comparison:
    """Solve the model at what the runs saw, and put it beside them."""
    records = list(records)
    runs = [one for one in records if one["setting"] == setting.name and one["kind"] == setting.kind]
    chosen = selected(runs)
    mean = {
        name: float(np.mean([one[name] for one in chosen])) for name in ("loss", "loss_events", "rtt", "timeout_ratio")
    }
    T, mu = achieved(records, setting), runs[0]["rate"]
    late = np.array([one["late"] for one in chosen])
    centre, half = late.mean(axis=0), interval(late)
    paths = {given: _path(mean, p) for given, p in _inputs(mean, T).items()}
    model = {given: _late(setting, path, mu) for given, path in paths.items()}
    points = [
        Point(float(tau), float(f), float(f - h), float(f + h), {given: float(model[given][k]) for given in INPUTS})
        for k, (tau, f, h) in enumerate(zip(DELAYS, centre, half))
    ]
    no_late = []
    for k, printed in enumerate(NO_LATE.get(setting.number, ()) if setting.kind == "stored" else ()):
        rate = T * printed / setting.throughput
        share = np.array([[one["no_late"][k]] for one in chosen], dtype=float)
        alpha = stored_model.stored(paths["events"], Video(packet_rate=rate, duration=VIDEO)).no_late_probability(
            NO_LATE_DELAY
        )
        low, high = wilson(float(share.sum()), len(share))
        no_late.append((rate, float(share.mean()), low, high, float(alpha)))
    return Comparison(
        setting, len(runs), len(chosen), mean["loss"], mean["loss_events"], mean["rtt"], mean["timeout_ratio"], T, mu,
        {given: path.loss for given, path in paths.items()},
        {given: throughput(path) for given, path in paths.items()}, points, no_late,
    )  # fmt: skip


def selected(runs: list[Record]) -> list[Record]:
    """Return the runs with a loss rate near the mean of all; all runs where none is."""
    middle = float(np.mean([one["loss"] for one in runs]))
    return [one for one in runs if abs(one["loss"] - middle) <= EPSILON * middle] or runs


def interval(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return half of the 95% interval of the mean of each column, by Student's t."""
    if len(values) < 2:
        return np.full(values.shape[1], math.inf)
    return np.asarray(student(values))


def _path(mean: dict[str, float], p: float) -> Path:
    timeout_ratio = max(1.0, mean["timeout_ratio"])
    return Path(sender="classic", loss=p, rtt=mean["rtt"], timeout_ratio=timeout_ratio, max_window=WINDOW)


def _inputs(mean: dict[str, float], T: float) -> dict[str, float]:
    """Return p by what it is."""
    return {
        "events": mean["loss_events"],
        "dropped": mean["loss"],
        "throughput": crossing(lambda p: throughput(_path(mean, p)) - T, 1e-5, 0.5, 1e-7),
    }


def _late(setting: Setting, path: Path, mu: float) -> NDArray[np.float64]:
    """Return the model's late fractions, nan where no finite delay would do."""
    try:
        if setting.kind == "live":
            return np.asarray(live_model.live(path, Video(packet_rate=mu)).late_fraction(DELAYS))
        return np.asarray(stored_model.stored(path, Video(packet_rate=mu, duration=VIDEO)).late_fraction(DELAYS))
    except NoFiniteDelayError:
        return np.full(len(DELAYS), math.nan)
