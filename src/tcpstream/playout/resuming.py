"""Players that play on with less than a round of playback, and may stall again before it is over."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, gmres

from ..errors import AccuracyError
from ..kernels.buffer_levels import fill_again
from ..kernels.buffer_state import Filling, Known, Measures
from .player_moves import PlayerMoves

Floats = NDArray[np.float64]

SETTLED, NEARLY = 1e-11, 1e-8
"""What may be left of what a player sees that holds less than a round, relative to it: where packets are whole numbers
of quanta, and elsewhere."""

KEPT, TURNS = 100, 4
"""Directions that GMRES keeps, and how often it begins anew."""


def resume_at_once(
    place: int, threshold: int, moves: PlayerMoves, filling: Filling, known: Known, asked: Measures
) -> None:  # fmt: skip
    """Solve for what a player sees that holds less than a round at a place, where it is told in terms of itself.

    Parameters
    ----------
    place, threshold : int
    moves : PlayerMoves
    filling : Filling
    known : Known
        With a first guess at the place.
    asked : Measures

    Raises
    ------
    AccuracyError
        Where it does not converge.
    """
    if place == 0:
        return
    near, empty = known.play[place % len(known.play), :, : known.round], known.empty[known.before[place]]
    highest = -(-known.round // filling.size)  # what is known of more does not change

    def now() -> Floats:
        return np.concatenate([near.ravel(), empty.ravel()])

    def again(values: Floats) -> Floats:
        near[:], empty[:] = values[: near.size].reshape(near.shape), values[near.size :].reshape(empty.shape)
        fill_again(place, threshold, highest, moves.lacking, moves.playing, filling, known, asked)
        return now()

    guess = now()
    alone = again(np.zeros_like(guess))
    rest = LinearOperator((len(guess), len(guess)), lambda values: values - again(values) + alone)
    least = (SETTLED if moves.on.exact else NEARLY) * max(1.0, float(np.abs(guess).max()))
    found, left = gmres(rest, alone, guess, rtol=0.0, atol=least, restart=KEPT, maxiter=TURNS)
    if left:
        raise AccuracyError(
            "stalls that follow each other within a round trip do not converge: give a resume buffer of a round trip "
            "or more"
        )
    again(found)
