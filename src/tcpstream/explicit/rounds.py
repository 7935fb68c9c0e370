"""The TCP source on a clock of one round: waits become waiting states that carry target and rounds left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..path import Path
from ..tcp.table_vi import START, State, Transition, transitions


class RoundChain(NamedTuple):
    """The TCP source, one round a step.

    Attributes
    ----------
    states : list of (State, int)
        TCP state and rounds left to wait before TCP is in it; number 0 is the start of a video.
    source, target : NDArray, shape (moves,)
        Numbers of states; `source` does not decrease.
    probability : NDArray, shape (moves,)
        Of each move; those of one source sum to 1.
    packets : NDArray, shape (moves,)
        Delivered in the round [packets].
    """

    states: list[tuple[State, int]]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    probability: NDArray[np.float64]
    packets: NDArray[np.int64]

    @property
    def waiting(self) -> NDArray[np.int64]:
        """Rounds left to wait, per state."""
        return np.array([waiting for _, waiting in self.states], dtype=np.int64)


def round_chain(path: Path) -> RoundChain:
    """Return the states that the source of `path` reaches from the start of a video, and their moves.

    A transition of d rounds delivers its packets in the first one and leads to its target with d - 1 rounds
    left to wait.

    Raises
    ------
    InputError
        For another TCP than the paper's, or slow start.
    """
    if path.tcp != "reno":
        raise InputError(f"the explicit chains are the paper's, of tcp = reno, got {path.tcp}")
    if path.initial_window is not None:
        raise InputError("the explicit chains are the paper's, without slow start: leave out initial_window")
    if path.detection != "duplicates":
        raise InputError("the explicit chains are the paper's, without RACK-TLP: leave out detection")
    start = (START, 0)
    states, number = [start], {start: 0}
    moves: list[tuple[int, int, float, int]] = []
    for source, (state, waiting) in enumerate(states):  # the list grows while it is read
        if waiting > 0:
            row = [((state, waiting - 1), 1.0, 0)]
        else:
            row = [((t.target, t.rounds - 1), t.probability, t.packets) for t in _transitions(path, state)]
        for target, probability, packets in row:
            if target not in number:
                number[target] = len(states)
                states.append(target)
            moves.append((source, number[target], probability, packets))
    sources, targets, probabilities, delivered = zip(*moves)
    return RoundChain(
        states,
        np.array(sources, dtype=np.int64),
        np.array(targets, dtype=np.int64),
        np.array(probabilities, dtype=np.float64),
        np.array(delivered, dtype=np.int64),
    )


def _transitions(path: Path, state: State) -> list[Transition]:
    """Return the row of `state` in Table VI for the TCP of `path`."""
    return transitions(
        state,
        p=path.loss,
        max_window=path.max_window,
        timeout_ratio=path.timeout_ratio,
        rounds_per_increase=path.rounds_per_increase,
        backoff=path.backoff,
        halving=path.halving,
    )
