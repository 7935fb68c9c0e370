"""One round of a chain that always has something to send: mass by state (row) and packets delivered (index).

Rows are followed only from ``low`` to ``high``; they hold zeros elsewhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .backlogged_recovery import BLOCK, recover
from .rows import reach, renew, trim_row

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
            state = grown_from[i]
            if low[state] >= high[state]:
                continue
            size = high[state] - low[state]
            start = low[state] + offset + windows[state]
            if fresh:
                renew(new, new_low, new_high, s, start, start + size)
            else:
                reach(new_low, new_high, s, start, start + size)
            keep = 0.0 if fresh else 1.0
            fresh = False
            q_w = shares[i] * success[state]
            mass = x[state, low[state] : high[state]]
            moved = new[s, start : start + size]
            sent = grown[start : start + size] if windows[state] >= 4 else total[start : start + size]
            for k in range(size):
                moved[k] = keep * moved[k] + q_w * mass[k]
                sent[k] += q_w * mass[k]
        if fresh:
            renew(new, new_low, new_high, s, 0, 0)
        if s == restart and len(restarted) > 0:
            reach(new_low, new_high, s, restarted_at, restarted_at + len(restarted))
            moved = new[s, restarted_at : restarted_at + len(restarted)]
            sent = total[restarted_at : restarted_at + len(restarted)]
            for k in range(len(restarted)):
                moved[k] += restarted[k]
                sent[k] += restarted[k]
        last = first
        while last < states and targets[last] == s:
            last += 1
        if first < last:
            recover(
                before, before_low, before_high, windows, first, last, loss, power, before_offset, middle,
                flow, even, s, new, new_low, new_high, total,
            )  # fmt: skip
            first = last
        out = trim_row(new, new_low, new_high, s, floor, 1.0, limit, negligible, 0.0, 0.0, 0.0)
        below += out[0]
        above += out[1]
        dropped += out[2]
        cells += new_high[s] - new_low[s]
    for k in range(len(total)):
        total[k] = total[k] + grown[k] if floor <= k < limit else 0.0
    return below, above, dropped, cells
