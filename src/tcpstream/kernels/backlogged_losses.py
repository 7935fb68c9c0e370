"""What loses a packet, from the mass by state (row) and packets delivered (index) before the round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kept(nogil=True, fastmath={"contract"})
def lose(
    x: Floats,
    windows: Ints,
    total: Floats,
    low: int,
    high: int,
    grown: Floats,
    loss: float,
    offset: int,
    floor: int,
    short: Floats,
    few: Floats,
) -> float:
    """Write the distribution of short rounds, and of those that will deliver fewer than three packets.

    With Y the sum of the windows of four and more before the round, those of j = 3, 4, ... packets follow
    ``M(a) = q M(a - 1) + p q^3 Y(a - 3) - p sum_w q^w x_w(a - w)``.

    Parameters
    ----------
    x : (S, n) array
        By increasing window.
    windows : (S,) array
    total : (n,) array
        Sum of the rows of `x`, nonzero from `low` to `high`.
    low, high : int
    grown : (m,) array
        From `advance`.
    loss : float
        p.
    offset : int
        Index in the outputs of index 0 of `x`.
    floor : int
        Short rounds below this index of the outputs are removed.
    short, few : (m,) arrays
        Overwritten: all short rounds by packets delivered at their start; those without fast retransmit by packets
        delivered at their end.

    Returns
    -------
    float
        What was removed.
    """
    p = loss
    q = 1.0 - p
    for k in range(len(short)):
        short[k] = 0.0
        few[k] = 0.0
    removed = 0.0
    size = high - low
    if size <= 0:
        return removed
    more = np.empty(size)
    whole = total[low:high]
    for k in range(size):
        more[k] = whole[k]
    padded = np.zeros(size + windows[-1] + 4)
    s = 0
    for j in range(1, 4):  # j = 1, 2, then 3 and more delivered, of windows of more than j
        while s < len(windows) and windows[s] <= j:
            row = x[s, low:high]
            for k in range(size):
                more[k] -= row[k]
            s += 1
        if s == len(windows):
            break
        start = low + offset + j
        enter = p * q**j
        length = size if j < 3 else size + windows[-1] - 4
        fresh = padded[2 : 2 + length]
        for k in range(size):
            fresh[k] = enter * more[k]
        if j == 3:
            for k in range(size, length):
                fresh[k] = 0.0
            mass = 0.0
            for k in range(length):
                mass = q * mass + (fresh[k] - p * grown[start + k])
                fresh[k] = mass
        for k in range(min(length, floor - start)):
            removed += fresh[k]
            fresh[k] = 0.0
        sink = short[start : start + length]
        for k in range(length):
            sink[k] += fresh[k]
        one = q if j == 1 else p * q
        two = 0.0 if j == 1 else q * q if j == 2 else p * q * q
        sink = few[start : start + length + 2]
        here, last, before = padded[2 : length + 4], padded[1 : length + 3], padded[: length + 2]
        for k in range(length + 2):
            sink[k] += p * here[k] + one * last[k] + two * before[k]
    return removed
