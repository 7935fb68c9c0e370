"""Tables of E[(y - A)+] at whole y, one row a round, and what they say of packets due."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import kept

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kept(nogil=True)
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


@kept(nogil=True)
def missing(table: Floats, origins: Ints, starts: Ints, quantum: int, begin: Floats, end: Floats, out: Floats) -> None:
    """Write E[(z - A_i)+ - (y - A_i)+] for y = ``begin[i]`` and z = ``end[i]``: what is missing of packets y .. z.

    Parameters
    ----------
    table : array
        Rows, one behind the other; linear between their values and beyond the last one.
    origins : (n,) array
        First y of each row [quanta].
    starts : (n + 1,) array
        Index of the first value of each row in `table`; that of its end follows.
    quantum : int
        Packets per step of the table.
    begin, end, out : (m,) arrays [packets]
        m up to n.
    """
    scale = 1.0 / quantum
    for i in range(len(begin)):
        row = table[starts[i] : starts[i + 1]]
        out[i] = quantum * (_at(row, end[i] * scale - origins[i]) - _at(row, begin[i] * scale - origins[i]))


@part(nogil=True)
def _at(row: Floats, y: float) -> float:
    """Return the value of a row at y steps from its first one."""
    if y <= 0.0:
        return 0.0
    k = min(int(y), len(row) - 2)
    return float(row[k] + (row[k + 1] - row[k]) * (y - k))
