"""Import numba and call one cached kernel: what every process that uses numba pays."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit("float64(float64[::1])", cache=True)
def total(values: NDArray[np.float64]) -> float:
    """Add up."""
    result = 0.0
    for value in values:
        result += value
    return result


total(np.ones(3))
