"""What entries of a chain in steps are visited, and lead to, in the long run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numerics import linear

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


LARGE, TURNS, SETTLED = 2000, 500, 1e-14
"""Entries from which on their equations are iterated, how often at most, and how much of the distribution the last time
may move."""

KNOWN = 1e-12
"""What the last iteration may change of an outlook, over its range."""


def stationary(source: Ints, target: Ints, weight: Floats, count: int) -> Floats:
    """Return the stationary distribution of so many entries under moves."""
    found = _Turns(source, target, weight, count).stationary() if count > LARGE else None
    return _eliminated(source, target, weight, count) if found is None else found


class _Turns:
    """Moves between entries, most of which lead on to later ones: until they turn back they are one substitution."""

    def __init__(self, source: Ints, target: Ints, weight: Floats, count: int) -> None:
        from scipy.sparse import coo_array
        from scipy.sparse.linalg import splu

        on, every = target >= source, np.arange(count)
        values = np.append(np.ones(count), -weight[on])
        ahead = coo_array((values, (np.append(every, target[on]), np.append(every, source[on]))), shape=(count, count))
        self._back = coo_array((weight[~on], (target[~on], source[~on])), shape=(count, count)).tocsr()
        self._ahead: Any = splu(ahead.tocsc(), permc_spec="NATURAL", diag_pivot_thresh=0.0)

    def stationary(self) -> Floats | None:
        """Return the stationary distribution; None if it takes long."""
        count = self._back.shape[0]
        found: Floats = np.full(count, 1 / count)
        for _ in range(TURNS):
            turned: Floats = self._ahead.solve(self._back @ found)
            total = float(turned.sum())
            if not math.isfinite(total) or total <= 0:
                return None
            turned /= total
            if np.abs(turned - found).sum() <= SETTLED:
                return turned
            found = (turned + found) / 2
        return None

    def outlook(self, change: Floats) -> Floats | None:
        """Return the solution of Poisson's equation for changes of mean 0; None if it takes long."""
        found: Floats = np.zeros(len(change))
        for _ in range(TURNS):
            further: Floats = self._ahead.solve(change + self._back.T @ found, "T")
            moved, found = further - found, further
            if np.ptp(moved) <= KNOWN * np.ptp(found):
                return found
        return None


def _eliminated(source: Ints, target: Ints, weight: Floats, count: int) -> Floats:
    entries, others = np.arange(count), target < count - 1  # the last balance follows from the others
    return linear.solve(
        np.concatenate([entries[:-1], target[others], np.full(count, count - 1)]),
        np.concatenate([entries[:-1], source[others], entries]),
        np.concatenate([np.ones(count - 1), -weight[others], np.ones(count)]),
        np.eye(1, count, count - 1)[0],
    )


def outlook(source: Ints, target: Ints, weight: Floats, change: Floats, visits: Floats, clock: Floats) -> Floats:
    """Return what entries add to later changes, over the mean in the time of a clock (Poisson's equation).

    Parameters
    ----------
    source, target, weight : arrays
        Moves between entries.
    change, clock : (E,) arrays
        Mean change by a move from each entry, and the time that it takes.
    visits : (E,) array
        Stationary distribution.
    """
    count, usual = len(change), int(np.argmax(visits))
    change = change - clock * float(visits @ change) / float(visits @ clock)
    if count > LARGE:
        found = _Turns(source, target, weight, count).outlook(change)
        if found is not None:
            return np.asarray(found - found[usual])
    entries, kept = np.arange(count), source != usual
    change[usual] = 0.0  # its equation follows from the others
    return linear.solve(
        np.concatenate([entries, source[kept]]), np.concatenate([entries, target[kept]]),
        np.concatenate([np.ones(count), -weight[kept]]), change,
    )  # fmt: skip
