"""The distribution of the packets delivered over time, as far as some packets, on one lattice."""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from ..kernels.curves_on_lattice import shortfalls
from ..system import watch
from .forward import Forward
from .steps import Steps

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TINY = 1e-18
"""Probability left out at the low end of each row."""

GONE = 1e-13
"""Probability that is not worth another step."""


class Law:
    """E[(y - A)+] at the ends of steps, or of some of them, made as far as it is asked for.

    Parameters
    ----------
    steps : Steps
    quantum : float
        [packets]
    edge : float
        Packets up to which A is followed.
    due, lead : float
        m, and the lead over it from which nothing is late any more [packets]; infinite where everything is followed.
    every : int
        Of so many steps the last one has a row.
    """

    def __init__(
        self, steps: Steps, quantum: float, edge: float, due: float, lead: float, every: int = 1
    ) -> None:  # fmt: skip
        self.step, self.quantum, self.edge, self.due, self.lead = steps.step * every, quantum, edge, due, lead
        self._steps, self._every = steps, every
        self._forward: Forward | None = None
        self._lock = Lock()
        self._rows: list[Floats] = [np.zeros(0)]
        self._origins: list[int] = [0]
        self._slopes: list[float] = [1.0]
        self._means: list[float] = [0.0]
        self._packed: tuple[Floats, Ints, Ints, Floats, Floats] | None = None
        self.complete = False

    def until(self, rounds: float) -> int:
        """Make the rows up to a round; return how many steps there are rows for (the last may be before it)."""
        wanted = int(np.ceil(rounds / self.step - 1e-9))
        while len(self._rows) <= wanted and not self.complete:
            watch.at(len(self._rows) - 1, wanted, watch.SHORTER)
            with self._lock:
                if len(self._rows) <= wanted and not self.complete:
                    self._make()
        return len(self._rows) - 1

    def below(self, rounds: float) -> float:
        """Return a bound on the probability that A is below the edge after some rounds, from the rows so far."""
        return self._slopes[min(int(rounds / self.step), len(self._slopes) - 1)]

    def _made(self) -> Forward:
        """Return the transient after the rows that there are: after an interruption from the start again."""
        forward, self._forward = self._forward, None
        if forward is None:
            forward = Forward(self._steps, self.quantum, self.edge)
            for _ in range((len(self._rows) - 1) * self._every):
                forward.step(self._safe(forward))
        return forward

    def _safe(self, forward: Forward) -> float:
        """Return the packets from which nothing is late any more after the next step."""
        return self.due * (forward.number + 1) * self._steps.step + self.lead

    def _make(self) -> None:
        forward = self._made()
        for _ in range(self._every - 1):
            forward.step(self._safe(forward))
        law = forward.measured(self._safe(forward))
        mass, first, Q = law.mass, law.origin, self.quantum
        below = np.cumsum(mass)
        used = np.flatnonzero(np.abs(below) > TINY)
        start = int(used[0]) if len(used) else len(mass)
        end = int(np.flatnonzero(mass)[-1]) + 1 if mass.any() else start
        end = max(end, start)
        sums = Q * np.append(0.0, np.cumsum(below[start:end]))  # at start, start + 1, ..., end
        row = np.maximum(sums, 0.0)  # weights of what lies between points may be negative
        self._origins.append(first + start)
        total = float(below[end - 1]) if end > start else 0.0
        self._slopes.append(total)
        self._means.append(float((np.arange(start, end) + first) @ mass[start:end]) * Q / total if total > 0 else 0.0)
        self._packed = None
        self._rows.append(row if end > start else np.zeros(0))
        self.complete = total < GONE
        self._forward = None if self.complete else forward

    def _table(self) -> tuple[Floats, Ints, Ints, Floats, Floats]:
        """Return all rows in one, their origins, where each starts, its last slope and its mean."""
        with self._lock:
            if self._packed is None:
                sizes = np.array([len(row) for row in self._rows])
                self._packed = (
                    np.concatenate(self._rows), np.array(self._origins), np.append(0, np.cumsum(sizes)),
                    np.array(self._slopes), np.array(self._means),
                )  # fmt: skip
            return self._packed

    def missing(self, rounds: Floats, packets: Floats) -> Floats:
        """Return E[(y - A)+] for y = `packets` at the ends of `rounds`, real numbers, between the ends of steps."""
        last = self.until(float(rounds.max(initial=0.0)))
        table, origins, starts, slopes, means = self._table()
        x = rounds / self.step
        low = np.minimum(np.floor(x + 1e-9).astype(np.int64), last)
        share = np.clip(x - low, 0.0, 1.0)
        high = np.minimum(low + 1, last)
        share = np.where(share < 1e-9, 0.0, share)
        total = np.zeros(len(rounds))
        moved = np.where(slopes[high] > 0.5, means[high] - means[low], self.step * self.due)
        for row, weight, shift in ((low, 1 - share, -share * moved), (high, share, (1 - share) * moved)):
            result = np.empty(len(rounds))
            shortfalls(table, origins, starts, slopes, self.quantum, row, packets + shift, result)
            total += np.where(weight > 0, weight * result, 0.0)
        return np.where(x > last + 1e-9, 0.0, total) if self.complete else total
