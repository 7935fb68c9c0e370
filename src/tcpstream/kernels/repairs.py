"""A round of a chain with independent losses that always has something to send.

Rows are followed only from ``low`` to ``high`` and hold zeros elsewhere. A window of w moves up by w - K packets when
K losses are repaired. In order are only the j before the first loss: with a = 1 - p^2 those that recover have the
distribution ``sum_j p q^(j + 1) a^(w - 1 - j) z^j = (p q / a) (a^w - q^w z^w) / (1 - z q / a)``, and all that lose a
packet ``p (1 - q^w z^w) / (1 - q z)``. Numerators of all windows are added first; each division is one recursion.
States that lose in the same way are put together in one row before (`gather`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .rows import add_to

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kept(nogil=True, fastmath={"contract"})
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
    repairs: float,
    holds: float,
    steps_per_packet: int,
    no_loss: Floats,
    in_order: Floats,
    timing_out: Floats,
    lost: Floats,
) -> None:
    """Write the distributions of what a round delivers in order, by what happens in it.

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
    steps_per_packet : int
        Positions per packet.
    no_loss, in_order, timing_out, lost : (m,) arrays
        Zeros. Added to: what has lost nothing; what recovers; what ends in a timeout; what has lost all, and has
        not moved. m reaches past the last position that a window moves to.
    """
    p = loss
    q = 1.0 - p
    whole = np.zeros(len(no_loss))
    better = np.zeros(len(no_loss))  # sums of a^w x_w, and of (p q)^w x_w
    alone = np.zeros(len(no_loss))
    for s in range(len(windows)):
        start = low[s] - origin
        mass = x[s, low[s] : high[s]]
        up = windows[s] * steps_per_packet
        for k in range(len(mass)):
            whole[start + k] += mass[k]
            better[start + k] += held[s] * mass[k]
            alone[start + k] += repaired_whole[s] * mass[k]
            lost[start + k] += all_lost[s] * mass[k]
            no_loss[start + up + k] += success[s] * mass[k]
    for k in range(len(no_loss)):
        whole[k] = p * (whole[k] - no_loss[k])
        better[k] = repairs / holds * (better[k] - no_loss[k])
        if k >= steps_per_packet:
            whole[k] += q * whole[k - steps_per_packet]
            better[k] += q / holds * better[k - steps_per_packet]
        in_order[k] = better[k] - alone[k]
        timing_out[k] = whole[k] - lost[k] - in_order[k]


@kept(nogil=True, fastmath={"contract"})
def grow(
    x: Floats,
    low: Ints,
    high: Ints,
    windows: Ints,
    success: Floats,
    sources: Ints,
    targets: Ints,
    shares: Floats,
    steps_per_packet: int,
    offset: int,
    new: Floats,
    new_low: Ints,
    new_high: Ints,
) -> None:
    """Make one round of congestion avoidance in which nothing is lost.

    Parameters
    ----------
    x : (S, n) array
        Mass by state.
    low, high : (S,) arrays
    windows, success : (S,) arrays
        w and q^w.
    sources, targets, shares : (k,) arrays
        States that lead to each other when a round is delivered whole, and with which probability then.
    steps_per_packet : int
        Positions per packet.
    offset : int
        Index in `new` of index 0 of `x`.
    new : (S, m) array
        Zeros, with `new_low` and `new_high`. Added to; wide enough for all that moves.
    """
    for i in range(len(sources)):
        s = sources[i]
        mass, start = x[s, low[s] : high[s]], low[s] + offset + windows[s] * steps_per_packet
        add_to(mass, shares[i] * success[s], targets[i], start, new, new_low, new_high)


@kept(nogil=True, fastmath={"contract"})
def gather(
    x: Floats, low: Ints, high: Ints, order: Ints, starts: Ints, y: Floats, y_low: Ints, y_high: Ints
) -> None:  # fmt: skip
    """Add up the rows of groups of states.

    Parameters
    ----------
    x : (S, n) array
    low, high : (S,) arrays
    order, starts : (S,) and (G + 1,) arrays
        Group g has the rows ``order[starts[g] : starts[g + 1]]``.
    y : (G, n) array
        Zeros, with `y_low` and `y_high`. Added to.
    """
    for g in range(len(y_low)):
        for s in order[starts[g] : starts[g + 1]]:
            add_to(x[s, low[s] : high[s]], 1.0, g, low[s], y, y_low, y_high)


@kept(nogil=True, fastmath={"contract"})
def recover(
    y: Floats,
    low: Ints,
    high: Ints,
    windows: Ints,
    targets: Ints,
    shares: Floats,
    repaired: Floats,
    losses: Ints,
    steps_per_packet: int,
    offset: int,
    floor: int,
    new: Floats,
    new_low: Ints,
    new_high: Ints,
) -> None:
    """Make one round of congestion avoidance in which all that is lost is repaired.

    Parameters
    ----------
    y : (G, n) array
        Mass by group of states.
    low, high : (G,) arrays
    windows, losses : (G,) arrays
        w, and the most losses that matter.
    targets, shares : (G, M) arrays
        States after repaired losses, -1 for none, and the probability of each.
    repaired : (W_max + 1, K) array
        P(K of w packets are lost, and all repaired).
    steps_per_packet : int
        Positions per packet.
    offset, floor : int
        Index in `new` of index 0 of `y`; what has not delivered as much in order does not recover (steps_per_packet 1
        only).
    new : (S, m) array
        As for `grow`.
    """
    widest = 0
    for g in range(len(windows)):
        widest = max(widest, high[g] - low[g] + (windows[g] - 1) * steps_per_packet)
    received = np.zeros(widest)
    for g in range(len(windows)):
        size, w, most = high[g] - low[g], windows[g], losses[g]
        if size <= 0 or most == 0 or targets[g, 0] < 0:
            continue
        start, least = low[g] + offset, (w - most) * steps_per_packet  # no fewer are received
        mass, pmf = y[g, low[g] : high[g]], received[: size + (most - 1) * steps_per_packet]
        pmf[:] = 0.0
        free = min(max(floor - start, 0), size)  # from here on nothing is below the floor, whatever was lost
        for K in range(1, most + 1):
            sink, weight = pmf[free + (most - K) * steps_per_packet :], repaired[w, K]
            for k in range(size - free):
                sink[k] += weight * mass[free + k]
        for k in range(free):
            sent = floor - start - k  # so many have to be delivered first
            if sent >= w or mass[k] == 0.0:
                continue
            weight = mass[k] * repaired[sent, 0]  # q^sent
            for K in range(1, min(most, w - sent) + 1):
                pmf[k + most - K] += weight * repaired[w - sent, K]
        for i in range(targets.shape[1]):
            if shares[g, i] > 0.0:
                add_to(pmf, shares[g, i], targets[g, i], start + least, new, new_low, new_high)


@kept(nogil=True)
def total(x: Floats, low: Ints, high: Ints) -> float:
    """Return the sum of all rows."""
    found = 0.0
    for s in range(len(low)):
        row = x[s, low[s] : high[s]]
        part = 0.0
        for k in range(len(row)):
            part += row[k]
        found += part
    return found
