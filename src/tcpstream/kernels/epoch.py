"""One loss epoch of a live stream: the window climbs until its loss, and timeouts back off until they are over.

Positions are early packets below the ceiling: the last position is the ceiling itself (nothing is left to send), and
each round of playback moves everything down by m packets, spread over three neighbouring positions when m is not on
the lattice. A source at the ceiling at the start of a round pauses in that round.

All loops run over slices from 0, which the compiler can vectorise.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

CHAINS = 8
"""Independent chains that a recursion is split into."""


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def climb(
    entries: NDArray[np.float64],
    entered: NDArray[np.int64],
    windows: NDArray[np.int64],
    rows: NDArray[np.int64],
    loss: float,
    stride: int,
    drop: int,
    spread: NDArray[np.float64],
    feedback: NDArray[np.float64],
    active: NDArray[np.float64],
    short: NDArray[np.float64],
    following: NDArray[np.float64],
) -> None:
    """Climb through the windows in increasing order, and follow what loses until it has recovered.

    A window that loses leads to its half in two rounds that deliver s = i + j packets, with the law
    ``g^2 / 2 + (1 - p/2) E`` of `tcpstream.kernels.recovery`, where ``g = p (q^3 z^3 - q^w z^w) / (1 - qz)`` and
    ``E = p (q^6 z^6 - q^2w z^2w) / (1 - q^2 z^2)``: the numerators of all windows with the same half are added up
    first. Near the ceiling only j < v packets fit in the round of the loss, and v stands for w.

    Parameters
    ----------
    entries : (H, n) array
        Mass that enters the states `entered` from a recovery or a timeout, by position before its round.
    entered : (H,) array
        States, increasing.
    windows : (S,) array
        Window of each state, increasing; each state leads to the next one, the last of the largest window to the
        first of the largest window.
    rows : (S,) array
        Row of `following` for the half of each window (not used below 4), nondecreasing.
    loss : float
        p.
    stride, drop : int
        Positions per packet; positions that a round of playback moves down.
    spread : (3,) array
        Weights of moving down by drop - 1, drop, drop + 1.
    feedback : (b, b) array
        Mass at the ceiling in column state of the largest window per unit that reached it in row state, over all
        returns: the inverse of 1 - U, with U from `one_return`.
    active : (n,) array
        Overwritten: mass at the start of a round, all states together.
    short : (3, n) array
        Overwritten: mass at the start of a short round, for j = 1, 2 and 3 or more delivered in the round of the
        loss. What has reached the ceiling counts in every round that it pauses.
    following : (H, n) array
        Overwritten: mass that has recovered, before its next round.
    """
    states, n = len(windows), entries.shape[1]
    cap = n - 1
    b = feedback.shape[0]
    top = states - b
    longest = windows[states - 1]
    p, q = loss, 1.0 - loss
    margin = 2 * longest * stride
    width = n + (longest + 1) * stride
    by_size = np.zeros((4, n))  # active mass in windows of 1, 2, 3, and 4 or more packets
    leaving = np.zeros(n)
    power = np.empty(2 * longest + 3)
    for j in range(len(power)):
        power[j] = q**j
    largest = np.zeros((b, n))
    row, target = np.zeros(n), np.empty(n)
    padded = np.zeros(margin + width)
    sending, moved = padded[margin : margin + n], np.empty(n)
    numerator, diagonal, scratch = np.zeros(width), np.zeros(width), np.empty(width)
    frozen = np.zeros(longest)
    for h in range(len(following)):
        _copy(following[h], 0.0, following[h])
    at_ceiling = 0.0
    e = 0
    for s in range(states):
        w = windows[s]
        if s < top:
            if e < len(entered) and entered[e] == s:
                _put(row, entries[e], 0, 1.0)
                e += 1
            _pause(row, drop, spread)
        else:
            if s == top:
                _copy(largest[0], 1.0, row)
                while e < len(entered):
                    _put(largest[entered[e] - top], entries[e], 0, 1.0)
                    e += 1
                _all_returns(largest, longest * stride, drop, spread, power[longest], feedback)
            _copy(row, 1.0, largest[s - top])
        _put(by_size[min(w, 4) - 1], row, 0, 1.0)
        _move_down(row, moved, drop, spread)
        if s < top:
            _copy(target, 0.0, target)
            _put(target, moved, w * stride, power[w])
            row, target = target, row
        if s == 0 or windows[s - 1] != w:
            _copy(sending, 1.0, moved)
        else:
            _put(sending, moved, 0, 1.0)
        if w < 4 or (s + 1 < states and windows[s + 1] == w):
            continue
        # all of this window has lost
        if w * stride < n:
            _put_inside(leaving, sending, w * stride, power[w])
        _near_ceiling(sending, w, stride, p, power, numerator, diagonal, frozen)
        at_w, at_2w = margin - (3 + w) * stride, margin - 2 * w * stride
        at_6 = margin - 6 * stride
        _numerators(
            numerator, diagonal, padded[at_6 : at_6 + width], padded[at_w : at_w + width],
            padded[at_2w : at_2w + width],
            0.5 * p * p * power[6], p * p * power[3 + w], 0.5 * p * p * power[2 * w],
            (1.0 - 0.5 * p) * p * power[6], (1.0 - 0.5 * p) * p * power[2 * w],
        )  # fmt: skip
        if s + 1 == states or rows[s + 1] != rows[s]:
            numerator, scratch = _recur(numerator, scratch, q, stride)
            numerator, scratch = _recur(numerator, scratch, q, stride)
            diagonal, scratch = _recur(diagonal, scratch, power[2], 2 * stride)
            _put(numerator, diagonal, 0, 1.0)
            for mass in frozen:
                at_ceiling += mass
            _resume(frozen, numerator, cap, p, power, stride, drop, spread)
            for i in range(3):
                if spread[i] != 0.0:
                    _put(following[rows[s]], numerator, 1 - drop - i, spread[i])
            _copy(numerator, 0.0, numerator)
            _copy(diagonal, 0.0, diagonal)
            _copy(frozen, 0.0, frozen)
    _copy(active, 1.0, by_size[3])
    for j in range(3):
        _copy(short[j], 0.0, active)
    _move_down(by_size[3], moved, drop, spread)
    if 3 * stride < n:
        _put_inside(short[2], moved, 3 * stride, p * power[3])
    _put_inside(short[2], leaving, 0, -p)
    lost, _ = _recur(short[2], np.empty(n), q, stride)
    _copy(short[2], 1.0, lost)
    short[2, cap] = at_ceiling
    for size in (2, 1):
        _put(active, by_size[size], 0, 1.0)
        _move_down(active, moved, drop, spread)
        _put(short[size - 1], moved, size * stride, p * power[size])
    _put(active, by_size[0], 0, 1.0)
    for j in range(3):
        _pause(short[j], drop, spread)


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def one_return(b: int, shift: int, drop: int, spread: NDArray[np.float64], q_w: float) -> NDArray[np.float64]:
    """Return U: mass back at the ceiling in column state of the largest window per unit that paused in row state.

    Parameters
    ----------
    b, shift : int
        States of the largest window; positions that it climbs.
    drop, spread
        As for `climb`.
    q_w : float
        Probability that the largest window is delivered whole.
    """
    n = 2 * drop + 4
    back = np.empty((b, b))
    for c in range(b):
        x = np.zeros((b, n))
        x[c, n - 1] = 1.0
        _pause(x[c], drop, spread)
        x[c, n - 1] = 0.0
        _largest_window(x, shift, drop, spread, q_w)
        for d in range(b):
            back[c, d] = x[d, n - 1]
    return back


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
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
    visits : (levels, n) array
        Overwritten: mass at the start of a round, of the retransmission or of the packet after it, by level.
    restart : (n,) array
        Overwritten: mass that is back in congestion avoidance.
    """
    levels, ways = shifts.shape
    n = len(inflow)
    cap = n - 1
    p = loss
    q = 1.0 - p
    for e in range(levels):
        _copy(visits[e], 0.0, inflow)
    _copy(restart, 0.0, inflow)
    arriving, lost = np.empty(n), np.empty(n)
    _copy(arriving, 1.0, inflow)
    moved, fresh = np.empty(n), np.empty(n)
    lowest = 1e-18 * _size(inflow)
    e = 0
    while _size(arriving) > lowest:
        _pause(arriving, drop, spread)
        _move_down(arriving, moved, drop, spread)
        _copy(fresh, 0.0, fresh)
        _put(fresh, moved, stride, q)
        _pause(fresh, drop, spread)
        _move_down(fresh, moved, drop, spread)
        _put(restart, moved, stride, q)
        _put(arriving, fresh, 0, 1.0)
        _put(visits[e], arriving, 0, 1.0)
        arriving, lost = lost, arriving
        _copy(arriving, 0.0, arriving)
        for way in range(ways):
            weight = p * weights[e, way]
            if weight != 0.0:
                _put(arriving, lost[:cap], -shifts[e, way], weight)
        e = min(e + 1, levels - 1)


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _copy(target: NDArray[np.float64], weight: float, mass: NDArray[np.float64]) -> None:
    """Write ``weight * mass``, or zeros; assignments of whole arrays would take long to compile."""
    if weight == 0.0:
        for k in range(len(target)):
            target[k] = 0.0
    else:
        for k in range(len(target)):
            target[k] = weight * mass[k]


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _size(mass: NDArray[np.float64]) -> float:
    """Return the sum of absolute values."""
    total = 0.0
    for value in mass:
        total += abs(value)
    return total


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _put(target: NDArray[np.float64], mass: NDArray[np.float64], start: int, weight: float) -> None:
    """Add `mass` from position `start` on; what lies below 0 is lost, what lies past the ceiling stays there."""
    cap = len(target) - 1
    first = min(max(0, -start), len(mass))
    last = min(max(first, cap - start), len(mass))
    out, source = target[first + start : last + start], mass[first:last]
    for k in range(len(source)):
        out[k] += weight * source[k]
    clipped = 0.0
    for value in mass[last:]:
        clipped += value
    target[cap] += weight * clipped


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _put_inside(target: NDArray[np.float64], mass: NDArray[np.float64], start: int, weight: float) -> None:
    """Add `mass` from position ``start >= 0`` on, as far as there are positions."""
    out, source = target[start:], mass[: len(target) - start]
    for k in range(len(source)):
        out[k] += weight * source[k]


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _pause(row: NDArray[np.float64], drop: int, spread: NDArray[np.float64]) -> None:
    """Add what pauses at the ceiling again, one round of playback lower."""
    cap = len(row) - 1
    for i in range(3):
        if spread[i] != 0.0:
            row[cap - drop - i + 1] += spread[i] * row[cap]


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _move_down(row: NDArray[np.float64], out: NDArray[np.float64], drop: int, spread: NDArray[np.float64]) -> None:
    """Write what is below the ceiling, one round of playback lower."""
    cap = len(row) - 1
    kept = cap - drop
    _copy(out[kept:], 0.0, out[kept:])
    middle, source = out[:kept], row[drop:cap]
    for k in range(kept):
        middle[k] = spread[1] * source[k]
    if spread[1] != 1.0:
        less, more = out[: kept + 1], out[: kept - 1]
        above, below = row[drop - 1 : cap], row[drop + 1 : cap]
        for k in range(len(less)):
            less[k] += spread[0] * above[k]
        for k in range(len(more)):
            more[k] += spread[2] * below[k]


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _all_returns(
    x: NDArray[np.float64],
    shift: int,
    drop: int,
    spread: NDArray[np.float64],
    q_w: float,
    feedback: NDArray[np.float64],
) -> None:
    """Complete the states of the largest window from what enters them, pauses at the ceiling included."""
    b, n = x.shape
    cap = n - 1
    _largest_window(x, shift, drop, spread, q_w)
    returned = np.zeros(b)
    some = False
    for c in range(b):
        for d in range(b):
            returned[c] += x[d, cap] * feedback[d, c]
        some = some or returned[c] != 0.0
    if not some:
        return
    extra = np.zeros((b, n))
    for c in range(b):
        extra[c, cap] = returned[c]
        _pause(extra[c], drop, spread)
        extra[c, cap] = 0.0
    _largest_window(extra, shift, drop, spread, q_w)
    for c in range(b):
        _put(x[c], extra[c], 0, 1.0)
        x[c, cap] = returned[c]


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _largest_window(x: NDArray[np.float64], shift: int, drop: int, spread: NDArray[np.float64], q_w: float) -> None:
    """Solve the states of the largest window, which lead to each other, `shift` up and `drop` (+-1) down a round.

    A round moves up by at least `block` positions: so many are done at a time.
    """
    b, n = x.shape
    cap = n - 1
    block = max(1, shift - drop - (1 if spread[2] != 0.0 else 0))
    for first in range(0, cap, block):
        last = min(first + block, cap)
        for c in range(b):
            for i in range(3):
                if spread[i] != 0.0:
                    down = drop + i - 1
                    start = max(first, down)
                    if start < last:
                        _put(x[(c + 1) % b], x[c, start:last], start - down + shift, spread[i] * q_w)


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _near_ceiling(
    sending: NDArray[np.float64],
    w: int,
    stride: int,
    p: float,
    power: NDArray[np.float64],
    numerator: NDArray[np.float64],
    diagonal: NDArray[np.float64],
    frozen: NDArray[np.float64],
) -> None:
    """Take out of `sending` what may reach the ceiling in the round of its loss.

    Of the mass at k, v - 1 packets are the most that stay below it; `frozen` takes what delivers j >= v.
    """
    cap = len(sending) - 1
    stopped = np.zeros(w)
    for k in range(max(0, cap - (w - 1) * stride), cap + 1):
        mass = sending[k]
        sending[k] = 0.0
        v = max(0, (cap - 1 - k) // stride + 1) if k < cap else 0
        stopped[v] += mass
        if v > 3:
            numerator[k + 6 * stride] += 0.5 * p * p * power[6] * mass
            numerator[k + (3 + v) * stride] -= p * p * power[3 + v] * mass
            numerator[k + 2 * v * stride] += 0.5 * p * p * power[2 * v] * mass
            diagonal[k + 6 * stride] += (1.0 - 0.5 * p) * p * power[6] * mass
            diagonal[k + 2 * v * stride] -= (1.0 - 0.5 * p) * p * power[2 * v] * mass
    together = 0.0
    for j in range(w):
        together += stopped[j]
        if j >= 3:
            frozen[j] += p * power[j] * together


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _numerators(
    numerator: NDArray[np.float64],
    diagonal: NDArray[np.float64],
    six: NDArray[np.float64],
    three_and_w: NDArray[np.float64],
    two_w: NDArray[np.float64],
    first: float,
    cross: float,
    second: float,
    enter: float,
    leave: float,
) -> None:
    """Add the numerators of one window's g^2 / 2 and (1 - p/2) E, times its mass."""
    for k in range(len(numerator)):
        a, c = six[k], two_w[k]
        numerator[k] += first * a - cross * three_and_w[k] + second * c
        diagonal[k] += enter * a - leave * c


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _recur(
    mass: NDArray[np.float64], scratch: NDArray[np.float64], ratio: float, distance: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Solve ``y[k] = ratio y[k - distance] + mass[k]`` in one of two arrays; return it, and the other one.

    Looking ahead (``y[k] = ratio^2 y[k - 2 distance] + mass[k] + ratio mass[k - distance]``, and so on) makes enough
    chains that do not wait for each other.
    """
    n = len(mass)
    while distance < CHAINS and distance < n:
        _copy(scratch[:distance], 1.0, mass[:distance])
        out, here, before = scratch[distance:], mass[distance:], mass[: n - distance]
        for k in range(len(out)):
            out[k] = here[k] + ratio * before[k]
        mass, scratch = scratch, mass
        ratio *= ratio
        distance *= 2
    if distance < n:
        here, before = mass[distance:], mass[: n - distance]
        for k in range(len(here)):
            here[k] += ratio * before[k]
    return mass, scratch


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _resume(
    frozen: NDArray[np.float64],
    recovered: NDArray[np.float64],
    cap: int,
    p: float,
    power: NDArray[np.float64],
    stride: int,
    drop: int,
    spread: NDArray[np.float64],
) -> None:
    """Short rounds that paused at the ceiling go on, one round of playback lower, to their fast retransmit."""
    later = 0.0
    for j in range(len(frozen) - 1, 2, -1):
        law = power[j] * (p * later + frozen[j])
        later += frozen[j]
        for i in range(3):
            if spread[i] != 0.0:
                recovered[cap - drop - i + 1 + j * stride] += spread[i] * law
