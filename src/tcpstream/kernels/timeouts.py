"""One round of timeouts: what was sent alone is lost and waits, or is delivered; what has waited comes back.

Rows are followed only from ``low`` to ``high`` and hold zeros elsewhere. What waits is kept by kind of wait and round
of entry: a kind has as many rows as its longest wait has rounds, and uses them in turn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import kept
from .rows import reach, renew, trim_row

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kept(nogil=True, fastmath={"contract"})
def turn(
    number: int,
    loss: float,
    step: Floats,
    x: Floats,
    low: Ints,
    high: Ints,
    origin: int,
    rounds: Ints,
    weights: Floats,
    levels: Ints,
    starts: Ints,
    depths: Ints,
    mass: Floats,
    firsts: Ints,
    sizes: Ints,
    waiting: Floats,
    waiting_origin: int,
    floor: int,
    limit: int,
    share: float,
    negligible: float,
    new: Floats,
    new_low: Ints,
    new_high: Ints,
    new_origin: int,
    restarted: Floats,
    resting: Floats,
) -> tuple[float, float, float, int, int]:
    """Make one round: retransmit, come back from waits, and drop what is followed no longer.

    Parameters
    ----------
    number : int
        The round.
    loss : float
        p.
    step : (3,) array
        Distribution of the positions that a packet moves: -1, 0 and 1.
    x : (2 L, n) array
        Mass of (e, r) at positions from `origin` on: r = 1 for e = 1..L, then r = 0.
    low, high : (2 L,) arrays
        At least two zeros lie before and behind what is followed.
    origin : int
    rounds, weights : (K, 2) arrays
        The lengths that each kind of wait can have [rounds], increasing, and their probabilities. A packet lost at
        level e waits as the L last kinds.
    levels : (K,) array
        Row of `new` that each kind leaves to.
    starts, depths : (K,) arrays
        First row of `mass` of each kind, and how many it uses in turn.
    mass : (D, m) array
        What entered in each round; m at least the positions from the first to the last followed of any `x`.
    firsts, sizes : (D,) arrays
        Position of the first value of each row, and how many there are; none any more when all have left.
    waiting : array
        All that waits, from position `waiting_origin` on; added to and subtracted from.
    waiting_origin, floor, limit : int
        Only positions from `floor` to `limit`, exclusive, are followed.
    share : float
        Share of what is at `floor` itself that stays.
    negligible : float
        Mass dropped at most at each end of each row.
    new : (2 L, l) array
        Overwritten, as `x` after the round, from position `new_origin` on.
    new_low, new_high : (2 L,) arrays
    new_origin : int
    restarted, resting : (l,) arrays
        Zeros. Added to: mass that is back in congestion avoidance, and the sum of the rows of `new`.

    Returns
    -------
    below, above, dropped : float
        Mass removed below `floor`, at or above `limit`, and as negligible.
    first, last : int
        Positions of `restarted` that were reached.
    """
    first, last = retransmit(
        number, loss, step, x, low, high, origin, starts, depths, mass, firsts, sizes, waiting, waiting_origin,
        new, new_low, new_high, new_origin, restarted, resting,
    )  # fmt: skip
    leave(
        number, rounds, weights, levels, starts, depths, mass, firsts, sizes, waiting, waiting_origin,
        new, new_low, new_high, new_origin, resting,
    )  # fmt: skip
    below, above, dropped = settle(
        new, new_low, new_high, floor - new_origin, limit - new_origin, share, negligible, resting
    )
    return below, above, dropped, first, last


@part(nogil=True, fastmath={"contract"})
def retransmit(
    number: int,
    loss: float,
    step: Floats,
    x: Floats,
    low: Ints,
    high: Ints,
    origin: int,
    starts: Ints,
    depths: Ints,
    mass: Floats,
    firsts: Ints,
    sizes: Ints,
    waiting: Floats,
    waiting_origin: int,
    new: Floats,
    new_low: Ints,
    new_high: Ints,
    new_origin: int,
    restarted: Floats,
    resting: Floats,
) -> tuple[int, int]:
    """Retransmit, or send the first new packet after a timeout; what is lost waits. Arguments as for `turn`."""
    count = len(x) // 2
    offset = origin - new_origin
    back, same, ahead = (1.0 - loss) * step[0], (1.0 - loss) * step[1], (1.0 - loss) * step[2]
    first = new_origin + len(restarted)
    last = new_origin
    for e in range(count):
        f = count + e
        start = low[e] if low[f] == high[f] else low[f] if low[e] == high[e] else min(low[e], low[f])
        end = max(high[e] if low[e] < high[e] else start, high[f] if low[f] < high[f] else start)
        kind = len(starts) - count + e
        row = starts[kind] + number % depths[kind]
        firsts[row] = origin + start
        sizes[row] = end - start
        a = x[e, start:end]
        b = x[f, start:end]
        lost = mass[row, : end - start]
        begin = origin + start - waiting_origin
        wait = waiting[begin : begin + end - start]
        for k in range(len(lost)):
            lost[k] = loss * (a[k] + b[k])
            wait[k] += lost[k]

        size = high[e] - low[e] + 2 if low[e] < high[e] else 0  # a packet moves by one position at most
        start = low[e] - 1
        renew(new, new_low, new_high, f, start + offset, start + offset + size)
        left, here, right = x[e, start - 1 :], x[e, start:], x[e, start + 1 :]
        sink = new[f, start + offset : start + offset + size]
        together = resting[start + offset : start + offset + size]
        for k in range(size):
            sink[k] = back * right[k] + same * here[k] + ahead * left[k]
            together[k] += sink[k]

        size = high[f] - low[f] + 2 if low[f] < high[f] else 0
        start = low[f] - 1
        left, here, right = x[f, start - 1 :], x[f, start:], x[f, start + 1 :]
        sink = restarted[start + offset : start + offset + size]
        for k in range(size):
            sink[k] += back * right[k] + same * here[k] + ahead * left[k]
        if size > 0:
            first = min(first, origin + start)
            last = max(last, origin + start + size)
    return min(first, last), last


@part(nogil=True, fastmath={"contract"})
def leave(
    number: int,
    rounds: Ints,
    weights: Floats,
    levels: Ints,
    starts: Ints,
    depths: Ints,
    mass: Floats,
    firsts: Ints,
    sizes: Ints,
    waiting: Floats,
    waiting_origin: int,
    new: Floats,
    low: Ints,
    high: Ints,
    origin: int,
    resting: Floats,
) -> None:
    """Move what leaves at the end of a round to the rows of its back-off levels. Arguments as for `turn`."""
    back = np.zeros(len(resting))
    first = len(resting)
    last = 0
    for level in range(len(new) // 2):
        renew(new, low, high, level, 0, 0)
        for kind in range(len(rounds)):
            for way in range(2):
                then = number + 1 - rounds[kind, way]
                weight = weights[kind, way]
                row = starts[kind] + then % depths[kind]
                size = sizes[row]
                if levels[kind] != level or then < 0 or weight == 0.0 or size == 0:
                    continue
                start = firsts[row] - origin
                reach(low, high, level, start, start + size)
                source = mass[row, :size]
                sink = new[level, start : start + size]
                together = back[start : start + size]
                for k in range(size):
                    came = weight * source[k]
                    sink[k] += came
                    together[k] += came
                first = min(first, start)
                last = max(last, start + size)
                if rounds[kind, way] == depths[kind]:
                    sizes[row] = 0
    start = first + origin - waiting_origin
    for k in range(last - first):
        resting[first + k] += back[first + k]
        waiting[start + k] -= back[first + k]


@part(nogil=True, fastmath={"contract"})
def settle(
    x: Floats, low: Ints, high: Ints, floor: int, limit: int, share: float, negligible: float, total: Floats
) -> tuple[float, float, float]:
    """Drop what is followed no longer, at both ends of rows and in their sum. Arguments as for `turn`, indices."""
    below = 0.0
    above = 0.0
    dropped = 0.0
    for s in range(len(x)):
        below, above, dropped = trim_row(x, low, high, s, floor, share, limit, negligible, below, above, dropped)
    for k in range(min(floor, len(total))):
        total[k] = 0.0
    if 0 <= floor < len(total):
        total[floor] *= share
    for k in range(max(limit, 0), len(total)):
        total[k] = 0.0
    return below, above, dropped
