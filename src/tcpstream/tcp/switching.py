"""How a path changes at random between a few regimes: stays of exponential length, on the clock of rounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SETTLED = 1e-12
"""Rounding that the shares of time in the regimes may have."""


@dataclass(frozen=True, eq=False)
class Switching:
    """A Markov process in continuous time.

    Attributes
    ----------
    rates : (k, k) array
        Changes a round from each regime to each other one; rows sum to 0.
    """

    rates: Floats
    _known: dict[float, Floats] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, stays: Floats, to: Floats) -> Switching:
        """Return that of mean stays [rounds], and of where changes lead, (k, k) probabilities."""
        rates = to / stays[:, np.newaxis]
        np.fill_diagonal(rates, 0.0)
        return cls(rates - np.diag(rates.sum(axis=1)))

    def after(self, rounds: float) -> Floats:
        """Return the probability of each regime after so many rounds (column), from each one (row)."""
        if rounds not in self._known:
            from scipy.linalg import expm  # loads SciPy

            found = np.maximum(np.asarray(expm(self.rates * rounds), dtype=np.float64), 0.0)
            self._known[rounds] = found / found.sum(axis=1, keepdims=True)
        return self._known[rounds]

    @cached_property
    def shares(self) -> Floats:
        """Share of time in each regime, in the long run."""
        k = len(self.rates)
        balances = np.vstack([self.rates.T, np.ones(k)])
        found = np.linalg.lstsq(balances, np.append(np.zeros(k), 1.0), rcond=None)[0]
        return np.asarray(np.maximum(found, 0.0) / np.maximum(found, 0.0).sum())
