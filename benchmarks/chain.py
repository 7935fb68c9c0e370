"""The chain of live streaming at the fewest explicit states: TCP state x backlog, one step a transition of TCP.

A wait of d rounds is one step that takes d rounds, so that no waiting states are needed: a third of the states of
`tcpstream.explicit`, and fewer steps. It is what a user of a sparse matrix would build, and the peers get it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tcpstream.tcp.table_vi import State, states, transitions

from .cases import LiveCurve

Floats = NDArray[np.float64]
Matrix: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"


@dataclass(frozen=True, eq=False)
class EmbeddedLive:
    """The chain embedded at the transitions of TCP.

    Attributes
    ----------
    matrix : csr_array, shape (levels * n, levels * n)
        Row-stochastic; state number is ``backlog * n + number of the TCP state``.
    start : int
        Window 1, no backlog.
    rounds : (levels, levels * n) csr_array
        Mean rounds that end at each backlog, in one step from each state.
    case : LiveCurve
        What it was built from.
    """

    matrix: Matrix
    start: int
    rounds: Matrix
    case: LiveCurve

    @property
    def size(self) -> int:
        """Number of states."""
        return int(self.matrix.shape[0])

    def late_fraction(self, weights: Floats) -> Floats:
        """Return f for the case's startup delays from the (not normalised) stationary law of the states."""
        return late_fraction(self.law(weights), self.case, self.case.delays)

    def law(self, weights: Floats) -> Floats:
        """Return the law of the backlog at the ends of rounds."""
        law = np.asarray(self.rounds @ weights)
        return np.asarray(law / law.sum())


def late_fraction(law: Floats, case: LiveCurve, delays: Floats) -> Floats:
    """Return ``f = E[min(m, (D - mu tau)+)] / m``, equations 1 to 4 with N = mu tau - D."""
    m = case.packets_per_round
    over = np.arange(len(law)) - case.video.packet_rate * np.asarray(delays)[..., np.newaxis]
    return np.asarray(np.clip(over, 0, m) @ law / m)


def embedded_live(case: LiveCurve, depth: int | None = None) -> EmbeddedLive:
    """Write the chain out, with backlogs 0..depth; what would be deeper is cut to it."""
    path, m = case.path, case.packets_per_round
    deepest = case.depth if depth is None else depth
    names = states(path.max_window, path.rounds_per_increase)
    number = {state: i for i, state in enumerate(names)}
    n = len(names)
    rows = [
        (i, number[t.target], t.probability, t.packets, t.rounds)
        for i, state in enumerate(names)
        for t in transitions(
            state,
            p=path.loss,
            max_window=path.max_window,
            timeout_ratio=path.timeout_ratio,
            rounds_per_increase=path.rounds_per_increase,
            backoff=path.backoff,
            halving=path.halving,
        )
    ]
    source, target, probability, packets, rounds = map(np.array, zip(*rows))

    # without a backlog TCP stays where it is for a round; else every transition
    frozen = (np.arange(n), n * m + np.arange(n), np.ones(n))
    level = np.arange(1, deepest + 1)[:, np.newaxis]
    after_first = np.maximum(level + m - packets, 0)
    after = np.minimum(after_first + m * (rounds - 1), deepest)
    weights = np.broadcast_to(probability, after.shape)
    steps = _matrix(
        np.concatenate((frozen[0], (n * level + source).ravel())),
        np.concatenate((frozen[1], (n * after + target).ravel())),
        np.concatenate((frozen[2], weights.ravel())),
        (n * (deepest + 1), n * (deepest + 1)),
    )
    ends = [(np.full(n, m), np.arange(n), np.ones(n))]
    for k in range(int(rounds.max())):
        lasts = rounds > k
        at = np.minimum(after_first[:, lasts] + m * k, deepest)
        ends.append((at.ravel(), (n * level + source[lasts]).ravel(), weights[:, lasts].ravel()))
    at_end, before, share = (np.concatenate(part) for part in zip(*ends))
    occupied = _matrix(at_end, before, share, (deepest + 1, n * (deepest + 1)))
    return EmbeddedLive(steps, number[State(1, 0, 0, 0, 0)], occupied, case)


def _matrix(rows: NDArray[np.int64], columns: NDArray[np.int64], values: Floats, shape: tuple[int, int]) -> Matrix:
    """Return a CSR matrix; what stands twice is added up."""
    return sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()
