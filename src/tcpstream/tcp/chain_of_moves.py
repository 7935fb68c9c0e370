"""Chains given by the moves from each state: the shortest way to a new TCP."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..errors import AccuracyError, InputError
from ..path import Path
from .chain import MOST_ROUNDS, MOST_STATES, Chain, Transitions
from .silences import LEVELS, Waits, wait

State = tuple[Any, ...]


class Move(NamedTuple):
    """One way to leave a state.

    Attributes
    ----------
    to : tuple
        The next state.
    probability : float
    received : int
        Packets that arrive in the first round.
    rounds : float
        How long it takes, 1 at least; between two whole numbers it is either, so that the mean is kept.
    in_order : int, optional
        Those received that are in order at the end of the first round; all of them by default.
    """

    to: State
    probability: float
    received: int
    rounds: float = 1
    in_order: int | None = None


class ChainOfMoves(Chain):
    """A chain whose states are those that can be reached from the first one.

    Parameters
    ----------
    start : tuple
        State in which a video begins.
    moves : callable
        From a state to the moves out of it, whose probabilities sum to 1.
    fields : tuple of str
        Names of the elements of a state; the back-off level, if any, is called ``e``.

    Raises
    ------
    AccuracyError
        For more than a million states.
    """

    def __init__(self, start: State, moves: Callable[[State], Iterable[Move]], fields: tuple[str, ...]) -> None:
        self.start, self.moves, self.fields = start, moves, fields

    def transitions(self) -> Transitions:
        """Return every transition."""
        labels, number = [self.start], {self.start: 0}
        rows: list[tuple[int, int, float, int, int, int]] = []
        for i, state in enumerate(labels):  # the list grows while it is read
            for move in self.moves(state):
                if not (isinstance(move.to, tuple) and 1 <= move.rounds < MOST_ROUNDS):
                    raise InputError(
                        f"a move leads to a tuple and takes 1 round or more, got {move.to!r} and {move.rounds:g} "
                        f"rounds from state {state}"
                    )
                if move.to not in number:
                    number[move.to] = len(labels)
                    labels.append(move.to)
                in_order = move.received if move.in_order is None else move.in_order
                for rounds, share in wait(move.rounds):
                    rows.append((i, number[move.to], move.probability * share, move.received, in_order, rounds))
            if len(labels) > MOST_STATES:
                raise AccuracyError(f"the TCP chain has more than {MOST_STATES} states: give a smaller max_window")
        return Transitions.of(labels, rows, fields=self.fields)


def timeout_moves(path: Path, level: int, again: bool, state: Callable[[int, bool], State], on: State) -> list[Move]:
    """Return the moves of a timeout: a retransmission, then the first new packet; each lost again backs off.

    Parameters
    ----------
    path : Path
    level : int
        e, back-off level, 1 .. 7.
    again : bool
        Whether a retransmission is sent, or the first new packet after one.
    state : callable
        From level and `again` to the state that stands for them.
    on : tuple
        State after the timeout.
    """
    longer = state(min(level + 1, LEVELS), True)
    silence = Waits.of(path).backoff[level - 1]
    return [
        Move(state(level, False) if again else on, 1 - path.loss, 1),
        Move(longer, path.loss, 0, silence),
    ]
