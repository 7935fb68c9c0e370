"""Which leads over playback are followed: each quantum up to some rounds of playback, and few beyond."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..kernels.buffer_leads import Deep, Leads
from ..kernels.buffer_moves import Totals
from ..numerics.weights import lagrange
from .deliveries import Deliveries
from .fineness import Fineness
from .lattice import smooth

Floats = NDArray[np.float64]

NODES = 6
"""Leads that stand for what arrives between the same states, where much is held."""

MARGIN, NEAR = 2, 4
"""Rounds of playback that the least of these leads have at least; and rounds more, up to which each quantum of a lead
is followed."""

READ = 8
"""Rounds of playback more, of which each quantum is read off these leads, as most transitions lead there."""

MOST = 256
"""Rounds of playback up to which leads are as far apart as they are told to be; beyond, as many times further apart."""

FEW = 4
"""Points that are further apart, for which it is not worth while."""


def points(on: Fineness, top: int) -> tuple[int, int, int]:
    """Return up to how many quanta each is followed, and is a point, and how many points there are up to `top`."""
    every = _every(on, top)
    followed = every * math.ceil((_margin(on, every) + NEAR * on.quanta) / max(every, 1))
    even = followed + READ * on.quanta
    if every <= 1 or top < even + FEW * every:
        return top + 1, top + 1, top + 1
    return followed, even, even + math.ceil((top - followed) / every) + 1


def _every(on: Fineness, top: int) -> int:
    """Return the quanta between leads up to so many, where much is held."""
    return int(on.apart * on.quanta * max(1, top // (MOST * on.quanta)))


def _margin(on: Fineness, every: int) -> int:
    """Return the least lead with transitions on points that are so many quanta apart [quanta]."""
    return MARGIN * on.quanta + NODES // 2 * every


def leads(found: Deliveries, on: Fineness, top: int) -> tuple[Leads, Deep, int]:
    """Return the points of leads up to so many quanta, the transitions between them, and how many they are."""
    longest, every = int(found.rounds.max()), _every(on, top)
    followed, even, many = points(on, top)
    if many == top + 1:
        none = np.zeros(0, dtype=np.int64)
        changes = Totals(np.zeros(found.states + 1, dtype=np.int64), none, none, none, np.zeros(0))
        return (
            Leads(followed, even, 1, np.zeros((1, 4))),
            Deep(changes, np.zeros(longest + 1, dtype=np.int64)),
            many,
        )
    nodes = np.tile(np.arange(-1.0, 3.0), (every, 1))
    weights = lagrange(nodes, np.arange(every) / every)
    scale = on.scale(found)
    changes = smooth(found, on.quantum * every / scale, NODES, on.due / scale)
    begins = -(-(np.arange(longest + 1) * on.quanta + _margin(on, every)) // every)
    return Leads(followed, even, every, weights), Deep(changes, begins), many
