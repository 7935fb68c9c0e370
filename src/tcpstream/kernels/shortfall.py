"""Tables of E[(y - A)+] at whole y, one row a round, and looking them up."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def tabulate(mass: Floats, negligible: float, top: int, out: Floats) -> tuple[int, int]:
    """Write E[(y - A)+] at y = first, first + 1, ...

    Parameters
    ----------
    mass : (n,) array
        P(A = 0), P(A = 1), ...
    negligible : float
        Probability left out at the low end.
    top : int
        The last y wanted.
    out : (n + 2,) array
        Overwritten from its start.

    Returns
    -------
    first, size : int
        The first y and the number of values, 2 at least.
    """
    n = len(mass)
    first = 0
    below = 0.0
    while first < n - 1 and below + mass[first] <= negligible:
        below += mass[first]
        first += 1
    size = max(2, min(n, top) - first + 1)
    total = 0.0
    out[0] = 0.0
    for k in range(size - 1):
        below += mass[first + k]
        total += below
        out[k + 1] = total
    return first, size


@numba.njit(cache=True, nogil=True)
def shortfall(table: Floats, origins: Ints, starts: Ints, due: Floats, out: Floats) -> None:
    """Write E[(y - A_i)+] for y = ``due[i]``, linear between whole y and beyond the last one.

    Parameters
    ----------
    table : array
        Rows, one behind the other.
    origins : (n,) array
        First y of each row.
    starts : (n + 1,) array
        Index of the first value of each row in `table`; that of its end follows.
    due, out : (m,) arrays
        m up to n.
    """
    for i in range(len(due)):
        y = due[i] - origins[i]
        if y <= 0.0:
            out[i] = 0.0
            continue
        k = min(int(y), starts[i + 1] - starts[i] - 2)
        low = table[starts[i] + k]
        out[i] = low + (table[starts[i] + k + 1] - low) * (y - k)
