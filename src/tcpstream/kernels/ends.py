"""The ends of a row that hold next to nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept


@kept(nogil=True)
def ends(mass: NDArray[np.float64], negligible: float) -> tuple[int, int, float]:
    """Return where to cut a row so that each end dropped holds at most `negligible`.

    Parameters
    ----------
    mass : (n,) array
        Contiguous.
    negligible : float

    Returns
    -------
    first, last : int
        The rest is ``mass[first:last]``; empty if all of it is negligible.
    dropped : float
        What the ends hold.
    """
    first, below = 0, 0.0
    while first < len(mass) and below + mass[first] <= negligible:
        below += mass[first]
        first += 1
    last, above = len(mass), 0.0
    while last > first and above + mass[last - 1] <= negligible:
        above += mass[last - 1]
        last -= 1
    return first, last, below + above
