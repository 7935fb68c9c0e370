"""A round of a source with independent losses that always has something to send.

Rows are followed only from ``low`` to ``high`` and hold zeros elsewhere. A window of w moves up by w - K packets when
K losses are repaired. In order are only the j before the first loss: with a = 1 - p^2 those that recover have the law
``sum_j p q^(j + 1) a^(w - 1 - j) z^j = (p q / a) (a^w - q^w z^w) / (1 - z q / a)``, and all that lose a packet
``p (1 - q^w z^w) / (1 - q z)``. Numerators of all windows are added first; each division is one recursion.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def lose(
    x: Floats,
    low: Ints,
    high: Ints,
    origin: int,
    windows: Ints,
    success: Floats,
    held: Floats,
    repaired_whole: Floats,
    all_lost: Floats,
    loss: float,
    stride: int,
    grown: Floats,
    shown: Floats,
    failing: Floats,
    lost: Floats,
) -> None:
    """Write the laws of what a round delivers in order, by what happens in it.

    Parameters
    ----------
    x : (S, n) array
        Mass by state and position.
    low, high : (S,) arrays
    origin : int
        Index of `x` that is index 0 of the outputs.
    windows : (S,) array
    success, held, repaired_whole, all_lost : (S,) arrays
        q^w, (1 - p^2)^w, (p q)^w and p^w.
    loss : float
        p.
    stride : int
        Positions per packet.
    grown, shown, failing, lost : (m,) arrays
        Zeros. Added to: what has lost nothing; what recovers; what ends in a timeout; what has lost all, and has
        not moved. m reaches past the last position that a window moves to.
    """
    p = loss
    q = 1.0 - p
    whole = np.zeros(len(grown))
    better = np.zeros(len(grown))  # sums of a^w x_w, and of (p q)^w x_w
    alone = np.zeros(len(grown))
    for s in range(len(windows)):
        start = low[s] - origin
        mass = x[s, low[s] : high[s]]
        up = windows[s] * stride
        for k in range(len(mass)):
            whole[start + k] += mass[k]
            better[start + k] += held[s] * mass[k]
            alone[start + k] += repaired_whole[s] * mass[k]
            lost[start + k] += all_lost[s] * mass[k]
            grown[start + up + k] += success[s] * mass[k]
    a = 1.0 - p * p
    for k in range(len(grown)):
        whole[k] = p * (whole[k] - grown[k])
        better[k] = p * q / a * (better[k] - grown[k])
        if k >= stride:
            whole[k] += q * whole[k - stride]
            better[k] += q / a * better[k - stride]
        shown[k] = better[k] - alone[k]
        failing[k] = whole[k] - lost[k] - shown[k]


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def advance(
    x: Floats,
    low: Ints,
    high: Ints,
    windows: Ints,
    success: Floats,
    targets: Ints,
    repaired: Floats,
    stride: int,
    offset: int,
    floor: int,
    new: Floats,
    new_low: Ints,
    new_high: Ints,
) -> None:
    """Make one round of congestion avoidance: grow, or repair and recover.

    Parameters
    ----------
    x : (S, n) array
        Mass by state, in the order of increasing window: the last state leads to itself, every other to the next.
    low, high : (S,) arrays
    windows, success : (S,) arrays
        w and q^w.
    targets : (S,) array
        State after repaired losses, -1 for none.
    repaired : (W_max + 1, M) array
        P(K of w packets are lost, and all repaired).
    stride : int
        Positions per packet.
    offset, floor : int
        Index in `new` of index 0 of `x`; what has not delivered as much in order does not recover (stride 1 only).
    new : (S, m) array
        Zeros, with `new_low` and `new_high`. Added to; wide enough for all that moves.
    """
    states, most = len(windows), repaired.shape[1]
    for s in range(states):
        size = high[s] - low[s]
        if size <= 0:
            continue
        w, start = windows[s], low[s] + offset
        mass = x[s, low[s] : high[s]]
        _add(mass, success[s], min(s + 1, states - 1), start + w * stride, new, new_low, new_high)
        target = targets[s]
        if target < 0:
            continue
        free = min(max(floor - start, 0), size)  # from here on nothing is below the floor, whatever was lost
        for K in range(1, min(most, w)):
            _add(mass[free:], repaired[w, K], target, start + free + (w - K) * stride, new, new_low, new_high)
        for k in range(free):
            sent = floor - start - k  # so many have to be delivered first
            if sent >= w or mass[k] == 0.0:
                continue
            weight = mass[k] * repaired[sent, 0]  # q^sent
            for K in range(1, min(most, w - sent + 1)):
                one = np.full(1, weight)
                _add(one, repaired[w - sent, K], target, start + k + w - K, new, new_low, new_high)


@numba.njit(nogil=True, fastmath={"contract"})
def _add(mass: Floats, weight: float, row: int, start: int, new: Floats, low: Ints, high: Ints) -> None:
    """Add ``weight * mass`` to a row from index `start` on, and follow it there."""
    if len(mass) == 0:
        return
    sink = new[row, start : start + len(mass)]
    for k in range(len(mass)):
        sink[k] += weight * mass[k]
    end = start + len(mass)
    if low[row] < high[row]:
        start = min(start, low[row])
        end = max(end, high[row])
    low[row] = start
    high[row] = end
