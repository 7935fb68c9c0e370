"""Weights of lattice points for what lies between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def split(places: Floats, points: int) -> tuple[Ints, Floats]:
    """Split places between lattice points: return the first point of each, and the (points, n) weights.

    Two points keep the mean. Three keep the square too, so that nothing is smeared; some weights are then negative.
    """
    if points == 2:
        low = np.floor(places + 1e-9).astype(np.int64)
        part = np.maximum(places - low, 0.0)
        return low, np.array([1 - part, part])
    centre = np.round(places).astype(np.int64)
    rest = places - centre
    return centre - 1, np.array([(rest * rest - rest) / 2, 1 - rest * rest, (rest * rest + rest) / 2])


def cubic(values: Sequence[float], x: float) -> float:
    """Return the cubic through four values at -1, 0, 1 and 2, at x: `lagrange` for one place."""
    a, b, c, d = values
    left, right = x + 1, (x - 1) * (x - 2)
    return left * (x * ((x - 1) * d / 3 - (x - 2) * c) + right * b) / 2 - x * right * a / 6


def lagrange(nodes: Floats, x: Floats) -> Floats:
    """Return the weights of values at nodes, (n, m), in the polynomials through them at x, (n,)."""
    weights = np.ones_like(nodes)
    for i in range(nodes.shape[1]):
        for j in range(nodes.shape[1]):
            if i != j:
                weights[:, i] *= (x - nodes[:, j]) / (nodes[:, i] - nodes[:, j])
    return weights
