"""What a player is asked for, as columns of a pass back over the video."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.buffer_state import Measures

Floats = NDArray[np.float64]


def measures(counts: int, factors: Floats, quanta: int, longest: int) -> Measures:
    """Return the columns P(N = k) for k < `counts`, E[N], E[S], and E[f^S] for some factors.

    N is the number of stalls, and S their time in rounds.

    Parameters
    ----------
    counts : int
    factors : (n,) array
    quanta : int
        Of time in a round.
    longest : int
        Rounds of the longest transition.
    """
    C = counts + 2 + len(factors)
    time = np.arange((longest + 2) * quanta + 1) / quanta
    rounds = np.arange(longest + 2.0)
    mean, laplace = counts + 1, counts + 2
    base, of = np.zeros(C), np.arange(C)
    base[0], base[laplace:] = 1.0, 1.0
    of[1:counts] = np.arange(counts - 1)
    stalled, waited = np.ones((len(time), C)), np.ones((len(rounds), C))
    stalled_more, waited_more = np.zeros_like(stalled), np.zeros_like(waited)
    stalled[:, 0] = 0.0
    stalled_more[:, counts] = 1.0
    stalled_more[:, mean] = time
    waited_more[:, mean] = rounds
    stalled[:, laplace:] = factors ** time[:, np.newaxis]
    waited[:, laplace:] = factors ** rounds[:, np.newaxis]
    return Measures(base, of.astype(np.int64), stalled, stalled_more, waited, waited_more)
