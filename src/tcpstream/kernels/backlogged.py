"""One round of a chain that always has something to send: mass by state (row) and packets delivered (index).

Rows are followed only from ``low`` to ``high``; they hold zeros elsewhere. A row of window w and its loss are geometric
in the number delivered, so losing and recovering is a quotient of polynomials in z, a shift by one packet: with
g = sum_j p q^j z^j = p (q^3 z^3 - q^w z^w) / (1 - q z), j = 3..w-1, and E = sum_j p q^(2j) z^(2j), the packets of the
round of the loss and of the short round are distributed as ``g^2 / 2 + (1 - p/2) E``. The numerators of all windows
that recover to the same state are added before they are divided, once, by a recursion.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK = 1024
"""Positions recovered at a time, an even number: few enough to stay in the fastest cache."""


@kept(nogil=True, fastmath={"contract"})
def advance(
    x: Floats,
    low: Ints,
    high: Ints,
    before: Floats,
    before_low: Ints,
    before_high: Ints,
    windows: Ints,
    success: Floats,
    targets: Ints,
    grown_from: Ints,
    shares: Floats,
    starts: Ints,
    loss: float,
    offset: int,
    before_offset: int,
    middle: int,
    floor: int,
    limit: int,
    negligible: float,
    restart: int,
    restarted: Floats,
    restarted_at: int,
    new: Floats,
    new_low: Ints,
    new_high: Ints,
    total: Floats,
    grown: Floats,
) -> tuple[float, float, float, int]:
    """Make one round of congestion avoidance, row by row: grow, recover, and drop what is followed no longer.

    Parameters
    ----------
    x : (S, n) array
        Mass by state, in the order of increasing window.
    low, high : (S,) arrays
        Each row is followed from ``low`` to ``high``, exclusive.
    before : (S, l) array
        `x` a round ago: what lost a packet then recovers now. At least ``2 max(windows)`` zeros lie before and behind
        what is followed. What has to be counted one by one at `middle` is taken out of it.
    before_low, before_high : (S,) arrays
    windows, success : (S,) arrays
        w and q^w.
    targets : (S,) array
        State after a fast retransmit, -1 for none, else not decreasing.
    grown_from, shares : (k,) arrays
        States that lead here after a round delivered whole, and the share of each that does, by state reached.
    starts : (S + 1,) array
        Where those of each state begin.
    loss : float
        p.
    offset, before_offset : int
        Index in `new` of index 0 of `x`, of `before`.
    middle : int
        After the round of the loss only indices of `before` from here on go on.
    floor, limit : int
        Only indices of `new` from `floor` to `limit`, exclusive, are followed.
    negligible : float
        Mass dropped at most at each end of each row.
    restart : int
        State that a timeout returns to.
    restarted : (k,) array
        What is back from timeouts, from index `restarted_at` of `new` on.
    restarted_at : int
    new : (S, m) array
        Overwritten, with `new_low` and `new_high`.
    new_low, new_high : (S,) arrays
    total, grown : (m,) arrays
        Overwritten: the sum of the rows of `new`, and what windows of four packets and more have sent without loss.

    Returns
    -------
    below, above, dropped : float
        Mass removed below `floor`, at or above `limit`, and as negligible.
    cells : int
        Indices followed of all rows of `new` together.
    """
    states = len(x)
    longest = windows[-1]
    power = np.empty(2 * longest + 1)
    for j in range(2 * longest + 1):
        power[j] = (1.0 - loss) ** j
    flow, even = np.zeros(BLOCK), np.zeros(BLOCK)
    for k in range(len(total)):
        total[k] = 0.0
        grown[k] = 0.0
    below = 0.0
    above = 0.0
    dropped = 0.0
    cells = 0
    first = 0
    while first < states and targets[first] < 0:
        first += 1
    for s in range(states):
        fresh = True
        for i in range(starts[s], starts[s + 1]):
            source = grown_from[i]
            if low[source] >= high[source]:
                continue
            size = high[source] - low[source]
            start = low[source] + offset + windows[source]
            if fresh:
                _renew(new, new_low, new_high, s, start, start + size)
            else:
                _reach(new_low, new_high, s, start, start + size)
            keep = 0.0 if fresh else 1.0
            fresh = False
            q_w = shares[i] * success[source]
            mass = x[source, low[source] : high[source]]
            moved = new[s, start : start + size]
            sent = grown[start : start + size] if windows[source] >= 4 else total[start : start + size]
            for k in range(size):
                moved[k] = keep * moved[k] + q_w * mass[k]
                sent[k] += q_w * mass[k]
        if fresh:
            _renew(new, new_low, new_high, s, 0, 0)
        if s == restart and len(restarted) > 0:
            _reach(new_low, new_high, s, restarted_at, restarted_at + len(restarted))
            moved = new[s, restarted_at : restarted_at + len(restarted)]
            sent = total[restarted_at : restarted_at + len(restarted)]
            for k in range(len(restarted)):
                moved[k] += restarted[k]
                sent[k] += restarted[k]
        last = first
        while last < states and targets[last] == s:
            last += 1
        if first < last:
            _recover(
                before, before_low, before_high, windows, first, last, loss, power, before_offset, middle,
                flow, even, s, new, new_low, new_high, total,
            )  # fmt: skip
            first = last
        out = _finish(new, new_low, new_high, s, floor, limit, negligible)
        below += out[0]
        above += out[1]
        dropped += out[2]
        cells += new_high[s] - new_low[s]
    for k in range(len(total)):
        total[k] = total[k] + grown[k] if floor <= k < limit else 0.0
    return below, above, dropped, cells


@kept(nogil=True, fastmath={"contract"})
def clear(x: Floats, low: Ints, high: Ints) -> None:
    """Empty all rows: they hold zeros again and are followed nowhere."""
    for s in range(len(x)):
        row = x[s, low[s] : high[s]]
        for k in range(len(row)):
            row[k] = 0.0
        low[s] = 0
        high[s] = 0


@kept(nogil=True)
def span(low: Ints, high: Ints) -> tuple[int, int]:
    """Return the first index that any row is followed at, and the one after the last; equal if there are none."""
    first = -1
    end = -1
    for s in range(len(low)):
        if low[s] < high[s]:
            if first < 0 or low[s] < first:
                first = low[s]
            end = max(end, high[s])
    return first, end


@numba.njit(nogil=True, fastmath={"contract"})
def _finish(
    x: Floats, low: Ints, high: Ints, s: int, floor: int, limit: int, negligible: float
) -> tuple[float, float, float]:
    """Drop what is followed no longer at both ends of a row."""
    row = x[s]
    start = low[s]
    end = high[s]
    below = 0.0
    above = 0.0
    while start < end and start < floor:
        below += row[start]
        row[start] = 0.0
        start += 1
    while end > start and end > limit:
        end -= 1
        above += row[end]
        row[end] = 0.0
    first = 0.0
    while start < end and abs(first + row[start]) <= negligible:
        first += row[start]
        row[start] = 0.0
        start += 1
    last = 0.0
    while end > start and abs(last + row[end - 1]) <= negligible:
        end -= 1
        last += row[end]
        row[end] = 0.0
    low[s] = start
    high[s] = end
    return below, above, abs(first) + abs(last)


@numba.njit(nogil=True, fastmath={"contract"})
def _reach(low: Ints, high: Ints, row: int, start: int, end: int) -> None:
    """Follow a row at least from `start` to `end`."""
    if low[row] < high[row]:
        start = min(start, low[row])
        end = max(end, high[row])
    low[row] = start
    high[row] = end


@numba.njit(nogil=True)
def _renew(x: Floats, low: Ints, high: Ints, s: int, start: int, end: int) -> None:
    """Follow a row from `start` to `end`, where it is to be overwritten, and empty the rest of it."""
    row = x[s]
    for k in range(low[s], min(start, high[s])):
        row[k] = 0.0
    for k in range(max(low[s], end), high[s]):
        row[k] = 0.0
    low[s] = start
    high[s] = end


@numba.njit(nogil=True, fastmath={"contract"})
def _recover(
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
                _reach(new_low, new_high, target, middle + 3 + offset, k + 2 * w - 1 + offset)
        low[r] = max(low[r], min(high[r], middle - 3))
        if low[r] < high[r]:
            start = min(start, low[r])
            end = max(end, high[r] + 2 * w - 2)
    if start >= end:
        return
    start += 6  # the numerators start with z^6
    _reach(new_low, new_high, target, start + offset, end + offset)
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


@kept(nogil=True, fastmath={"contract"})
def lose(
    x: Floats,
    windows: Ints,
    total: Floats,
    low: int,
    high: int,
    grown: Floats,
    loss: float,
    offset: int,
    floor: int,
    short: Floats,
    few: Floats,
) -> float:
    """Write the distribution of short rounds, and of those that will deliver fewer than three packets.

    With Y the sum of the windows of four and more before the round, those of j = 3, 4, ... packets follow
    ``M(a) = q M(a - 1) + p q^3 Y(a - 3) - p sum_w q^w x_w(a - w)``.

    Parameters
    ----------
    x : (S, n) array
        By increasing window.
    windows : (S,) array
    total : (n,) array
        Sum of the rows of `x`, nonzero from `low` to `high`.
    low, high : int
    grown : (m,) array
        From `advance`.
    loss : float
        p.
    offset : int
        Index in the outputs of index 0 of `x`.
    floor : int
        Short rounds below this index of the outputs are removed.
    short, few : (m,) arrays
        Overwritten: all short rounds by packets delivered at their start; those without fast retransmit by packets
        delivered at their end.

    Returns
    -------
    float
        What was removed.
    """
    p = loss
    q = 1.0 - p
    for k in range(len(short)):
        short[k] = 0.0
        few[k] = 0.0
    removed = 0.0
    size = high - low
    if size <= 0:
        return removed
    more = np.empty(size)
    whole = total[low:high]
    for k in range(size):
        more[k] = whole[k]
    padded = np.zeros(size + windows[-1] + 4)
    s = 0
    for j in range(1, 4):  # j = 1, 2, then 3 and more delivered, of windows of more than j
        while s < len(windows) and windows[s] <= j:
            row = x[s, low:high]
            for k in range(size):
                more[k] -= row[k]
            s += 1
        if s == len(windows):
            break
        start = low + offset + j
        enter = p * q**j
        length = size if j < 3 else size + windows[-1] - 4
        fresh = padded[2 : 2 + length]
        for k in range(size):
            fresh[k] = enter * more[k]
        if j == 3:
            for k in range(size, length):
                fresh[k] = 0.0
            mass = 0.0
            for k in range(length):
                mass = q * mass + (fresh[k] - p * grown[start + k])
                fresh[k] = mass
        for k in range(min(length, floor - start)):
            removed += fresh[k]
            fresh[k] = 0.0
        sink = short[start : start + length]
        for k in range(length):
            sink[k] += fresh[k]
        one = q if j == 1 else p * q
        two = 0.0 if j == 1 else q * q if j == 2 else p * q * q
        sink = few[start : start + length + 2]
        here, last, before = padded[2 : length + 4], padded[1 : length + 3], padded[: length + 2]
        for k in range(length + 2):
            sink[k] += p * here[k] + one * last[k] + two * before[k]
    return removed


@numba.njit(nogil=True, fastmath={"contract"})
def _one_by_one(
    mass: float, k: int, floor: int, window: int, p: float, power: Floats, offset: int, target: Floats
) -> None:
    """Lose and recover where j is restricted: pairs i <= j are counted for each sum."""
    least = max(3, floor - k)
    most = window - 1
    for total_sent in range(least + 3, 2 * most + 1):
        pairs = min(most, total_sent - 3) - max(least, total_sent // 2 + 1) + 1
        pmf = 0.0
        if pairs > 0:
            pmf = p * p * pairs
        middle = total_sent // 2
        if 2 * middle == total_sent and least <= middle <= most:
            pmf += p
        target[k + total_sent + offset] += pmf * power[total_sent] * mass
