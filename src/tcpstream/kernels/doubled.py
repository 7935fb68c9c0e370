"""Arrays that are full: twice as long, with what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part


@part(nogil=True)
def doubled(full: NDArray[Any]) -> NDArray[Any]:
    """Return an array twice as long."""
    found = np.empty(2 * len(full), full.dtype)
    for i in range(len(full)):
        found[i] = full[i]
    return found


@part(nogil=True)
def doubled_rows(full: NDArray[Any]) -> NDArray[Any]:
    """Return twice as many rows."""
    found = np.empty((2 * len(full), full.shape[1]), full.dtype)
    for i in range(len(full)):
        for j in range(full.shape[1]):
            found[i, j] = full[i, j]
    return found
