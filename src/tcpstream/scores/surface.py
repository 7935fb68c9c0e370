"""From values at some points to values everywhere, with an error that leaving each point out has calibrated."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import RBFInterpolator
from scipy.spatial import KDTree

Floats = NDArray[np.float64]

KERNELS: dict[Any, int] = {"linear": 0, "thin_plate_spline": 1, "cubic": 1}
"""Radial functions that are tried, and the degree of the polynomial beside them."""

ROUGH, SMOOTH = ("linear", "thin_plate_spline"), ("thin_plate_spline", "cubic")
"""Kernels for values that bend, and for smooth ones: a cubic goes astray beyond the points."""

COVERAGE = 0.99
"""Part of the values that the stated errors are to cover."""

NEAR = 0.25
"""Of the median distance between neighbours, which is added to every distance: solves have errors of their own."""


@dataclass(frozen=True)
class Surface:
    """Values between points.

    Attributes
    ----------
    points, values : (m, k), (m,) arrays
    kernel : str
        One of `KERNELS`: that with the smaller errors where each point is left out.
    scale : float
        Error over distance to the nearest point: it covers the errors at `coverage` of the points left out.
    coverage : float
        As split conformal prediction counts it: at most m / (m + 1) of m points.
    near : float
        Added to each distance.
    """

    points: Floats
    values: Floats
    kernel: str
    scale: float
    coverage: float
    near: float

    def held(self, where: Floats, values: Floats) -> Surface:
        """Return the same with errors that cover values solved elsewhere, at places drawn at random."""
        off = np.abs(self.at(where)[0] - values)
        ratios = np.sort(off / (nearest(self.points, where)[0] + self.near))
        place, coverage = conformal(len(ratios), COVERAGE)
        return replace(self, scale=float(ratios[place]), coverage=coverage)

    def at(self, where: Floats) -> tuple[Floats, Floats]:
        """Return values and errors at (n, k) places."""
        distance, _ = nearest(self.points, where)
        return _between(self.kernel, self.points, self.values, where), self.scale * (distance + self.near)


def fit(points: Floats, values: Floats, kernels: Iterable[str] = ROUGH) -> Surface:
    """Return the surface through values at distinct points, at least two; points in coordinates of one scale."""
    apart = nearest(points, points, 2)[0]
    near = NEAR * float(np.median(apart))
    off = {kernel: np.abs(left_out(kernel, points, values) - values) for kernel in kernels}
    kernel = min(off, key=lambda one: float(off[one].mean()))
    ratios = np.sort(off[kernel] / (apart + near))
    place, coverage = conformal(len(ratios), COVERAGE)
    return Surface(points, values, kernel, float(ratios[place]), coverage, near)


def nearest(points: Floats, where: Floats, which: int = 1) -> tuple[Floats, NDArray[np.int64]]:
    """Return how far the nearest point is from each place, or the second nearest, and which that is."""
    found: tuple[Any, Any] = KDTree(points).query(where, k=[which])
    return np.asarray(found[0], dtype=np.float64)[:, 0], np.asarray(found[1], dtype=np.int64)[:, 0]


def conformal(count: int, wanted: float) -> tuple[int, float]:
    """Return which of so many sorted errors, from 0, covers a new one with a wanted probability, and which it is.

    Where there are too few for that it is the largest, which covers with count / (count + 1).

    Examples
    --------
    >>> from tcpstream.scores.surface import conformal
    >>> conformal(199, 0.99)
    (197, 0.99)
    >>> conformal(49, 0.99)
    (48, 0.98)
    """
    place = math.ceil((count + 1) * wanted - 1e-9)
    return (place - 1, wanted) if place <= count else (count - 1, count / (count + 1))


def left_out(kernel: str, points: Floats, values: Floats) -> Floats:
    """Return the value at each point from those at all others."""
    found = np.empty(len(values))
    for i in range(len(values)):
        others = np.arange(len(values)) != i
        found[i] = _between(kernel, points[others], values[others], points[i : i + 1])[0]
    return found


def _between(kernel: Any, points: Floats, values: Floats, where: Floats) -> Floats:
    """Return values at places: of the nearest point where there are too few points for the kernel."""
    if len(points) > points.shape[1] + 1:
        try:
            made = RBFInterpolator(points, values, kernel=kernel, degree=KERNELS[kernel])
            return np.asarray(made(where), dtype=np.float64)
        except np.linalg.LinAlgError:  # all points on a line
            pass
    return np.asarray(values[nearest(points, where)[1]], dtype=np.float64)
