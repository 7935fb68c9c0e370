"""What entries of a chain in steps are visited, and lead to, in the long run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..numerics import linear

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def stationary(source: Ints, target: Ints, weight: Floats, count: int) -> Floats:
    """Return the stationary distribution of so many entries under moves."""
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
