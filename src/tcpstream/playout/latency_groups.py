"""Transitions of a chain as a live stream sees them, in quanta: grouped by all but what is in order in a round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.latency_passes import Moves, Rounds
from .deliveries import Deliveries
from .lattice import WHOLE

Ints = NDArray[np.int64]

NOTHING = 1e-18
"""Probability that is none."""


def grouped(found: Deliveries, quantum: float) -> Moves:
    """Return deliveries in quanta of some packets. What lies between two is shared by both, so that means are kept."""
    columns = [found.source, found.target, found.rounds, found.short.astype(np.int64)]
    packets = [found.ordered, found.ordered + found.held, found.second]
    chance = found.chance
    for i in range(len(packets)):
        at = packets[i] / quantum
        low = np.floor(at + WHOLE).astype(np.int64)
        share = np.where(at - low > WHOLE, at - low, 0.0)
        more = share > 0
        columns = [np.append(one, one[more]) for one in columns]
        packets = [np.append(one, one[more]) for one in packets]
        packets[i] = np.append(low, low[more] + 1)
        chance = np.append(chance * (1 - share), (chance * share)[more])
    (source, target, rounds, short), (ordered, first, second) = columns, packets
    ordered = np.where(short == 1, first, ordered)

    def rounds_by(received: Ints, which: NDArray[np.bool_]) -> Rounds:
        keys = np.column_stack([source, target, rounds, received])[which]
        groups, number = np.unique(keys, axis=0, return_inverse=True)
        by_order = np.zeros((len(groups), int(ordered[which].max(initial=0)) + 2))
        np.add.at(by_order, (number.ravel(), ordered[which]), chance[which])
        used = np.abs(by_order).sum(axis=1) > NOTHING
        tail = np.ascontiguousarray(np.cumsum(by_order[used, ::-1], axis=1)[:, ::-1])
        from_, to, lasts, in_all = (np.ascontiguousarray(one) for one in groups[used].T)
        return Rounds(np.searchsorted(from_, np.arange(found.states + 1)), to, lasts, in_all, tail)

    return Moves(rounds_by(first, short == 0), rounds_by(second, short == 1), rounds_by(first + second, short == 1))
