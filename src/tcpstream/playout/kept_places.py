"""Room for what is known of a session at places in the video, and the places at which fills are followed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.buffer_leads import Leads
from ..kernels.buffer_moves import Totals
from ..kernels.buffer_state import Filling, Known
from .fineness import Fineness
from .leads import UNBOUNDED

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_BYTES = 8 * 2**30
"""Memory that a pass may take."""


def room(
    moves: Totals, on: Fineness, filling: Filling, last: int, columns: int, points: Leads, n: int
) -> Known:  # fmt: skip
    """Return room for what is known at n points."""
    states, C = len(moves.starts) - 1, columns
    waits = np.unique(moves.target[moves.rounds > 2])
    slot = np.full(states, -1)
    slot[waits] = np.arange(len(waits))
    depth = np.array([int(moves.rounds[moves.target == one].max()) + 3 for one in waits], dtype=np.int64)
    first = np.append(0, np.cumsum(depth))
    many = max(2, len(fills(last, on.sparse)) - 1)
    height = filling.threshold + int(max(filling.moves.received.max(), filling.needs.received.max())) + 1
    size = 8.0 * C * (n * (5 * states + int(first[-1])) + states * (many + 2 * height))
    if size > MOST_BYTES:
        raise AccuracyError(
            f"a player with buffers would take {size / 2**30:.3g} GiB of memory to follow, more than the limit of "
            f"{MOST_BYTES / 2**30:g}: take a smaller max_window, smaller buffers or a shorter timer"
        )
    return Known(
        on.quanta, points, UNBOUNDED, np.full(states, UNBOUNDED), np.zeros((5, states, n, C)), slot, first[:-1], depth,
        np.zeros((int(first[-1]), n, C)),
        np.zeros(last + 2, dtype=np.int64), np.zeros(many), np.zeros((many, states, C)),
        np.zeros((2, states, height, C)),
    )  # fmt: skip


def fills(last: int, sparse: int) -> Ints:
    """Return the places up to the last one, and one beyond, at which `back_in_video` follows fills."""
    places = [0]
    while places[-1] <= last:
        places.append(places[-1] + max(1, places[-1] // sparse))
    return np.array(places)
