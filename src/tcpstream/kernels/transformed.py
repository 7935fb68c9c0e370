"""Moves transformed over the packets that they deliver."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Ints = NDArray[np.int64]


@kept(nogil=True)
def transformed(
    theta: complex, group: Ints, weight: Floats, mean: Floats, variance: Floats, count: int
) -> tuple[Complexes, Complexes]:
    """Return the sums of w exp(-theta m + theta^2 v / 2) over the moves of each of `count` groups, and their slopes."""
    first = np.zeros(count, dtype=np.complex128)
    slope = np.zeros(count, dtype=np.complex128)
    half = theta * theta / 2
    for i in range(len(group)):
        each = weight[i] * np.exp(half * variance[i] - theta * mean[i])
        first[group[i]] += each
        slope[group[i]] += each * (theta * variance[i] - mean[i])
    return first, slope


@kept(nogil=True)
def transformed_along(
    theta: complex, gap: float, group: Ints, weight: Floats, mean: Floats, variance: Floats, found: Floats
) -> None:
    """Sum w exp(-theta m + theta^2 v / 2) over the moves of each group, for theta, theta + i gap, ..: of some of them.

    Moves of a group below 0 are left out. The axes of `found` are parts (real and imaginary), groups, and theta. From
    one theta to the next each changes by a factor, which changes by a factor itself.
    """
    step = 1j * gap
    for i in range(len(group)):
        if group[i] < 0:
            continue
        each = weight[i] * np.exp(theta * theta * variance[i] / 2 - theta * mean[i])
        factor = np.exp((theta * step + step * step / 2) * variance[i] - step * mean[i])
        change = np.exp(-gap * gap * variance[i])
        for k in range(found.shape[2]):
            found[0, group[i], k] += each.real
            found[1, group[i], k] += each.imag
            each *= factor
            factor *= change
