"""Rows drawn at random by their probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Pick:
    """Rows of a distribution for each of some sources, drawn by their probabilities."""

    def __init__(self, source: Ints, chance: Floats, sources: int) -> None:
        self._order = np.argsort(source, kind="stable")
        weights, of = np.maximum(chance[self._order], 0.0), source[self._order]
        self._ends = np.searchsorted(of, np.arange(sources + 1))
        sums = np.append(0.0, np.cumsum(weights))
        before = sums[self._ends[:-1]][of]
        total = np.maximum(sums[self._ends[1:]][of] - before, 1e-300)
        self._at = of + np.minimum((sums[1:] - before) / total, 1.0)  # one increasing line for all sources

    def __call__(self, sources: Ints, rng: np.random.Generator) -> Ints:
        """Return a row for each source."""
        at = np.searchsorted(self._at, sources + rng.random(len(sources)), side="right")
        return self._order[np.clip(at, self._ends[sources], self._ends[sources + 1] - 1)]
