"""Rows of mass that other states take over."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .rows import add_to

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kept(nogil=True, fastmath={"contract"})
def carry(
    x: Floats, low: Ints, high: Ints, to: Ints, weight: float, offset: int, new: Floats, new_low: Ints, new_high: Ints
) -> None:  # fmt: skip
    """Add ``weight`` times each row to the row that takes it over.

    Parameters
    ----------
    x : (S, n) array
        Followed from `low` to `high`.
    low, high : (S,) int arrays
    to : (S,) int array
        Row of `new`.
    weight : float
    offset : int
        Index in `new` of the first position of `x`.
    new : (T, m) array
        Added to, where there is room.
    new_low, new_high : (T,) int arrays
    """
    for s in range(len(to)):
        add_to(x[s, low[s] : high[s]], weight, to[s], low[s] + offset, new, new_low, new_high)
