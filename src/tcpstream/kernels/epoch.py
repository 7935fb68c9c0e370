"""One loss epoch of a live stream: the window climbs until its loss, and timeouts back off until they are over.

Positions are early packets below the ceiling: the last position is the ceiling itself (nothing is left to send), and
each round of playback moves everything down by m packets, spread over three neighbouring positions when m is not on
the lattice. A source at the ceiling at the start of a round pauses in that round.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(cache=True, fastmath={"contract"})
def climb(
    entries: NDArray[np.float64],
    windows: NDArray[np.int64],
    grow_to: NDArray[np.int64],
    success: NDArray[np.float64],
    stride: int,
    drop: int,
    spread: NDArray[np.float64],
    feedback: NDArray[np.float64],
    x: NDArray[np.float64],
    sending: NDArray[np.float64],
) -> None:
    """Write the mass of every state in one passage, and what of it sends.

    Parameters
    ----------
    entries : (S, n) array
        Mass that enters each state from a recovery or a timeout, by position before its round.
    windows, grow_to, success : (S,) arrays
        Window, next state and probability q^w of each state, by increasing window; the states of the largest window
        lead to each other.
    stride, drop : int
        Positions per packet; positions that a round of playback moves down.
    spread : (3,) array
        Weights of moving down by drop - 1, drop, drop + 1.
    feedback : (b, b) array
        Mass at the ceiling in column state of the largest window per unit that reached it in row state, over all
        returns: the inverse of 1 - U, with U the mass of one return.
    x : (S, n) array
        Overwritten: mass by state and position at the start of a round.
    sending : (S, n) array
        Overwritten: mass that sends, moved down by its round of playback, before its packets are added.
    """
    states, n = entries.shape
    cap = n - 1
    b = feedback.shape[0]
    top = states - b
    x[:] = entries
    sending[:] = 0.0
    for s in range(top):
        _pause(x[s], drop, spread)
        _move_down(x[s], sending[s], drop, spread)
        shift = windows[s] * stride
        target = x[grow_to[s]]
        source = sending[s]
        q_w = success[s]
        inside = max(0, cap - shift)
        for k in range(inside):
            target[k + shift] += q_w * source[k]
        clipped = 0.0
        for k in range(inside, n):
            clipped += source[k]
        target[cap] += q_w * clipped
    _largest_window(x, top, b, windows[states - 1] * stride, drop, success[states - 1], spread)
    returned = np.zeros(b)
    for c in range(b):
        for d in range(b):
            returned[c] += x[top + d, cap] * feedback[d, c]
    if returned.any():
        # pauses of the largest window, all returns at once: their passage is added to what is there
        extra = np.zeros((b, n))
        for c in range(b):
            extra[c, cap] = returned[c]
            _pause(extra[c], drop, spread)
            extra[c, cap] = 0.0
        _largest_window(extra, 0, b, windows[states - 1] * stride, drop, success[states - 1], spread)
        for c in range(b):
            for k in range(n):
                x[top + c, k] += extra[c, k]
    for s in range(top, states):
        _move_down(x[s], sending[s], drop, spread)


@numba.njit(cache=True, fastmath={"contract"})
def back_off(
    inflow: NDArray[np.float64],
    loss: float,
    stride: int,
    drop: int,
    spread: NDArray[np.float64],
    shifts: NDArray[np.int64],
    weights: NDArray[np.float64],
    visits: NDArray[np.float64],
    restart: NDArray[np.float64],
) -> None:
    """Follow timeouts from their first retransmission to the end of the slow part.

    Parameters
    ----------
    inflow : (n,) array
        Mass that starts its first retransmission, by position.
    loss : float
        p.
    stride, drop : int
    spread : (3,) array
        As for `climb`.
    shifts, weights : (levels, k) arrays
        Ways down during the wait after a packet lost at each back-off level, with their probabilities.
    visits : (2, levels, n) array
        Overwritten: mass at the start of a round by r = 1, 0 (row 0, 1), level and position.
    restart : (n,) array
        Overwritten: mass that is back in congestion avoidance.
    """
    levels, ways = shifts.shape
    n = len(inflow)
    cap = n - 1
    p = loss
    q = 1.0 - p
    visits[:] = 0.0
    restart[:] = 0.0
    arriving = inflow.copy()
    lowest = 1e-18 * np.abs(inflow).sum()
    e = 0
    while np.abs(arriving).sum() > lowest:
        following = np.zeros(n)
        for r in range(2):
            fresh = np.zeros(n)
            moved = np.zeros(n)
            _pause(arriving, drop, spread)
            for k in range(n):
                visits[r, e, k] += arriving[k]
            _move_down(arriving, moved, drop, spread)
            for way in range(ways):
                weight = p * weights[e, way]
                if weight != 0.0:
                    down = shifts[e, way]
                    for k in range(down, cap):
                        following[k - down] += weight * arriving[k]
            for k in range(n):
                fresh[min(k + stride, cap)] += q * moved[k]
            arriving = fresh
        for k in range(n):
            restart[k] += arriving[k]
        arriving = following
        e = min(e + 1, levels - 1)


@numba.njit(cache=True, fastmath={"contract"})
def _pause(row: NDArray[np.float64], drop: int, spread: NDArray[np.float64]) -> None:
    """Add what pauses at the ceiling again, one round of playback lower."""
    cap = len(row) - 1
    for i in range(3):
        if spread[i] != 0.0:
            row[cap - drop - i + 1] += spread[i] * row[cap]


@numba.njit(cache=True, fastmath={"contract"})
def _move_down(row: NDArray[np.float64], out: NDArray[np.float64], drop: int, spread: NDArray[np.float64]) -> None:
    """Write what is below the ceiling, one round of playback lower."""
    cap = len(row) - 1
    for i in range(3):
        weight = spread[i]
        if weight != 0.0:
            down = drop + i - 1
            for k in range(cap - down):
                out[k] += weight * row[k + down]


@numba.njit(cache=True, fastmath={"contract"})
def _largest_window(
    x: NDArray[np.float64],
    top: int,
    b: int,
    shift: int,
    drop: int,
    q_w: float,
    spread: NDArray[np.float64],
) -> None:
    """Solve the states of the largest window, which lead to each other, `shift` up and `drop` (+-1) down a round."""
    cap = x.shape[1] - 1
    for k in range(cap):
        for c in range(b):
            mass = x[top + c, k]
            if mass == 0.0:
                continue
            target = top + (c + 1) % b
            for i in range(3):
                middle = k - drop - i + 1
                if spread[i] != 0.0 and middle >= 0:
                    x[target, min(middle + shift, cap)] += spread[i] * q_w * mass
