"""Stored media by sparse matrices: the law of A of every round, by scipy CSR times a vector or an array.

Both start from the same chain of one round a step (waits written out as states), both stop at the largest number of
packets that any rate has due, and both leave f and P_i to the same lines of numpy. Building the matrices is not timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tcpstream.explicit import explicit_stored
from tcpstream.explicit.rounds import round_chain

from ..cases import StoredTable, stored_table
from ..outcome import Outcome, timed

Floats = NDArray[np.float64]


def pairs(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """One matrix over the pairs (TCP state, A), times a vector each round."""
    table = stored_table(quick)
    chain = explicit_stored(table.path, max(table.videos, key=lambda video: video.packets))
    backwards = chain.matrix.T.tocsr()
    per_position = len(round_chain(table.path).states)
    goal = (backwards.shape[0] - 1) // per_position

    def left() -> Floats:
        now = chain.start
        rows = np.empty((table.rounds, goal))
        for i in range(table.rounds):
            now = np.asarray(backwards @ now)
            rows[i] = now[:-1].reshape(goal, per_position).sum(axis=1)
        return rows

    yield _measured(table, left, int(backwards.shape[0]), "one CSR matrix over (state, A)")


def slabs(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """One matrix over the TCP states for each number of packets S, times the array (state, A), shifted by S.

    The matrices are stacked, targets without a source left out, so that a round is one product; and only the
    positions that can have been reached are multiplied.
    """
    table = stored_table(quick)
    tcp = round_chain(table.path)
    n = len(tcp.states)
    goal = int(np.ceil(max(video.packets for video in table.videos) - 1e-9))
    rows, row = np.unique(tcp.packets * n + tcp.target, return_inverse=True)
    stacked = sparse.csr_array((tcp.probability, (row, tcp.source)), shape=(len(rows), n))
    blocks = [(S, np.flatnonzero(rows // n == S)) for S in np.unique(tcp.packets).tolist()]

    def left() -> Floats:
        now = np.zeros((n, 1))
        now[0, 0] = 1.0
        result = np.zeros((table.rounds, goal))
        reach = 1
        for i in range(table.rounds):
            ahead = min(goal, reach + blocks[-1][0])
            following = np.zeros((n, ahead))
            moved = stacked @ now
            for S, block in blocks:
                width = min(reach, ahead - S)
                following[rows[block] % n, S : S + width] += moved[block, :width]
            now, reach = following, ahead
            result[i, :reach] = now.sum(axis=0)
        return result

    yield _measured(table, left, n * goal, "one CSR matrix for all S, times the array (state, A)")


def _measured(table: StoredTable, left: Callable[[], Floats], states: int, note: str) -> Outcome:
    seconds, (f, P) = timed(lambda _: judged(table, left()), most=3, budget=15, warm=False)
    return Outcome(seconds, {"f": f, "P": P}, states=states, claimed="rounding", note=note)


def judged(table: StoredTable, left: Floats) -> tuple[Floats, Floats]:
    """Return f by rate and delay, and P_i by rate, delay and round, from the law of A after each round.

    Parameters
    ----------
    table : StoredTable
        Rates and startup delays.
    laws : NDArray, shape (rounds, positions)
        What has delivered more than the last position is left out: it is never late.
    """
    below = np.cumsum(left, axis=1)
    below = np.hstack([np.zeros((len(below), 1)), below])  # P(A < y)
    shortfall = np.hstack([np.zeros((len(below), 1)), np.cumsum(below[:, 1:], axis=1)])  # E[(y - A)+]
    row = np.arange(table.rounds)
    last = shortfall.shape[1] - 1

    def at(y: Floats) -> Floats:
        k = np.minimum(y.astype(np.int64), last - 1)
        low = shortfall[row, k]
        return np.asarray(low + (shortfall[row, k + 1] - low) * (y - k))

    times = table.path.rtt * np.arange(table.rounds + 1)
    f = np.empty((len(table.rates), len(table.delays)))
    P = np.empty((*f.shape, table.rounds))
    for i, rate in enumerate(table.rates):
        for j, delay in enumerate(table.delays):
            due = np.round(rate * np.maximum(times - delay, 0), 9)
            f[i, j] = (at(due[1:]) - at(due[:-1])).sum() / (rate * table.path.rtt * table.rounds)
            P[i, j] = below[row, np.ceil(due[1:]).astype(np.int64)]
    return f, P
