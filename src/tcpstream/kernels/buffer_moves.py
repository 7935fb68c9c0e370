"""Transitions of TCP in quanta of a player's buffer, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Totals(NamedTuple):
    """Transitions by what arrives in them; those of state s are ``starts[s] .. starts[s + 1] - 1``.

    Attributes
    ----------
    starts : (S + 1,) int array
    target, rounds, received : (k,) int arrays
        Received in quanta.
    chance : (k,) array
        Negative for some, where they interpolate.
    """

    starts: Ints
    target: Ints
    rounds: Ints
    received: Ints
    chance: Floats


class Passing(NamedTuple):
    """Transitions of which the first round must deliver so many quanta in order, or not.

    Those of state s that must deliver k = 1, 2, ... are ``starts[rows[s] + k - 1] ..``.

    Attributes
    ----------
    rows : (S + 1,) int array
        First of each state; no first round delivers as much as would have the first one of the next.
    starts : (r + 1,) int array
    target, rounds, received : (k,) int arrays
    enough, short : (k,) arrays
        Probability that it delivers enough, and that it does not.
    """

    rows: Ints
    starts: Ints
    target: Ints
    rounds: Ints
    received: Ints
    enough: Floats
    short: Floats


class Lacking(NamedTuple):
    """Transitions whose first round delivers less than so many quanta in order; those of k as in `Passing`.

    Attributes
    ----------
    starts, target, rounds : arrays
    ordered, held : (k,) int arrays
        In order in the first round, and what is in order later.
    chance : (k,) array
    """

    starts: Ints
    target: Ints
    rounds: Ints
    ordered: Ints
    held: Ints
    chance: Floats


@numba.njit(nogil=True, inline="always")
def of_state(s: int, k: int, needs: Passing, moves: Totals) -> tuple[bool, int, int]:
    """Return whether a first round of state s may deliver k quanta, and the first and last of its `transition`."""
    row = needs.rows[s] + k - 1
    if row >= needs.rows[s + 1]:
        return False, moves.starts[s], moves.starts[s + 1]
    return True, needs.starts[row], needs.starts[row + 1]


@numba.njit(nogil=True, inline="always")
def transition(o: int, near: bool, needs: Passing, moves: Totals) -> tuple[int, int, int, float, float]:
    """Return the target, rounds and quanta of a transition, and its chance with enough in the first round, and not."""
    if near:
        return needs.target[o], needs.rounds[o], needs.received[o], needs.enough[o], needs.short[o]
    return moves.target[o], moves.rounds[o], moves.received[o], 0.0, moves.chance[o]
