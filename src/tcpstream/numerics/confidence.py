"""95% intervals: of a proportion, and of a mean."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Z = 1.959963984540054


def wilson(hits: float, trials: float, design: float = 1.0) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion; `design` trials are worth one independent one.

    Notes
    -----
    Wilson, "Probable inference, the law of succession, and statistical inference", J. Am. Stat. Assoc. 22 (1927).
    """
    n = trials / design
    share = hits / trials
    centre = share + _Z**2 / (2 * n)
    spread = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    scale = 1 + _Z**2 / n
    low = 0.0 if hits == 0 else max(0.0, (centre - spread) / scale)
    high = 1.0 if hits == trials else min(1.0, (centre + spread) / scale)
    return min(low, share), max(high, share)  # where they are closer than rounding


def student(values: NDArray[np.float64]) -> Any:
    """Return half of the interval of the mean of n >= 2 independent values, of each column if there are columns."""
    from scipy.special import stdtrit  # loads slowly

    n = len(values)
    return float(stdtrit(n - 1, 0.975)) * values.std(axis=0, ddof=1) / math.sqrt(n)
