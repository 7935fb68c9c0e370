"""The entries of a chain in steps, apart from the backlog: how long they are visited, and what they lead to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..numerics import linear
from .ways import Ways

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Entries:
    """Entries in an order in which most moves go on: what turns back is watched.

    The order is that of the outlook, the most packets to come first: so it follows lines along, and a loss turns back.

    Attributes
    ----------
    order : (E,) int array
    turns : (E,) bool array
        Whether any move turns back to it.
    stationary : (E,) array
        Probability with which a move that turns back ends there, in the long run.
    outlook : (E,) array
        What an entry adds to the change of the backlog later on, over the mean [packets].
    """

    order: Ints
    turns: NDArray[np.bool_]
    stationary: Floats
    outlook: Floats

    @classmethod
    def of(cls, ways: Ways) -> Entries:
        """Return those of some ways."""
        E = ways.steps.entries
        pairs, pair = np.unique(ways.source * E + ways.target, return_inverse=True)
        source, target = pairs // E, pairs % E
        weight = np.bincount(pair.ravel(), ways.weight).astype(np.float64)
        change = np.bincount(ways.source, ways.weight * ways.change, E).astype(np.float64)
        visits = _stationary(source, target, weight, E)
        order = np.argsort(-_outlook(source, target, weight, change, visits, np.ones(E)), kind="stable")
        place = np.argsort(order)
        back = place[target] <= place[source]
        turning = np.bincount(source[back], weight[back], E).astype(np.float64)
        stationary = np.bincount(target[back], (visits[source] * weight)[back], E).astype(np.float64)
        turns = np.bincount(target[back], minlength=E) > 0
        outlook = _outlook(source, target, weight, change, visits, turning)
        return cls(order, turns, np.maximum(stationary, 0.0) / stationary.sum(), outlook)


def _stationary(source: Ints, target: Ints, weight: Floats, E: int) -> Floats:
    """Return the stationary distribution of E entries."""
    states, others = np.arange(E), target < E - 1  # the last balance follows from the others
    found = linear.solve(
        np.concatenate([states[:-1], target[others], np.full(E, E - 1)]),
        np.concatenate([states[:-1], source[others], states]),
        np.concatenate([np.ones(E - 1), -weight[others], np.ones(E)]),
        np.eye(1, E, E - 1)[0],
    )
    return np.maximum(found, 0.0)


def _outlook(source: Ints, target: Ints, weight: Floats, change: Floats, visits: Floats, clock: Floats) -> Floats:
    """Return what entries add to later changes, over the mean in the time of a clock (Poisson's equation)."""
    E, usual = len(change), int(np.argmax(visits))
    change = change - clock * float(visits @ change) / float(visits @ clock)
    states, kept = np.arange(E), source != usual
    change[usual] = 0.0  # its equation follows from the others
    return np.asarray(
        linear.solve(
            np.concatenate([states, source[kept]]), np.concatenate([states, target[kept]]),
            np.concatenate([np.ones(E), -weight[kept]]), change,
        )
    )  # fmt: skip
