"""What a player sees with which playback begins, read off the points of leads: the same weights at each place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..coarse.merged import Merged
from ..kernels.buffer_state import Known
from .leads import read_at
from .player_moves import Begun

Floats = NDArray[np.float64]


class Reading:
    """A beginning, where more video is left than is held, whatever follows it.

    Parameters
    ----------
    begun : Begun
    known : Known
    """

    def __init__(self, begun: Begun, known: Known) -> None:
        rounds, held = begun.lengths[begun.which[:, 0]], begun.goal + begun.which[:, 2]
        rest = held - rounds * known.round
        self.least = float("inf") if rest.min() < 0 else (int(held.max()) + 1) / known.round
        """Place from which on it holds; nowhere, where some stall before anything else comes."""
        reads = read_at(known.leads, known.play.shape[2], rest.astype(np.float64))
        row = np.column_stack([rounds, begun.which[:, 1]])
        keys = np.concatenate([np.column_stack([row, points]) for points in reads.points.T])
        merged = Merged(keys, (begun.chance[:, np.newaxis] * reads.weights).T.ravel())
        used = merged.weight != 0
        self._rounds, self._states, self._points = merged.keys[used].T
        self._weights = merged.weight[used]

    def at(self, place: int, known: Known) -> Floats:
        """Return the columns at a place."""
        then, states, points = place - self._rounds, self._states, self._points
        soon = self._rounds <= 2
        play, long = known.play[then[soon] % len(known.play), states[soon], points[soon]], ~soon
        slot = known.slot[states[long]]
        waits = known.long[known.first[slot] + then[long] % known.depth[slot], points[long]]
        found: Floats = self._weights[soon] @ play + self._weights[long] @ waits
        return found
