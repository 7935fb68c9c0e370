"""A round delivered whole: every window w moves up by w packets, with probability q^w."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def grow(
    x: NDArray[np.float64],
    windows: NDArray[np.int64],
    grow_to: NDArray[np.int64],
    success: NDArray[np.float64],
    stride: int,
    cap: int,
    offset: int,
    out: NDArray[np.float64],
) -> None:
    """Add to `out` the mass of `x` after a round without a loss.

    Parameters
    ----------
    x : (S, n) array
        Mass by congestion avoidance state and position.
    windows, grow_to, success : (S,) arrays
        Window, next state and probability q^w of each state.
    stride, cap : int
        Positions per packet; position of the ceiling in `out`.
    offset : int
        Position in `out` of the first position of `x`.
    out : (S, m) array
        Accumulated into; m reaches past the last position that a window can move to, or past `cap`.
    """
    states, n = x.shape
    for s in range(states):
        shift = windows[s] * stride
        q_w = success[s]
        source = x[s]
        target = out[grow_to[s]]
        inside = max(0, min(n, cap - shift - offset))
        for k in range(inside):
            target[k + offset + shift] += q_w * source[k]
        clipped = 0.0
        for k in range(inside, n):
            clipped += source[k]
        if clipped != 0.0:
            target[cap] += q_w * clipped
