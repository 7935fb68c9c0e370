"""What was measured beside what was predicted, and whether the intervals meet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from .rejection import starved
from .session import Fetched, Session

LEVEL = 0.95

FACTORS = {"stalls_per_hour": 1.5, "download": 1.1}
"""Within which segments are to agree."""


@dataclass(frozen=True)
class Interval:
    """A value and its interval."""

    value: float
    low: float
    high: float

    def meets(self, other: Interval) -> bool:
        """Tell whether two intervals have a point in common."""
        return self.low <= other.high and other.low <= self.high


def share(hits: int, trials: int) -> Interval:
    """Return a probability as measured, with its Wilson interval."""
    ends = stats.binomtest(hits, trials).proportion_ci(LEVEL, method="wilson")
    return Interval(hits / trials, float(ends.low), float(ends.high))


def mean(values: list[float]) -> Interval:
    """Return a mean as measured, with the interval of Student's t."""
    x = np.array(values)
    half = stats.t.ppf((1 + LEVEL) / 2, len(x) - 1) * x.std(ddof=1) / math.sqrt(len(x))
    return Interval(float(x.mean()), float(x.mean() - half), float(x.mean() + half))


def counted(record: dict[str, Any]) -> list[Session | Fetched]:
    """Return the sessions of a record that count."""
    case = record["case"]
    kind = Fetched if case["segment"] else Session
    found = [kind(**one["session"]) for one in record["sessions"] if one["wrong"] is None]
    return [session for session in found if starved(session, case["seconds"]) is None]


def measured(record: dict[str, Any]) -> dict[str, Interval]:
    """Return what the viewers of a record saw, by quantity."""
    sessions = counted(record)
    stalls = [len(one.stalls) for one in sessions]
    seconds = record["case"]["seconds"]
    if fetched := [one for one in sessions if isinstance(one, Fetched)]:
        return {
            "stalls_per_hour": mean([count * 3600 / seconds for count in stalls]),
            "download": mean([float(np.mean(one.downloads)) for one in fetched]),
        }
    played = [one for one in sessions if isinstance(one, Session)]
    return {
        "start": mean([one.start for one in played]),
        "stall_probability": share(sum(count > 0 for count in stalls), len(sessions)),
        "stalls": mean([float(count) for count in stalls]),
        "stalled": mean([one.stalled for one in played]),
    }


def predicted(solved: dict[str, dict[str, dict[str, float]]]) -> dict[str, Interval]:
    """Return what a capture predicts, by the paths solved: between their ends, and the errors of the solves."""
    found = {}
    for name, one in solved["estimate"].items():
        ends = [one, solved["best"][name], solved["worst"][name]]
        low = min(end["value"] - end["error"] for end in ends)
        found[name] = Interval(one["value"], low, max(end["value"] + end["error"] for end in ends))
    return found


def within(name: str, measured: float, predicted: float) -> bool:
    """Tell whether a quantity of segments is within its factor."""
    return max(measured / predicted, predicted / measured) <= FACTORS[name]
