"""How a player that fills its buffer goes on once it is full: which states it leads to, with how much held."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .buffer_moves import Passing, Totals, of_state, transition
from .buffer_play import after
from .buffer_state import Known, Measures, Nothing

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kept(nogil=True)
def filled(
    goal: int, begin: Floats, needs: Passing, moves: Totals, nothing: Nothing, lengths: Ints
) -> Floats:  # fmt: skip
    """Return how playback begins of a player that holds nothing, and fills its buffer up to a goal.

    Parameters
    ----------
    goal : int
    begin : (S,) array
        Distribution of its state.
    needs : Passing
        Of the first round, to play.
    moves : Totals
    nothing : Nothing
        For waits that are not counted.
    lengths : (l,) int array
        Rounds that transitions take, increasing, and 0 before them.

    Returns
    -------
    (l, S, h) array
        Probability that it plays for so many rounds, until when its state is another one, by what was received beyond
        the goal until then.
    """
    S = len(moves.starts) - 1
    most = int(max(moves.received.max(), needs.received.max()))  # what hardly ever comes is in none of the totals
    begun = np.zeros((len(lengths), S, most + 1))
    coming = np.zeros((goal + most + 1, S))
    for s in range(S):
        coming[0, s] = begin[s]
    behind = np.zeros(len(nothing.states))
    for at in range(goal):
        here = coming[at]
        behind[:] = 0.0
        for s in range(S):
            for o in range(nothing.starts[s], nothing.starts[s + 1]):
                behind[nothing.place[nothing.target[o]]] += here[s] * nothing.chance[o]
        for j in range(len(nothing.states)):
            for i in range(len(nothing.states)):
                here[nothing.states[j]] += behind[i] * nothing.inverse[0, i, j]
        for s in range(S):
            mass = here[s]
            if mass == 0.0:
                continue
            near, first, last = of_state(s, goal - at, needs, moves)
            for o in range(first, last):
                target, d, total, enough, w = transition(o, near, needs, moves)
                if enough != 0.0:
                    begun[np.searchsorted(lengths, d), target, at + total - goal] += mass * enough
                if w == 0.0 or total == 0:
                    continue
                if at + total < goal:
                    coming[at + total, target] += mass * w
                else:
                    begun[np.searchsorted(lengths, d - 1), target, at + total - goal] += mass * w
    return begun


@kept(nogil=True)
def seen_from(
    x: int, goal: int, lengths: Ints, which: Ints, chance: Floats, known: Known, on: Measures
) -> Floats:  # fmt: skip
    """Return what a player sees from the start, with place x the begin of the video; time is not counted.

    Parameters
    ----------
    x, goal : int
    lengths : int array
    which : (n, 3) int array
        Where `filled` is not 0.
    chance : (n,) array
        What it is there.
    """
    out = np.zeros(len(on.base))
    if goal >= x * known.round:
        return on.base.copy()
    for i in range(len(which)):
        after(out, chance[i], x, which[i, 1], goal + which[i, 2], lengths[which[i, 0]], known, on)
    return out
