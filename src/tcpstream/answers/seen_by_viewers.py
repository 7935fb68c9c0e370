"""What viewers of a player with buffer thresholds see, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Seen:
    """What viewers see.

    Attributes
    ----------
    answers, errors : (counts + 3,) arrays
        P(N > 0), P(N = k) for k = 1 .. counts - 1, E[N], E[S] [s] and the rebuffering ratio.
    lengths, unstalled : (l,) arrays
        Lengths of the video from its begin [s], from 0 on, and the probability that nothing stalls in them.
    unstalled_error : float
        Of any of these, and between them.
    grown, grown_apart : (n, 2) arrays
        E[N] and E[S] [rounds] from a full buffer on, by rounds of playback, of a player that pauses; and by how much
        they may be more or less, together.
    """

    answers: Floats
    errors: Floats
    lengths: Floats
    unstalled: Floats
    unstalled_error: float
    grown: Floats
    grown_apart: Floats
