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


def around(nodes: Ints, values: Ints, usual: int) -> tuple[Ints, Floats]:
    """Return which nodes stand for values between them, up to four for each, and their weights, (n, 4).

    Those of a cubic through four nodes, in logarithms, up to the usual values; two nodes keep what is larger as their
    mean.

    Parameters
    ----------
    nodes : (m,) int array
        Increasing, above 0.
    values : (n,) int array
        From the first node to the last one.
    usual : int
        Where one of the four nodes is larger there are two.
    """
    wide = min(4, len(nodes))
    above = np.searchsorted(nodes, values, side="right")
    first = np.clip(above - wide // 2, 0, len(nodes) - wide)
    which = first[:, np.newaxis] + np.arange(wide)
    low = np.minimum(np.maximum(above - 1, 0), max(len(nodes) - 2, 0))[:, np.newaxis]
    high = np.minimum(low + 1, len(nodes) - 1)
    upper = (values[:, np.newaxis] - nodes[low]) / np.maximum(nodes[high] - nodes[low], 1)
    linear = np.where(which == low, 1 - upper, np.where(which == high, upper, 0.0))
    few = nodes[which[:, -1:]] > usual
    weights = np.where(few, linear, lagrange(np.log(nodes[which]), np.log(values)))
    fill = np.zeros((len(values), 4 - wide))
    return np.hstack([which, fill.astype(np.int64)]), np.hstack([weights, fill])
