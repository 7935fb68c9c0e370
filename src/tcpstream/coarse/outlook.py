"""What entries of a chain in steps are visited, and lead to, in the long run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..numerics import linear

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


LARGE, STEPS, SETTLED = 2000, 6000, 1e-14
"""Entries from which on the stationary distribution is iterated, steps that this may take, and how much of the
distribution the last one may move."""


def stationary(source: Ints, target: Ints, weight: Floats, count: int) -> Floats:
    """Return the stationary distribution of so many entries under moves."""
    found = _iterated(source, target, weight, count) if count > LARGE else None
    return _eliminated(source, target, weight, count) if found is None else found


def _iterated(source: Ints, target: Ints, weight: Floats, count: int) -> Floats | None:
    """Return the stationary distribution by steps that every second time stay where they are; None if it takes long."""
    from scipy.sparse import csr_array

    step = csr_array((weight, (target, source)), shape=(count, count))
    found = np.full(count, 1 / count)
    for _ in range(STEPS // 10):
        for _ in range(10):
            moved = step @ found
            change = float(np.abs(moved - found).sum())
            found = (moved + found) / (moved.sum() + found.sum())
        if change <= SETTLED:
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
    entries, kept = np.arange(count), source != usual
    change[usual] = 0.0  # its equation follows from the others
    return linear.solve(
        np.concatenate([entries, source[kept]]), np.concatenate([entries, target[kept]]),
        np.concatenate([np.ones(count), -weight[kept]]), change,
    )  # fmt: skip
