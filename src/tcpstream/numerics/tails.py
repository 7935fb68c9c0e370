"""Means of what a nonincreasing tail P(X > x) describes, bracketed. Numbers in, numbers out."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError

Floats = NDArray[np.float64]

FIRST, DOUBLINGS = 4, 60
"""Points beyond the begin, and more at most until hardly anything is beyond: they double, and are the same for any."""

BEYOND = 1e-4
"""Of a mean, that may come from beyond the last point."""

LARGE = 0.25
"""Of the widest bracket, from which an interval is halved."""

MOST = 20_000
"""Points."""


class Tail:
    """A nonincreasing function P(X > x) that is known where it was asked for.

    Parameters
    ----------
    curve : callable
        Its values at some x, and their errors.
    step : float
        From one x to the next, at first.
    """

    def __init__(self, curve: Callable[[Floats], tuple[Floats, Floats]], step: float) -> None:
        self._curve, self._step = curve, step
        self._known: dict[float, tuple[float, float]] = {}

    def at(self, x: Floats) -> tuple[Floats, Floats]:
        """Return values at some x, and their errors."""
        new = np.array([one for one in dict.fromkeys(x.tolist()) if one not in self._known])
        if len(new):
            values, errors = self._curve(new)
            self._known |= dict(zip(new.tolist(), zip(values.tolist(), errors.tolist())))
        p, off = np.array([self._known[one] for one in x.tolist()]).reshape(-1, 2).T
        return p, off

    def mean(self, begin: float, worth: Callable[[Floats], Floats], tolerance: float) -> tuple[float, float]:
        """Return E[h((X - begin)+)] for h that grows from h(0) = 0, and its error.

        It is the integral of P(X > begin + y) over h(y). Between two points the tail lies between its values there:
        half of that is the error, and what is not known of the tail itself, and what lies beyond the last point.

        Parameters
        ----------
        begin : float
        worth : callable
            h at some y >= 0.
        tolerance : float
            Half of the brackets over the mean, at most.

        Raises
        ------
        AccuracyError
            When the tail does not end, or needs too many points.
        """
        first = max(0, math.floor(math.log2(max(begin, self._step) / self._step)) + 1)
        x = np.array([begin, *(self._step * 2.0**k for k in range(first, first + FIRST))])
        p, off = self.at(x)
        for _ in range(DOUBLINGS):
            h = worth(x - begin)
            if p[-1] <= off[-1] or p[-1] * (h[-1] - h[-2]) <= BEYOND * _area(p, h):
                break
            x = np.append(x, 2 * x[-1])
            p, off = self.at(x)
        else:
            raise AccuracyError(f"the tail does not end: it is {p[-1]:.3g} at {x[-1]:.3g}")
        while True:
            h = worth(x - begin)
            rise, mean = np.diff(h), _area(p, h)
            bracket = rise * np.abs(np.diff(p)) / 2
            if bracket.sum() <= tolerance * mean or mean == 0:
                break
            if len(x) > MOST:
                raise AccuracyError(f"a mean of {mean:.3g} is known to {bracket.sum():.1g} only, from {len(x)} points")
            wide = np.flatnonzero(bracket >= LARGE * bracket.max())
            x = np.insert(x, wide + 1, (x[wide] + x[wide + 1]) / 2)
            p, off = self.at(x)
        unknown = float((rise * np.maximum(off[1:], off[:-1])).sum())
        return mean, float(bracket.sum()) + unknown + float(p[-1] * rise[-1])


def _area(p: Floats, h: Floats) -> float:
    return float((np.diff(h) * (p[1:] + p[:-1]) / 2).sum())
