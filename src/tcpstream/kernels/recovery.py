"""Losing and recovering: one two-round step from window w to half of w.

The round of the loss delivers j packets, 3 <= j <= w - 1, with p q^j; the short round then delivers i packets,
3 <= i <= j, with p q^i for i < j and q^j for i = j. With g = sum_j p q^j z^j (a recursion) and
E = sum_j p q^(2j) z^(2j) (a recursion of stride two), the law of i + j is ``g^2 / 2 + (1 - p/2) E``:
the pairs i < j are half of all pairs without the diagonal.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(cache=True, fastmath=False)
def recover(
    x: NDArray[np.float64],
    windows: NDArray[np.int64],
    rows: NDArray[np.int64],
    loss: float,
    stride: int,
    floor: int,
    cap: int,
    out: NDArray[np.float64],
    frozen: NDArray[np.float64],
) -> None:
    """Add to `out` the mass that loses in this round and recovers in the next.

    Parameters
    ----------
    x : (S, n) array
        Mass by congestion avoidance state and position before the round of the loss.
    windows, rows : (S,) arrays
        Window of each state; row of `out` for its half (not used below 4).
    loss : float
        p.
    stride : int
        Positions per packet.
    floor, cap : int
        After the round of the loss only positions in floor <= k < cap go on. What lies below is dropped.
    out : (H, n + 2 * stride * max(windows)) array
        Accumulated into, at the same origin; not limited by `cap`.
    frozen : (H, max(windows)) array
        Accumulated into: mass that reached `cap` in the round of the loss, by row and j.
    """
    states, n = x.shape
    p = loss
    q = 1.0 - p
    longest = 0
    for s in range(states):
        longest = max(longest, windows[s])
    y = np.zeros(n)
    once = np.zeros(n + longest * stride)
    twice = np.zeros(n + 2 * longest * stride)
    diagonal = np.zeros(n + 2 * longest * stride)
    power = np.empty(2 * longest + 1)
    for j in range(2 * longest + 1):
        power[j] = q**j
    three = 3 * stride
    s = 0
    while s < states:
        w = windows[s]
        last = s
        while last + 1 < states and windows[last + 1] == w:
            last += 1
        if w < 4:
            s = last + 1
            continue
        target = out[rows[s]]
        first_used = n
        last_used = -1
        for k in range(n):
            total = 0.0
            for c in range(s, last + 1):
                total += x[c, k]
            y[k] = total
            if total != 0.0:
                first_used = min(first_used, k)
                last_used = k
        k0 = max(first_used, floor - three)
        k1 = min(last_used + 1, cap - (w - 1) * stride)
        # near a limit: j is restricted, and the pairs are counted one source at a time
        for k in range(first_used, last_used + 1):
            if k0 <= k < k1 or y[k] == 0.0:
                continue
            least = max(3, -((k - floor) // stride))
            most = min(w - 1, (cap - 1 - k) // stride)
            for j in range(max(3, most + 1), w):
                frozen[rows[s], j] += p * power[j] * y[k]
            for total_sent in range(least + 3, 2 * most + 1):
                pairs = min(most, total_sent - 3) - max(least, total_sent // 2 + 1) + 1
                law = 0.0
                if pairs > 0:
                    law = p * p * pairs
                half = total_sent // 2
                if 2 * half == total_sent and least <= half <= most:
                    law += p
                if law != 0.0:
                    target[k + total_sent * stride] += law * power[total_sent] * y[k]
        # away from the limits: recursions
        if k0 < k1:
            enter = p * power[3]
            leave = p * power[w]
            end = k1 + (w - 1) * stride
            for k in range(k0 + three, end):
                value = enter * y[k - three] if k - three < k1 else 0.0
                if k - stride >= k0 + three:
                    value += q * once[k - stride]
                if k - w * stride >= k0:
                    value -= leave * y[k - w * stride]
                once[k] = value
            end2 = k1 + 2 * (w - 1) * stride
            enter2 = p * power[6]
            leave2 = p * power[2 * w]
            for k in range(k0 + 2 * three, end2):
                value = enter * once[k - three] if k - three < end else 0.0
                if k - stride >= k0 + 2 * three:
                    value += q * twice[k - stride]
                if k - w * stride >= k0 + three:
                    value -= leave * once[k - w * stride]
                twice[k] = value
                even = enter2 * y[k - 2 * three] if k - 2 * three < k1 else 0.0
                if k - 2 * stride >= k0 + 2 * three:
                    even += power[2] * diagonal[k - 2 * stride]
                if k - 2 * w * stride >= k0:
                    even -= leave2 * y[k - 2 * w * stride]
                diagonal[k] = even
                target[k] += 0.5 * value + (1.0 - 0.5 * p) * even
        s = last + 1
