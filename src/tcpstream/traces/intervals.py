"""Measured values, and 95% intervals of what is correlated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..numerics.confidence import student

BATCHES = 10


@dataclass(frozen=True)
class Measured:
    """A measured value, its 95% interval, and one sentence on how it was measured."""

    value: float
    low: float
    high: float
    how: str


def batch_means(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the mean and its interval: Student's t over the means of ten successive batches."""
    means = np.array([batch.mean() for batch in np.array_split(values, min(BATCHES, len(values)))])
    mean = float(values.mean())
    if len(means) < 2:
        return mean, mean, mean
    half = float(student(means))
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
