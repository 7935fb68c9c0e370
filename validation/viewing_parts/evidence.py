"""What sessions that were drawn say about an answer: by how many standard errors it is off."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]

LEAST = 100
"""Sessions that contribute to a mean, for it to be judged."""

MOST = 40.0
"""Standard errors that are told apart."""

ROUNDING = 1e-9
"""Of itself, by which an answer may be off."""


@dataclass(frozen=True)
class Found:
    """An estimate.

    Attributes
    ----------
    estimate, error : float
        The latter a standard error.
    off : function
        Standard errors between the estimate and what an answer could be: above it if positive.
    enough : bool
        Whether there is enough of it to judge.
    """

    estimate: float
    error: float
    off: Callable[[float], float]
    enough: bool = True


def mean(values: Floats) -> Found:
    """Return the mean of what sessions have, most of them nothing, it may be."""
    return ratio(values, np.ones(len(values)))


def ratio(above: Floats, below: Floats) -> Found:
    """Return a ratio of means."""
    total = float(below.sum())
    found = float(above.sum()) / total if total > 0 else math.nan
    error = float(np.std(above - found * below, ddof=1)) * math.sqrt(len(above)) / total if total > 0 else math.nan

    def off(answer: float) -> float:
        return float(np.clip((found - answer) / max(error, ROUNDING * abs(answer), 1e-300), -MOST, MOST))

    return Found(found, error, off, int(np.count_nonzero(above)) >= LEAST)


def share(hits: Any) -> Found:
    """Return the share of sessions in which something is so; the answer's own law judges, however rare it is."""
    n, seen = len(hits), int(np.count_nonzero(hits))

    def off(answer: float) -> float:
        return binomial(seen, n, answer)

    return Found(seen / n, math.sqrt(max(seen, 1) * (n - min(seen, n - 1)) / n) / n, off)


def binomial(seen: int, n: int, p: float) -> float:
    """Return how many standard errors of a normal law are as rare as so many of n, or more; or as few, or fewer."""
    p = min(max(p, 0.0), 1.0)
    tail = stats.binom.logsf(seen - 1, n, p) if seen > n * p else stats.binom.logcdf(seen, n, p)
    found = max(float(stats.norm.isf(math.exp(tail))), 0.0) if tail > -700 else MOST
    return math.copysign(min(found, MOST), seen - n * p)


def quantile(values: Floats, x: float, room: float) -> Found:
    """Return how far x is off as a quantile: a share u is at most x, and no more than that below x by some room."""
    n = len(values)
    reached, before = int((values <= x).sum()), int((values < x - room).sum())

    def off(u: float) -> float:
        low, high = binomial(reached, n, u), binomial(before, n, u)
        return low if low < 0 else max(high, 0.0)

    return Found(reached / n, math.nan, off)
