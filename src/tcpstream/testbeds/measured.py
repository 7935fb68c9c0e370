"""What the runs of a test bed have shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ..sim.replications import interval

Record = dict[str, Any]


class Measured(NamedTuple):
    """A mean over runs, and its 95% interval, which is NaN for a single run."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        if np.isnan(self.low):
            return f"{self.mean:.3g}"
        return f"{self.mean:.3g} ({self.low:.3g} to {self.high:.3g})"


class Seen:
    """Numbers of runs, by condition.

    Parameters
    ----------
    records : iterable of dict
        ``condition`` and ``figures`` of each run.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for record in records:
            found[record["condition"]].append(record["figures"])
        self._runs = dict(found)

    def runs(self, condition: str) -> list[dict[str, Any]]:
        """Return the numbers of each run of a condition."""
        return self._runs[condition]

    def of(self, condition: str, value: str | Callable[[dict[str, Any]], float]) -> Measured:
        """Return a number, or what is made of the numbers of a run, over the runs of a condition."""
        make = (lambda run: run[value]) if isinstance(value, str) else value
        found = [make(run) for run in self.runs(condition)]
        return Measured(*interval([np.nan if one is None else one for one in found]))
