"""Losing and recovering: one two-round step from window w to half of w.

The round of the loss delivers j packets, 3 <= j <= w - 1, with p q^j; the short round then delivers i packets,
3 <= i <= j, with p q^i for i < j and q^j for i = j. With g = sum_j p q^j z^j (a recursion) and
E = sum_j p q^(2j) z^(2j) (a recursion of steps_per_packet two), the distribution of i + j is ``g^2 / 2 + (1 - p/2) E``:
the pairs i < j are half of all pairs without the diagonal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .two_rounds import by_pairs


@kept(nogil=True, fastmath={"contract"})
def recover(
    x: NDArray[np.float64],
    windows: NDArray[np.int64],
    rows: NDArray[np.int64],
    loss: float,
    steps_per_packet: int,
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
    steps_per_packet : int
        Positions per packet.
    floor, cap : int
        After the round of the loss only positions in floor <= k < cap go on. What lies below is dropped.
    out : (H, n + 2 * steps_per_packet * max(windows)) array
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
    # with a margin of zeros in front, so that the recursions need no first cases
    margin = 2 * longest * steps_per_packet
    y = np.zeros(n)
    inner = np.zeros(margin + n + margin)
    once = np.zeros(margin + n + margin)
    twice = np.zeros(margin + n + margin)
    diagonal = np.zeros(margin + n + margin)
    power = np.empty(2 * longest + 1)
    for j in range(2 * longest + 1):
        power[j] = q**j
    three = 3 * steps_per_packet
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
        for k in range(n):
            y[k] = x[s, k]
        for c in range(s + 1, last + 1):
            y += x[c]
        first_used = 0
        while first_used < n and y[first_used] == 0.0:
            first_used += 1
        last_used = n - 1
        while last_used >= first_used and y[last_used] == 0.0:
            last_used -= 1
        k0 = max(first_used, floor - three)
        k1 = min(last_used + 1, cap - (w - 1) * steps_per_packet)
        # near a limit: j is restricted, and the pairs are counted one chain at a time
        for k in range(first_used, last_used + 1):
            if k0 <= k < k1 or y[k] == 0.0:
                continue
            least = max(3, -((k - floor) // steps_per_packet))
            most = min(w - 1, (cap - 1 - k) // steps_per_packet)
            for j in range(max(3, most + 1), w):
                frozen[rows[s], j] += p * power[j] * y[k]
            for total_sent in range(least + 3, 2 * most + 1):
                pmf = by_pairs(total_sent, least, most, p)
                if pmf != 0.0:
                    target[k + total_sent * steps_per_packet] += pmf * power[total_sent] * y[k]
        # away from the limits: recursions
        if k0 < k1:
            enter, leave = p * power[3], p * power[w]
            enter_twice, leave_twice = p * power[6], p * power[2 * w]
            square = power[2]
            half, diagonal_weight = 0.5, 1.0 - 0.5 * p
            reach = (w - 1) * steps_per_packet
            whole = w * steps_per_packet
            origin = margin + k0
            inner[origin - margin : origin] = 0.0
            once[origin - margin : origin + three] = 0.0
            twice[origin : origin + 2 * three] = 0.0
            diagonal[origin : origin + 2 * three] = 0.0
            end = margin + k1
            for k in range(k1 - k0):
                inner[origin + k] = y[k0 + k]
            inner[end : end + 2 * reach] = 0.0
            for k in range(origin + three, end + reach):
                once[k] = q * once[k - steps_per_packet] + (enter * inner[k - three] - leave * inner[k - whole])
            once[end + reach : end + 2 * reach] = 0.0
            for k in range(origin + 2 * three, end + 2 * reach):
                pairs_law = q * twice[k - steps_per_packet] + (enter * once[k - three] - leave * once[k - whole])
                even = square * diagonal[k - 2 * steps_per_packet] + (
                    enter_twice * inner[k - 2 * three] - leave_twice * inner[k - 2 * whole]
                )
                twice[k] = pairs_law
                diagonal[k] = even
                target[k - margin] += half * pairs_law + diagonal_weight * even
        s = last + 1
