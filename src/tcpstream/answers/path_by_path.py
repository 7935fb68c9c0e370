"""Stored results of the paths of a population: each on a core, their mean over sessions, and what it requires."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AccuracyError, InputError, unremarked
from ..numerics.curves import smallest_delay
from ..system.threads import on_cores
from .session_paths import Population
from .stored_streaming import CERTAIN, StoredStreaming

Floats = NDArray[np.float64]
Answer = TypeVar("Answer")

SHARE, PART = 50, 500
"""Of the longest round trip, and of the delay, to which that is found with which a session has no stall."""


class PathByPath:
    """Stored results of several paths; what is the same for two of them is solved once.

    Parameters
    ----------
    results : sequence of StoredStreaming
        The same object where paths are equal.
    population : Population

    Attributes
    ----------
    solved : list of StoredStreaming
        Each once: a row of what the methods return.
    place : (n,) int array
        The row of each path.
    """

    def __init__(self, results: Sequence[StoredStreaming], population: Population) -> None:
        rows = {one: row for row, one in enumerate(dict.fromkeys(results))}
        self.solved = list(rows)
        self.place = np.array([rows[one] for one in results])
        self._names = [population.names[results.index(one)] for one in self.solved]
        self._weights: Floats = np.bincount(self.place, population.weights).astype(float)

    def mean(self, rows: ArrayLike) -> Any:
        """Return the mean over sessions of something that has a row for each path that is solved."""
        return self._weights @ np.asarray(rows)

    def late(self, delays: Floats) -> Floats:
        """Return f of each path, a column for each startup delay [s]."""
        return np.array(self._each(lambda one: one.late_fraction(delays)))

    def late_at_worst(self, delays: Floats) -> Floats:
        """Return f and its stated error together of each path, a column for each startup delay [s]."""
        return np.array(self._each(lambda one: [one.late_at_worst(tau) for tau in delays.tolist()]))

    def stalled(self, delays: Floats) -> tuple[Floats, Floats]:
        """Return P(any stall) of each path and its absolute errors, a column for each startup delay [s]."""
        n, different = len(self.solved), list(dict.fromkeys(delays.tolist()))
        pieces = [(row, tau) for tau in different for row in range(n)]  # neighbours are of different paths
        found = on_cores(lambda piece: self._of_row(piece[0], lambda one: one.stalled(np.array([piece[1]]))), pieces)
        columns = np.array([different.index(tau) for tau in delays.tolist()], dtype=int)
        late, errors = np.array(found).reshape(len(different), n, 2).transpose(2, 1, 0)[:, :, columns]
        return late, errors

    def between(self, delays: Floats) -> Floats:
        """Return the share of the variance of a stall that lies between paths; 0 where there is no variance."""
        chance, _ = self.stalled(delays)
        P = self.mean(chance)
        random = (P > CERTAIN) & (P < 1 - CERTAIN)
        share = self.mean((chance - P) ** 2) / np.where(random, P * (1 - P), 1.0)
        return np.where(random, np.minimum(share, 1.0), 0.0)

    def delay_for_late(self, target: float) -> float:
        """Return the smallest startup delay [s] at which the mean late fraction, with its errors, is a target."""
        if len(self.solved) == 1:
            return self.solved[0].required_delay(target)
        _check("late fraction", target, self.mean([one.error_bound for one in self.solved]))
        return smallest_delay(self._at_one(self.late_at_worst), target, min(one.path.rtt for one in self.solved))

    def delay_without_stall(self, no_late: float) -> float:
        """Return the smallest startup delay [s] with which a session has no stall, with a probability."""
        if len(self.solved) == 1:
            return self.solved[0].required_delay(no_late=no_late)
        wanted = 1 - no_late
        _check("probability of a stall", wanted, self.mean([one._no_late_floor for one in self.solved]))
        R, least = (max(each) for each in zip(*((one.path.rtt, one.alpha_known_from) for one in self.solved)))
        # f, at most P(any stall), takes no pass of its own: the search begins where it is low enough
        enough = smallest_delay(self._at_one(self.late), wanted, R, tolerance=R)
        stalls = self._at_one(lambda delays: np.add(*self.stalled(delays)))
        step, tolerance = max(enough, least + R), max(R / SHARE, enough / PART)
        if stalls(step) > wanted:  # mostly: the shortest delays take longest
            least, step = step, 2 * step
        return smallest_delay(stalls, wanted, step, low=least, tolerance=tolerance)

    def _at_one(self, answer: Callable[[Floats], Floats]) -> Callable[[float], float]:
        """Return the mean over sessions as a function of one valid startup delay [s]."""
        return lambda tau: float(self.mean(answer(np.array([tau])))[0])

    def _each(self, work: Callable[[StoredStreaming], Answer]) -> list[Answer]:
        with unremarked():  # the caller has remarked on the delays
            return on_cores(lambda row: self._of_row(row, work), range(len(self.solved)))

    def _of_row(self, row: int, work: Callable[[StoredStreaming], Answer]) -> Answer:
        return named(self._names[row], lambda: work(self.solved[row]))


def named(name: str, work: Callable[[], Answer]) -> Answer:
    """Return what some work on a path does; what is refused is refused with the name of the path."""
    try:
        return work()
    except (AccuracyError, InputError) as error:
        raise type(error)(f"path {name}: {error}") from None


def _check(what: str, wanted: float, bound: float) -> None:
    """Raise `AccuracyError` for a target that is finer than the solves."""
    if wanted < 10 * bound:
        raise AccuracyError(
            f"{what} of {wanted:.1e} is finer than ten times the error bound of {bound:.1e}: give {10.1 * bound:.1e} "
            "or more"
        )
