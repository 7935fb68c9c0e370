"""Any TCP chain on a clock of one round: waits become waiting states that carry target and rounds left."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..path import Path
from ..variants import VARIANTS

#: A state of the chain, and the rounds left to wait before TCP is in it.
State = tuple[tuple[Any, ...], int]


class RoundChain(NamedTuple):
    """A TCP chain, one round a step.

    Attributes
    ----------
    fields : tuple of str
        Names of the elements of a TCP state.
    states : list of (tuple, int)
        TCP state and rounds left to wait before TCP is in it; number 0 is the start of a video.
    source, target : NDArray, shape (moves,)
        Numbers of states; `source` does not decrease.
    probability : NDArray, shape (moves,)
        Of each move; those of one state sum to 1.
    packets : NDArray, shape (moves,)
        Received in the round [packets].
    in_order : NDArray, shape (moves,)
        Those of them that are in order by its end [packets]; the others are a round later.
    """

    fields: tuple[str, ...]
    states: list[State]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    probability: NDArray[np.float64]
    packets: NDArray[np.int64]
    in_order: NDArray[np.int64]

    @property
    def waiting(self) -> NDArray[np.int64]:
        """Rounds left to wait, per state."""
        return np.array([waiting for _, waiting in self.states], dtype=np.int64)


def round_chain(path: Path) -> RoundChain:
    """Return the states that the chain of `path` reaches from the start of a video, and their moves.

    A transition of d rounds delivers its packets in the first one and leads to its target with d - 1 rounds
    left to wait. The transitions are those that the chain of `Path.tcp` writes out: Table VI for Reno.
    """
    if not isinstance(path, Path):
        raise InputError(f"the explicit chain takes a Path that stays as it is, got {type(path).__name__}")
    rows = VARIANTS[path.tcp].build(path).transitions()
    outgoing: list[list[int]] = [[] for _ in rows.labels]
    for move, state in enumerate(rows.from_state.tolist()):
        outgoing[state].append(move)
    columns = (rows.to_state, rows.rounds, rows.probability, rows.received, rows.in_order)
    to, rounds, probability, received, in_order = (column.tolist() for column in columns)
    start = (rows.start, 0)
    states, number = [start], {start: 0}
    moves: list[tuple[int, int, float, int, int]] = []
    for source, (state, waiting) in enumerate(states):  # the list grows while it is read
        if waiting > 0:
            row = [((state, waiting - 1), 1.0, 0, 0)]
        else:
            row = [((to[m], rounds[m] - 1), probability[m], received[m], in_order[m]) for m in outgoing[state]]
        for target, chance, packets, shown in row:
            if target not in number:
                number[target] = len(states)
                states.append(target)
            moves.append((source, number[target], chance, packets, shown))
    sources, targets, chances, delivered, ordered = zip(*moves)
    return RoundChain(
        rows.fields,
        [(rows.labels[state], waiting) for state, waiting in states],
        np.array(sources, dtype=np.int64),
        np.array(targets, dtype=np.int64),
        np.array(chances, dtype=np.float64),
        np.array(delivered, dtype=np.int64),
        np.array(ordered, dtype=np.int64),
    )
