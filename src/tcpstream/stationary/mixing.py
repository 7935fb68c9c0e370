"""Anderson mixing: the fixed point of a map that approaches it slowly (J. ACM 12, 1965)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MEMORY = 10
"""Steps that are combined with the last one."""

SMALLEST = 1e-14
"""Squares of changes of steps, over the largest, that are rounding."""


class Mixing:
    """The last steps of an iteration x -> g(x), and where a linear map g would have no step.

    Images are combined with weights that sum to 1: what g leaves the same, as a sum, stays.
    """

    def __init__(self) -> None:
        self._last: tuple[Floats, Floats] | None = None
        self._changes: list[tuple[Floats, Floats]] = []  # of the step, and of the image
        self._products = np.empty((0, 0))

    def next(self, place: Floats, image: Floats) -> Floats:
        """Return where to go on from x = `place` with g(x) = `image`."""
        step = image - place
        if self._last is not None:
            self._add(step - self._last[0], image - self._last[1])
        self._last = step, image
        if not self._changes:
            return image
        against = [np.vdot(change, step) for change, _ in self._changes]
        back = np.linalg.lstsq(self._products, np.array(against), rcond=SMALLEST)[0]
        mixed = image.copy()
        for share, (_, change) in zip(back, self._changes):
            mixed -= share * change
        return mixed

    def _add(self, step: Floats, image: Floats) -> None:
        kept = self._changes[-MEMORY + 1 :]
        products = np.empty((len(kept) + 1, len(kept) + 1))
        products[:-1, :-1] = self._products[len(self._changes) - len(kept) :, len(self._changes) - len(kept) :]
        products[-1] = products[:, -1] = [*(np.vdot(one, step) for one, _ in kept), np.vdot(step, step)]
        self._changes, self._products = [*kept, (step, image)], products
