"""The round of a loss: the first j packets of a window are delivered and the rest is lost, p q^j."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept


@kept(nogil=True, fastmath={"contract"})
def lose(
    x: NDArray[np.float64],
    windows: NDArray[np.int64],
    success: NDArray[np.float64],
    loss: float,
    steps_per_packet: int,
    cap: int,
    out: NDArray[np.float64],
) -> None:
    """Write the distribution of short rounds by position, apart for j = 1, 2 and 3 or more delivered.

    The kernels p q^j, j = 3..w-1, of all windows together are one recursion,
    ``M(a) = q M(a - 1) + p q^3 Y(a - 3) - p sum_w q^w x_w(a - w)``, whatever the number of windows.

    Parameters
    ----------
    x : (S, n) array
        Mass by congestion avoidance state and position.
    windows, success : (S,) arrays
        Window and q^w of each state.
    loss : float
        p.
    steps_per_packet, cap : int
        Positions per packet; position of the ceiling, which gets all that would lie beyond.
    out : (3, m) array
        Overwritten; m at least n + steps_per_packet * (max(windows) - 1), or cap + 1.
    """
    states, n = x.shape
    p = loss
    q = 1.0 - p
    width = n
    for s in range(states):
        width = max(width, n + windows[s] * steps_per_packet)
    two = np.zeros(n)  # mass in windows of at least two packets
    three = np.zeros(n)
    flow = np.zeros(width)  # input of the recursion
    for s in range(states):
        w = windows[s]
        source = x[s]
        if w >= 2:
            for k in range(n):
                two[k] += source[k]
        if w >= 3:
            for k in range(n):
                three[k] += source[k]
        if w >= 4:
            first = p * q * q * q
            last = p * success[s]
            for k in range(n):
                flow[k + 3 * steps_per_packet] += first * source[k]
            shift = w * steps_per_packet
            for k in range(n):
                flow[k + shift] -= last * source[k]
    out[:] = 0.0
    for k in range(n):
        out[0, min(k + steps_per_packet, cap)] += p * q * two[k]
        out[1, min(k + 2 * steps_per_packet, cap)] += p * q * q * three[k]
    for k in range(steps_per_packet, width):
        flow[k] += q * flow[k - steps_per_packet]
    for k in range(min(width, cap)):
        out[2, k] = flow[k]
    clipped = 0.0
    for k in range(cap, width):
        clipped += flow[k]
    if clipped != 0.0:
        out[2, cap] += clipped
