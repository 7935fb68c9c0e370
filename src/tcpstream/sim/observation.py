"""A scenario without a video to judge, repeated: what becomes of the traffic of each flow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, positive, whole
from .application import Application
from .experiment import MOST_RUNS, RUNS, SEED
from .replications import interval, nonnegative, replicate
from .scenario import Scenario
from .simulation import Run


@dataclass(frozen=True)
class Observation:
    """A scenario, several times.

    Parameters
    ----------
    make : callable
        From a generator to a scenario; its flows are the same ones in each run.
    seconds : float
        Length of each run [s].
    runs, seed : int
    """

    make: Callable[[np.random.Generator], Scenario]
    seconds: float
    runs: int = RUNS
    seed: int = SEED

    def __post_init__(self) -> None:
        object.__setattr__(self, "seconds", positive("simulated time", self.seconds, "s"))
        object.__setattr__(self, "runs", whole("number of runs", self.runs))
        object.__setattr__(self, "seed", whole("seed", self.seed, 0))
        if self.runs > MOST_RUNS:
            raise InputError(f"number of runs must be at most {MOST_RUNS:,}, got {self.runs:,}")

    def run(self, done: Callable[[], object] = lambda: None) -> list[Run]:
        """Simulate, and call `done` after each run."""
        return replicate(self.make, self.runs, self.seed, self.seconds, done)

    def outcome(self, runs: list[Run]) -> dict[str, Any]:
        """Return, under ``flows``, means over the runs of each flow, and their 95% intervals under ``intervals``.

        ``sent_bps`` and ``received_bps`` are bits of what its sender sent from the flow's start to the end of the run,
        ``loss`` is dropped over sent packets. ``figures`` are those of its application.
        """
        return {"flows": [_flow(runs, number) for number in range(len(runs[0].scenario.flows))]}


def _flow(runs: list[Run], number: int) -> dict[str, Any]:
    values: dict[str, list[float]] = {"sent_bps": [], "received_bps": [], "loss": []}
    figures: dict[str, list[float]] = {}
    for run in runs:
        flow, seen = run.scenario.flows[number], run.traffic[number]
        seconds = run.duration - flow.start
        values["sent_bps"].append(8 * seen.there.sent_bytes / seconds if seconds > 0 else np.nan)
        values["received_bps"].append(8 * seen.there.received_bytes / seconds if seconds > 0 else np.nan)
        values["loss"].append(seen.there.loss)
        if isinstance(flow.source, Application):
            for name, value in flow.source.figures(seen, run.duration).items():
                figures.setdefault(name, []).append(value)
    data: dict[str, Any] = {"name": runs[0].scenario.name(number)}
    data["figures"], intervals, told = {}, {}, {}
    for name, found in values.items():
        data[name], *intervals[name] = nonnegative(found)
    for name, found in figures.items():
        data["figures"][name], *told[name] = interval(found)
    return data | {"intervals": intervals | {"figures": told}}
