"""E[(D - y)+] of measures of points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-18
"""Mass of a point that is left out."""


class Excess:
    """E[(D - y)+] for every y.

    Parameters
    ----------
    values, mass : arrays
        Of points [packets]; mass may be negative.
    """

    def __init__(self, values: Floats, mass: Floats) -> None:
        used = np.abs(mass) > NEGLIGIBLE
        order = np.argsort(values[used])
        self.values = values[used][order]
        mass = mass[used][order]
        self._above = np.append(np.cumsum(mass[::-1])[::-1], 0.0)
        self._first = np.append(np.cumsum((mass * self.values)[::-1])[::-1], 0.0)

    @property
    def mass(self) -> float:
        """Of all points."""
        return float(self._above[0])

    def __call__(self, y: Floats) -> Floats:
        """Return it for an array of y [packets]."""
        place = np.searchsorted(self.values, y, "right")
        return np.asarray(self._first[place] - y * self._above[place])
