"""Long waves of values over leads, as a chain of a few dozen hats moves them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

WIDER = 1.2
"""How much wider each hat is than the one before."""

SMALLEST = 1e-10
"""Of the singular values of the chain of hats, relative to the largest: less is none."""


class LongWaves:
    """A correction for long waves, which single steps hardly change.

    Parameters
    ----------
    places : (n,) array
        Where each value lies: its lead, and what its entry adds to it later on.
    shares : (n,) array
        How much of its hat it is.
    width : float
        Of the first hat.
    changed : callable
        What a step changes of values.
    """

    def __init__(self, places: Floats, shares: Floats, width: float, changed: Callable[[Floats], Floats]) -> None:
        knots = [float(places.min())]
        while knots[-1] < places.max():
            knots.append(knots[-1] + width)
            width *= WIDER
        self._count = len(knots)
        place = np.interp(places, knots, np.arange(self._count))
        self._low = np.minimum(place.astype(np.int64), self._count - 2)
        self._high_share = place - self._low
        self._shares = shares
        hats = [self._values(one) for one in np.eye(self._count)]
        whole = np.array([self._sums(one) for one in hats]).T
        moved = np.array([self._sums(changed(one)) for one in hats]).T
        self._inverse = np.linalg.pinv(moved, rcond=SMALLEST) - np.linalg.pinv(whole, rcond=SMALLEST)

    def _values(self, hats: Floats) -> Floats:
        low, high = hats[self._low], hats[self._low + 1]
        return np.asarray(low + (high - low) * self._high_share)

    def _sums(self, values: Floats) -> Floats:
        all_of_it = self._shares * values
        high = all_of_it * self._high_share
        low = np.bincount(self._low, all_of_it - high, self._count)
        return np.asarray(low + np.bincount(self._low + 1, high, self._count))

    def corrected(self, values: Floats) -> Floats:
        """Return about what all later steps make of values: of long waves as the hats move, of the rest itself."""
        return values + self._values(self._inverse @ self._sums(values))
