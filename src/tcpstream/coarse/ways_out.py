"""States that must be followed because another one leads nowhere else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .outcomes import Outcomes

Floats = NDArray[np.float64]


def with_ways_out(known: Outcomes, usual: Floats, rare: float) -> Floats:
    """Return how usual states are, each at least as much as a state that it is the only way out of.

    Without it a state that is followed would never be left.

    Parameters
    ----------
    known : Outcomes
    usual : (n,) array
        Probability of each state, at any time.
    rare : float
        Probability up to which a state is not followed.
    """
    usual = usual.copy()
    source = np.repeat(np.arange(known.n_states), np.diff(known.starts))
    out = np.flatnonzero(known.to != source)
    while True:
        followed = usual > rare
        left = np.bincount(source[out], known.chance[out] * followed[known.to[out]], known.n_states)
        held = out[(followed & (left == 0.0))[source[out]]]
        if not len(held):
            return usual
        np.maximum.at(usual, known.to[held], usual[source[held]])
