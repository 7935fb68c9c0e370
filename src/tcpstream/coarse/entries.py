"""The entries of a chain in steps, apart from the backlog: how long they are visited, and what they lead to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .outlook import outlook, stationary
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
        visits = np.maximum(stationary(source, target, weight, E), 0.0)
        order = np.argsort(-outlook(source, target, weight, change, visits, np.ones(E)), kind="stable")
        place = np.argsort(order)
        back = place[target] <= place[source]
        turning = np.bincount(source[back], weight[back], E).astype(np.float64)
        ends = np.maximum(np.bincount(target[back], (visits[source] * weight)[back], E), 0.0)
        turns = np.bincount(target[back], minlength=E) > 0
        return cls(order, turns, ends / ends.sum(), outlook(source, target, weight, change, visits, turning))
