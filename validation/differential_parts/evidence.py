"""What random runs say about an answer: nothing, or that it is too small or too large.

An answer is called wrong only when it is rejected in each of `STAGES` samples, independent of each other and growing,
all on the same side, at level `LEVEL` each. An answer that is right is so called wrong with probability 2 x LEVEL^4,
about 1e-13. A run of 10,000 cases with 20 answers each has a false alarm with probability 3e-8; were the levels ten
times what they should be (late packets come in bursts, and are far from normal), 3e-4. `RATE` is what is promised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]

STAGES = (1, 2, 4, 8)
"""Sizes of the samples, over the first one."""

LEVEL = 5e-4
"""One-sided, of each stage."""

RATE = 1e-3
"""Probability of a false alarm in a whole run, at most."""

FEW, MANY = 10, 100
"""Late runs, all weighed alike, from which a mean is judged to be above and below the answer."""

UNSEEN = 25.0
"""Runs unlike the rest that are expected, at most, where fewer than `FEW` are seen: at level 1e-3 and less."""

SAME = 1e-12
"""Values this close to each other are the same."""


class Sample(NamedTuple):
    """What runs gave: their number, mean, its standard error, how many matter, are positive, and unlike most others."""

    n: int
    mean: float
    error: float
    effective: float
    positive: int
    unlike: int


@dataclass(frozen=True)
class Claim:
    """An answer to be held against samples.

    Attributes
    ----------
    name : str
    value, tolerance : float
        The answer, and how far it may be off by its own account.
    kind : {"mean", "share"}
        A mean of numbers, 0 or more; or the probability of an event.
    bounded : bool
        Whether the numbers of a mean are at most 1.
    """

    name: str
    value: float
    tolerance: float
    kind: str = "mean"
    bounded: bool = True

    def side(self, sample: Sample) -> int:
        """Return 1 where a sample rejects the answer as too small, -1 as too large, else 0."""
        low, high = self.value - self.tolerance, self.value + self.tolerance
        if low <= sample.mean <= high:
            return 0
        if self.kind == "share":
            if sample.mean > high:
                return int(stats.binom.sf(sample.positive - 1, sample.n, min(max(high, 0.0), 1.0)) < LEVEL)
            return -int(stats.binom.cdf(sample.positive, sample.n, min(max(low, 0.0), 1.0)) < LEVEL)
        if sample.mean > high:
            if sample.effective < FEW:
                return 0
            return int(self._tail(sample, sample.mean - high) < LEVEL)
        if sample.effective >= MANY:
            return -int(self._tail(sample, low - sample.mean) < LEVEL)
        if not self.bounded:
            return 0
        return -int(stats.binom.cdf(sample.positive, sample.n, min(low, 1.0)) < LEVEL)  # P(X > 0) >= E[X] = f

    @staticmethod
    def _tail(sample: Sample, distance: float) -> float:
        if sample.unlike < FEW:
            return float(distance <= UNSEEN / sample.n)
        return float(stats.t.sf(distance / sample.error, sample.n - 1))

    def judged(self, sample: Sample) -> bool:
        """Return whether a sample is large enough to see the answer on both sides, or that it is far too large."""
        return self.kind == "share" or sample.effective >= MANY or self.value * sample.n > -math.log(LEVEL)


def of_runs(values: Floats, parts: Floats | None = None) -> Sample:
    """Return a sample of independent values, with what matters counted in their parts."""
    n = len(values)
    counted = np.ravel(values if parts is None else parts)
    squares = float((counted**2).sum())
    effective = float(counted.sum()) ** 2 / squares if squares > 0 else 0.0
    error = float(values.std(ddof=1)) / math.sqrt(n)
    unlike = int((np.abs(values - np.median(values)) > SAME).sum())
    return Sample(n, float(values.mean()), error, effective, int((values > 0).sum()), unlike)


def of_events(count: float, n: int) -> Sample:
    """Return a sample of events."""
    share = count / n
    return Sample(n, share, math.sqrt(share * (1 - share) / n), count, int(count), int(min(count, n - count)))
