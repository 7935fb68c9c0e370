"""Measured values: 95% intervals of a proportion and of the mean of a correlated series."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BATCHES = 10
_Z = 1.959963984540054


@dataclass(frozen=True)
class Measured:
    """A measured value, its 95% interval, and one sentence on how it was measured."""

    value: float
    low: float
    high: float
    how: str


def wilson(hits: float, trials: float, design: float = 1.0) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion; `design` trials are worth one independent one."""
    n = trials / design
    share = hits / trials
    centre = share + _Z**2 / (2 * n)
    spread = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    scale = 1 + _Z**2 / n
    low = 0.0 if hits == 0 else max(0.0, (centre - spread) / scale)
    high = 1.0 if hits == trials else min(1.0, (centre + spread) / scale)
    return min(low, share), max(high, share)  # where they are closer than rounding


def batch_means(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the mean and its interval: Student's t over the means of ten successive batches."""
    means = np.array([batch.mean() for batch in np.array_split(values, min(BATCHES, len(values)))])
    mean = float(values.mean())
    if len(means) < 2:
        return mean, mean, mean
    from scipy.special import stdtrit  # loads slowly: for captures only

    half = float(stdtrit(len(means) - 1, 0.975) * means.std(ddof=1) / math.sqrt(len(means)))
    return mean, mean - half, mean + half


def correlation(values: NDArray[np.float64]) -> float:
    """Return how many values of a correlated series are worth one independent one, at least 1, by batch means."""
    means = np.array([batch.mean() for batch in np.array_split(values, min(BATCHES, len(values)))])
    variance = float(values.var())
    if len(means) < 2 or variance == 0:
        return 1.0
    return max(float(means.var(ddof=1)) * len(values) / len(means) / variance, 1.0)


def dispersion(hits: NDArray[np.float64], trials: NDArray[np.float64]) -> float:
    """Return how many trials are worth one independent one, at least 1, from counts in several groups.

    Pearson's chi-squared over its degrees of freedom (McCullagh and Nelder, "Generalized Linear Models", 4.5).
    """
    share = hits.sum() / trials.sum()
    used = trials > 0
    if np.count_nonzero(used) < 2 or not 0 < share < 1:
        return 1.0
    expected = share * trials[used]
    squares = (hits[used] - expected) ** 2 / (expected * (1 - share))
    return max(float(squares.sum()) / (len(squares) - 1), 1.0)
