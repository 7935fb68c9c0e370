"""How far a quadrature, and a line between points, are off."""

from __future__ import annotations

import numpy as np
from numpy.polynomial.laguerre import laggauss
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NODES = 4
"""Of the quadrature of the rebuffering ratio."""


def quadrature_error(most: float) -> float:
    """Return how far the quadrature of x / (1 + x) is off, up to some x."""
    nodes, weights = laggauss(NODES)
    x = np.linspace(0, min(max(most, 0.0), 1e6), 50)
    return float(np.abs(weights @ -np.expm1(-nodes[:, np.newaxis] * x) - x / (1 + x)).max())


def between_points(x: Floats, y: Floats) -> float:
    """Return how far linear interpolation is off: what it makes of every second point."""
    return float(np.abs(np.interp(x, x[::2], y[::2]) - y)[: 2 * (len(x) // 2) - 1].max())
