"""Values of a player over the rest of a video while it plays, one place in the video after the other."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from .buffer_leads import add_between, add_held
from .buffer_moves import Lacking, Passing, Totals
from .buffer_state import Known, Measures

Floats = NDArray[np.float64]


@numba.njit(nogil=True, inline="always")
def kept_values(place: int, rounds: int, target: int, known: Known) -> Floats:
    """Return the values of a state by lead, at the place after a transition of so many rounds."""
    if rounds <= 2:
        return known.play[place % known.play.shape[0], target]
    slot = known.slot[target]
    return known.long[known.first[slot] + place % known.depth[slot]]


@numba.njit(nogil=True, inline="always")
def after(out: Floats, weight: float, x: int, target: int, held: int, rounds: int, known: Known, on: Measures) -> None:
    """Add what a player sees that plays for some rounds at place x with so much, from when its state is `target`."""
    q = known.round
    left = x * q
    if held >= left and (left <= known.full or rounds >= x):
        for c in range(len(on.base)):
            out[c] += weight * on.base[c]
        return
    rest = held - rounds * q
    if rest < 0:
        stall(out, weight, left - held, x, target, 0, -rest, known, on)
        return
    add_held(out, weight, kept_values(x - rounds, rounds, target, known), rest, known.leads)


@numba.njit(nogil=True)
def stall(
    out: Floats, weight: float, left: int, x: int, target: int, held: int, wait: int, known: Known, on: Measures
) -> None:  # fmt: skip
    """Add what a player sees that stalls with so many quanta of video left, until a round begins in `target`.

    `held` is more than nothing at the last place x only.
    """
    i, share = _between(left / known.round, x, known)
    one, other = known.empty[i, target], known.empty[i + 1, target]
    if held > 0:
        at = min(held, known.fill.shape[2] - 1)
        one, other = known.fill[i % 2, target, at], known.fill[(i + 1) % 2, target, at]
    for c in range(len(on.base)):
        behind = (1.0 - share) * one[on.of[c]] + share * other[on.of[c]]
        out[c] += weight * (on.stalled[wait, c] * behind + on.stalled_more[wait, c])


@numba.njit(nogil=True, inline="always")
def _between(place: float, x: int, known: Known) -> tuple[int, float]:
    """Return the first of two fills that stand for a place, and the share of the second one, neither after the last."""
    last = known.before[x]
    i = min(known.before[min(int(place), x)], max(last - 1, 0))
    if last == 0:
        return 0, 0.0
    return i, (place - known.places[i]) / (known.places[i + 1] - known.places[i])


@numba.njit(nogil=True)
def play_far(x: int, far: Totals, moves: Totals, known: Known, on: Measures) -> None:
    """Set the values at place x of a round of playback held, or more, at each quantum.

    `far` stands for `moves` from two rounds on, or from where no wait outlasts what is held.
    """
    q, n = known.round, min(known.play.shape[2], known.leads.even)
    left = x * q
    now = known.play[x % known.play.shape[0]]
    end = min(n, left)
    for s in range(now.shape[0]):
        for at in range(min(q, end), end):
            now[s, at] = 0.0
        for at in range(max(end, 0), n):
            now[s, at] = on.base
    _add(x, end, True, moves, known, on)
    _add(x, end, False, far, known, on)


@numba.njit(nogil=True)
def _add(x: int, end: int, near: bool, moves: Totals, known: Known, on: Measures) -> None:
    """Add what transitions lead to from what is held before `end`, near playback or far from it."""
    starts, targets, rounds, received, chance = moves
    q, play, long, leads, base = known.round, known.play, known.long, known.leads, on.base
    slot, first, depth, C = known.slot, known.first, known.depth, len(on.base)
    places, states, n = play.shape[0], play.shape[1], play.shape[2]
    even, flat, flat_long = min(n, known.leads.even), play.reshape(play.size), long.reshape(long.size)
    sums = np.zeros(end * C)
    for s in range(states):
        now = play[x % places, s]
        sums[:] = 0.0
        for o in range(starts[s], starts[s + 1]):
            d, w, total, target = rounds[o], chance[o], received[o], targets[o]
            begin, last = (q, min(end, max(2, d) * q)) if near else (max(2, d) * q, end)
            shift = total - d * q
            stop = min(last, x * q - total) if x * q <= known.full or d >= x else last  # there all has arrived
            for at in range(max(begin, stop), last):
                for c in range(C):
                    sums[at * C + c] += w * base[c]
            for at in range(begin, min(stop, -shift)):
                stall(now[at], w, x * q - at - total, x, target, 0, -shift - at, known, on)
            begin = max(begin, -shift)
            if begin >= stop:
                continue
            inside = max(min(stop, even - shift), begin)
            if d <= 2:
                away = (((x - d) % places * states + target) * n + shift) * C
                for i in range(begin * C, inside * C):
                    sums[i] += w * flat[i + away]
            else:
                away = ((first[slot[target]] + (x - d) % depth[slot[target]]) * n + shift) * C
                for i in range(begin * C, inside * C):
                    sums[i] += w * flat_long[i + away]
            if inside < stop:
                row = play[(x - d) % places, target] if d <= 2 else kept_values(x - d, d, target, known)
                add_between(now, w, row, inside, stop, shift, leads.even, leads.every, leads.weights)
        for at in range(q, end):
            for c in range(C):
                now[at, c] += sums[at * C + c]


@numba.njit(nogil=True)
def play_near(x: int, threshold: int, needs: Passing, lacks: Lacking, known: Known, on: Measures) -> None:
    """Set the values at place x of less than a round of playback held."""
    q = known.round
    left = x * q
    now = known.play[x % known.play.shape[0]]
    due = min(q, left)
    C, of, empty, fill, highest = len(on.base), on.of, known.empty, known.fill, known.fill.shape[2] - 1
    stalled, stalled_more = on.stalled, on.stalled_more
    firsts, shares = np.zeros(q + 1, dtype=np.int64), np.zeros(q + 1)
    for j in range(due + 1):
        firsts[j], shares[j] = _between((left - j) / q, x, known)
    for s in range(now.shape[0]):
        for at in range(due):
            out = now[s, at]
            out[:] = 0.0
            k = due - at
            if k <= needs.most:
                for o in range(needs.starts[s * needs.most + k - 1], needs.starts[s * needs.most + k]):
                    if needs.enough[o] != 0.0:
                        after(
                            out, needs.enough[o], x, needs.target[o], at + needs.received[o], needs.rounds[o], known, on
                        )
            for o in range(lacks.starts[s * q + k - 1], lacks.starts[s * q + k]):
                ordered, held, target, d = lacks.ordered[o], lacks.held[o], lacks.target[o], lacks.rounds[o]
                w, rest = lacks.chance[o], left - at - ordered
                if d > 1 and held >= min(threshold, rest):
                    _resume_soon(out, w, rest, target, held, d, q - at - ordered, known, on)
                    continue
                j = at + ordered
                i, share, wait = firsts[j], shares[j], max(q - j, 0) + (d - 1) * q
                for c in range(C):
                    if held == 0:
                        one, other = empty[i, target, of[c]], empty[i + 1, target, of[c]]
                    else:
                        h = min(held, highest)
                        one, other = fill[i % 2, target, h, of[c]], fill[(i + 1) % 2, target, h, of[c]]
                    behind = (1.0 - share) * one + share * other
                    out[c] += w * (stalled[wait, c] * behind + stalled_more[wait, c])


@numba.njit(nogil=True)
def _resume_soon(
    out: Floats, weight: float, left: int, target: int, held: int, rounds: int, wait: int, known: Known,
    on: Measures,
) -> None:  # fmt: skip
    """Add a stall in the first round of a transition that ends when the second one begins, with so much held."""
    q, C = known.round, len(on.base)
    played = np.zeros(C)
    part = left % q / q
    after(played, 1.0 - part, left // q, target, held, rounds - 1, known, on)
    if part > 0.0:
        after(played, part, left // q + 1, target, held, rounds - 1, known, on)
    for c in range(C):
        out[c] += weight * (on.stalled[max(wait, 0), c] * played[on.of[c]] + on.stalled_more[max(wait, 0), c])
