"""Any chain on a clock of one round: a transition of d rounds leads to its target with d - 1 rounds left to wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import AccuracyError
from ..tcp.chain import Chain
from ..tcp.growth import Growth

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Matrix: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"

MOST_STATES = 200_000
"""States, waiting ones included, that are written out at most."""


@dataclass(frozen=True)
class Moves:
    """The moves of one round that deliver the same.

    Attributes
    ----------
    received, in_order : int
        Packets.
    matrix : csr_array, shape (N, N)
        From column state to row state.
    """

    received: int
    in_order: int
    matrix: Matrix


@dataclass(frozen=True)
class RoundClock:
    """A chain with a step of one round; its first states are those of the chain, the others wait.

    Attributes
    ----------
    start : int
        State in which a video begins.
    states : int
        N.
    sends : (N,) bool array
        Whether a state sends, or waits.
    moves : tuple of Moves
    waits : csr_array, shape (N, N)
        What a round in which nothing can be sent does: who waits goes on, who would send stays.
    """

    start: int
    states: int
    sends: NDArray[np.bool_]
    moves: tuple[Moves, ...]
    waits: Matrix

    @classmethod
    def of(cls, chain: Chain) -> RoundClock:
        """Return the clock of a chain.

        Raises
        ------
        AccuracyError
            For more than 200,000 states.
        """
        rows = chain.written_out
        n = rows.n_states
        longest = np.zeros(n, dtype=np.int64)  # rounds left to wait before each state, at most
        np.maximum.at(longest, rows.to_state, rows.rounds - 1)
        total = n + int(longest.sum())
        if total > MOST_STATES:
            raise AccuracyError(
                f"the TCP chain has {n:,} states and {total - n:,} rounds of waits before them, too many to write out, "
                f"at most {MOST_STATES:,}: take a smaller max_window or a shorter timer"
            )
        first = n + np.cumsum(longest) - longest  # of the states that wait for each, one round left first
        left = rows.rounds - 1
        to = np.where(left > 0, first[rows.to_state] + left - 1, rows.to_state)
        waiting = np.arange(n, total)
        target = np.repeat(np.arange(n), longest)
        ends = first[target] == waiting
        onwards = np.where(ends, target, waiting - 1)
        keys = [(int(s), int(o)) for s, o in np.unique(np.column_stack([rows.received, rows.in_order]), axis=0)]
        moves = []
        for received, in_order in sorted({*keys, (0, 0)}):
            at = (rows.received == received) & (rows.in_order == in_order)
            from_, into, weight = rows.from_state[at], to[at], rows.probability[at]
            if received == 0:
                from_, into = np.append(from_, waiting), np.append(into, onwards)
                weight = np.append(weight, np.ones(len(waiting)))
            moves.append(Moves(received, in_order, _matrix(weight, into, from_, total)))
        return cls(
            start=rows.start,
            states=total,
            sends=np.arange(total) < n,
            moves=tuple(moves),
            waits=_pauses(chain, waiting, onwards, total),
        )


def _pauses(chain: Chain, waiting: Ints, onwards: Ints, total: int) -> Matrix:
    """Return what a round does in which nothing can be sent."""
    moves = chain.pauses
    if moves is None:
        here = np.arange(total - len(waiting))
        moves = Growth(here, here, np.ones(len(here)))
    return _matrix(
        np.append(moves.share, np.ones(len(waiting))), np.append(moves.to_state, onwards),
        np.append(moves.from_state, waiting), total,
    )  # fmt: skip


def _matrix(values: Floats, rows: Ints, columns: Ints, n: int) -> Matrix:
    return sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=(n, n)))
