"""The round of a loss and the short round after it, of all windows that recover to the same state.

A row of window w and its loss are geometric
in the number delivered, so losing and recovering is a quotient of polynomials in z, a shift by one packet: with
g = sum_j p q^j z^j = p (q^3 z^3 - q^w z^w) / (1 - q z), j = 3..w-1, and E = sum_j p q^(2j) z^(2j), the packets of the
round of the loss and of the short round are distributed as ``g^2 / 2 + (1 - p/2) E``. The numerators of all windows
that recover to the same state are added before they are divided, once, by a recursion.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from .rows import reach
from .two_rounds import by_pairs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK = 1024
"""Positions recovered at a time, an even number: few enough to stay in the fastest cache."""


@part(nogil=True, fastmath={"contract"})
def recover(
    x: Floats,
    low: Ints,
    high: Ints,
    windows: Ints,
    first_row: int,
    last_row: int,
    loss: float,
    power: Floats,
    offset: int,
    middle: int,
    flow: Floats,
    even: Floats,
    target: int,
    new: Floats,
    new_low: Ints,
    new_high: Ints,
    total: Floats,
) -> None:
    """Add what lost a packet from rows that recover to the same state.

    ``g^2 / 2 + (1 - p/2) E`` is ``P (V + P (1 + q z)^2 U)`` with P = 1 / (1 - q^2 z^2), and numerators U of g^2 / 2
    over (1 - q z)^2 and V of the rest over 1 - q^2 z^2.
    """
    p = loss
    q = 1.0 - p
    start = x.shape[1]
    end = 0
    for r in range(first_row, last_row):
        w = windows[r]
        for k in range(low[r], min(high[r], middle - 3)):
            if x[r, k] != 0.0:
                _one_by_one(x[r, k], k, middle, w, p, power, offset, new[target])
                _one_by_one(x[r, k], k, middle, w, p, power, offset, total)
                x[r, k] = 0.0
                reach(new_low, new_high, target, middle + 3 + offset, k + 2 * w - 1 + offset)
        low[r] = max(low[r], min(high[r], middle - 3))
        if low[r] < high[r]:
            start = min(start, low[r])
            end = max(end, high[r] + 2 * w - 2)
    if start >= end:
        return
    start += 6  # the numerators start with z^6
    reach(new_low, new_high, target, start + offset, end + offset)
    both = p * p * power[6] / 2
    evens = p * (1.0 - 0.5 * p) * power[6]
    twice_q = 2.0 * q
    square = q * q
    flow_1 = flow_2 = inner_a = inner_b = outer_a = outer_b = 0.0
    for block in range(start, end, BLOCK):
        size = min(BLOCK, end - block)
        keep = 0.0
        for r in range(first_row, last_row, 2):  # two rows at a time: they share what comes first
            s = min(r + 1, last_row - 1)
            w, v = windows[r], windows[s]
            pair = 1.0 if s > r else 0.0
            once, once_v = p * p * power[w + 3], pair * p * p * power[v + 3]
            twice, twice_v = p * p * power[2 * w] / 2, pair * p * p * power[2 * v] / 2
            ends, ends_v = (2.0 - p) / p * twice, (2.0 - p) / p * twice_v
            a = x[r, block - 6 : block - 6 + size]
            b = x[r, block - 3 - w : block - 3 - w + size]
            c = x[r, block - 2 * w : block - 2 * w + size]
            a_v = x[s, block - 6 : block - 6 + size]
            b_v = x[s, block - 3 - v : block - 3 - v + size]
            c_v = x[s, block - 2 * v : block - 2 * v + size]
            for k in range(size):
                sent = a[k] + pair * a_v[k]
                moved = both * sent - once * b[k] + twice * c[k] - once_v * b_v[k] + twice_v * c_v[k]
                flow[k] = keep * flow[k] + moved
                even[k] = keep * even[k] + (evens * sent - ends * c[k] - ends_v * c_v[k])
            keep = 1.0
        for k in range(0, size - 1, 2):  # even and odd k are recursions of their own
            flow_a = flow[k]
            flow_b = flow[k + 1]
            inner_a = square * inner_a + (flow_a + twice_q * flow_1 + square * flow_2)
            inner_b = square * inner_b + (flow_b + twice_q * flow_a + square * flow_1)
            outer_a = square * outer_a + (inner_a + even[k])
            outer_b = square * outer_b + (inner_b + even[k + 1])
            even[k] = outer_a
            even[k + 1] = outer_b
            flow_2 = flow_a
            flow_1 = flow_b
        if size % 2:  # in the last block alone
            k = size - 1
            inner_a = square * inner_a + (flow[k] + twice_q * flow_1 + square * flow_2)
            even[k] = square * outer_a + (inner_a + even[k])
        sink = new[target, block + offset : block + offset + size]
        whole = total[block + offset : block + offset + size]
        for k in range(size):
            sink[k] += even[k]
            whole[k] += even[k]


@part(nogil=True, fastmath={"contract"})
def _one_by_one(
    mass: float, k: int, floor: int, window: int, p: float, power: Floats, offset: int, target: Floats
) -> None:
    """Lose and recover where j is restricted: pairs i <= j are counted for each sum."""
    least = max(3, floor - k)
    most = window - 1
    for total_sent in range(least + 3, 2 * most + 1):
        target[k + total_sent + offset] += by_pairs(total_sent, least, most, p) * power[total_sent] * mass
