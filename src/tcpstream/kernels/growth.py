"""A round delivered whole: every window w moves up by w packets, with probability q^w."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept


@kept(nogil=True, fastmath={"contract"})
def grow(
    x: NDArray[np.float64],
    windows: NDArray[np.int64],
    success: NDArray[np.float64],
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    shares: NDArray[np.float64],
    steps_per_packet: int,
    cap: int,
    offset: int,
    out: NDArray[np.float64],
) -> None:
    """Add to `out` the mass of `x` after a round without a loss.

    Parameters
    ----------
    x : (S, n) array
        Mass by congestion avoidance state and position.
    windows, success : (S,) arrays
        Window and probability q^w of each state.
    sources, targets, shares : (k,) arrays
        States that lead to each other when a round is delivered whole, and with which probability then.
    steps_per_packet, cap : int
        Positions per packet; position of the ceiling in `out`.
    offset : int
        Position in `out` of the first position of `x`.
    out : (S, m) array
        Accumulated into; m reaches past the last position that a window can move to, or past `cap`.
    """
    n = x.shape[1]
    for i in range(len(sources)):
        s = sources[i]
        shift = windows[s] * steps_per_packet
        q_w = shares[i] * success[s]
        source = x[s]
        target = out[targets[i]]
        inside = max(0, min(n, cap - shift - offset))
        for k in range(inside):
            target[k + offset + shift] += q_w * source[k]
        clipped = 0.0
        for k in range(inside, n):
            clipped += source[k]
        if clipped != 0.0:
            target[cap] += q_w * clipped
