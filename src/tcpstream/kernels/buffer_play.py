"""Values of a player over the rest of a video while it plays, one place in the video after the other."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import kept
from .buffer_leads import add_between, add_held, add_values, put
from .buffer_moves import Lacking, Passing, Totals
from .buffer_state import Known, Measures

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEAR, FAR, TOP = 0, 1, 2
"""What is held: little, so that a wait may outlast it; more; and nearly as much as a buffer has room for."""


@numba.njit(nogil=True, inline="always")
def kept_values(place: int, rounds: int, target: int, known: Known) -> Floats:
    """Return the values of a state by lead, at the place after a transition of so many rounds."""
    if rounds <= 2:
        found: Floats = known.play[place % known.play.shape[0], target]
        return found
    slot = known.slot[target]
    long: Floats = known.long[known.first[slot] + place % known.depth[slot]]
    return long


@part(nogil=True)
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
        stall(out, weight, left - held, x, target, -rest, known, on)
        return
    add_held(out, weight, kept_values(x - rounds, rounds, target, known), rest, known.leads)


@part(nogil=True)
def stall(
    out: Floats, weight: float, left: int, x: int, target: int, wait: int, known: Known, on: Measures
) -> None:  # fmt: skip
    """Add what a player sees that stalls with so many quanta of video left, until a round begins in `target`."""
    i, share = _between(left / known.round, x, known)
    one, other = known.empty[i, target], known.empty[i + 1, target]
    for c in range(len(on.base)):
        behind = (1.0 - share) * one[on.of[c]] + share * other[on.of[c]]
        out[c] += weight * (on.stalled[wait, c] * behind + on.stalled_more[wait, c])


@part(nogil=True)
def _between(place: float, x: int, known: Known) -> tuple[int, float]:
    """Return the first of two fills that stand for a place, and the share of the second one, neither after the last."""
    last = known.before[x]
    i = min(known.before[min(int(place), x)], max(last - 1, 0))
    if last == 0:
        return 0, 0.0
    return i, (place - known.places[i]) / (known.places[i + 1] - known.places[i])


@part(nogil=True)
def play_far(x: int, far: Totals, moves: Totals, known: Known, on: Measures) -> None:
    """Set the values at place x of a round of playback held, or more, at each quantum.

    `far` stands for `moves` from two rounds on, or from where no wait outlasts what is held, up to where a buffer may
    become full.
    """
    q, n = known.round, min(known.play.shape[2], known.leads.followed)
    left = x * q
    now = known.play[x % known.play.shape[0]]
    end = min(n, left)
    for s in range(now.shape[0]):
        for at in range(min(q, end), end):
            now[s, at] = 0.0
        for at in range(max(end, 0), n):
            put(now[s, at], on.base)
    for part_of in range(NEAR, TOP + 1):
        _add(x, end, part_of, far if part_of == FAR else moves, known, on)


@part(nogil=True)
def _add(x: int, end: int, part_of: int, moves: Totals, known: Known, on: Measures) -> None:
    """Add what transitions lead to from what is held before `end`: near playback, far from it, or nearly full."""
    starts, targets, rounds, received, chance = moves
    q, play, long, leads, base = known.round, known.play, known.long, known.leads, on.base
    slot, first, depth, C, top = known.slot, known.first, known.depth, len(on.base), known.top
    places, states, n = play.shape[0], play.shape[1], play.shape[2]
    even, flat, flat_long = min(n, known.leads.even), play.reshape(play.size), long.reshape(long.size)
    empty, of, stalled, stalled_more = known.empty, on.of, on.stalled, on.stalled_more
    firsts, shares = _places(x, min(len(stalled) - 1, x * q) + 1, known)
    sums = np.zeros(end * C)
    for s in range(states):
        now = play[x % places, s]
        sums[:] = 0.0
        for o in range(starts[s], starts[s + 1]):
            d, w, total, target = rounds[o], chance[o], received[o], targets[o]
            begin, last = q, min(end, max(2, d) * q)
            if part_of == FAR:
                begin, last = last, min(end, top[s])
            elif part_of == TOP:
                begin, last = max(last, top[s]), end
            shift = total - d * q
            stop = min(last, x * q - total) if x * q <= known.full or d >= x else last  # there all has arrived
            for at in range(max(begin, stop), last):
                for c in range(C):
                    sums[at * C + c] += w * base[c]
            for at in range(begin, min(stop, -shift)):
                i, share, wait = firsts[at + total], shares[at + total], -shift - at
                for c in range(C):
                    behind = (1.0 - share) * empty[i, target, of[c]] + share * empty[i + 1, target, of[c]]
                    now[at, c] += w * (stalled[wait, c] * behind + stalled_more[wait, c])
            begin = max(begin, -shift)
            if begin >= stop:
                continue
            inside = max(min(stop, even - shift), begin)
            if d <= 2:
                away = (((x - d) % places * states + target) * n + shift) * C
                add_values(sums[begin * C : inside * C], w, flat[begin * C + away : inside * C + away])
            else:
                away = ((first[slot[target]] + (x - d) % depth[slot[target]]) * n + shift) * C
                add_values(sums[begin * C : inside * C], w, flat_long[begin * C + away : inside * C + away])
            if inside < stop:
                row = play[(x - d) % places, target] if d <= 2 else kept_values(x - d, d, target, known)
                add_between(now, w, row, inside, stop, shift, leads)
        for at in range(q, end):
            for c in range(C):
                now[at, c] += sums[at * C + c]


@part(nogil=True)
def play_near(
    x: int, threshold: int, size: int, needs: Passing, lacks: Lacking, known: Known, on: Measures
) -> None:  # fmt: skip
    """Set the values at place x of less than a round of playback held; `size` is that of `Filling`."""
    now, due = known.play[x % known.play.shape[0]], min(known.round, x * known.round)
    now[:, :due] = 0.0
    goes_on(x, due, needs, known, on)
    _add_stalls(now, x, threshold, size, lacks, known, on)


@kept(nogil=True)
def stalls_at(x: int, threshold: int, size: int, lacks: Lacking, known: Known, on: Measures) -> Floats:
    """Return what stalls in the first round add to values at place x of less than a round held: (S, q, C)."""
    found = np.zeros((known.play.shape[1], known.round, len(on.base)))
    _add_stalls(found, x, threshold, size, lacks, known, on)
    return found


@part(nogil=True)
def _add_stalls(
    now: Floats, x: int, threshold: int, size: int, lacks: Lacking, known: Known, on: Measures
) -> None:  # fmt: skip
    """Add what stalls in the first round lead to at place x with less than a round of playback held."""
    q = known.round
    left = x * q
    due = min(q, left)
    C, of, empty, fill, highest = len(on.base), on.of, known.empty, known.fill, known.fill.shape[2] - 1
    stalled, stalled_more = on.stalled, on.stalled_more
    starts, targets, rounds, in_order, later, chance = lacks
    firsts, shares = _places(x, due + 1, known)
    for s in range(now.shape[0]):
        for at in range(due):
            k = due - at
            for o in range(starts[s * q + k - 1], starts[s * q + k]):
                ordered, held, target, d = in_order[o], later[o], targets[o], rounds[o]
                w, rest = chance[o], left - at - ordered
                if d > 1 and held >= min(threshold, rest):
                    _resume_soon(now[s, at], w, rest, target, held, d, q - at - ordered, known, on)
                    continue
                j = at + ordered
                i, share, wait = firsts[j], shares[j], max(q - j, 0) + (d - 1) * q
                if held == 0:
                    for c in range(C):
                        behind = (1.0 - share) * empty[i, target, of[c]] + share * empty[i + 1, target, of[c]]
                        now[s, at, c] += w * (stalled[wait, c] * behind + stalled_more[wait, c])
                    continue
                h, part, one, other = held // size, held % size / size, i % 2, (i + 1) % 2
                for upper, weight in ((0, w * (1.0 - part)), (1, w * part)):
                    if weight == 0.0:
                        continue
                    level = min(h + upper, highest)
                    for c in range(C):
                        behind = (1.0 - share) * fill[one, target, level, of[c]]
                        behind += share * fill[other, target, level, of[c]]
                        now[s, at, c] += weight * (stalled[wait, c] * behind + stalled_more[wait, c])


@part(nogil=True)
def goes_on(x: int, due: int, needs: Passing, known: Known, on: Measures) -> None:
    """Add what is seen of those whose first round delivers enough, at place x, to values of less than `due` held."""
    rows, starts, targets, rounds, received, enough, _ = needs
    q, play, long, leads, empty, of = known.round, known.play, known.long, known.leads, known.empty, on.of
    slot, first, depth, stalled, stalled_more = known.slot, known.first, known.depth, on.stalled, on.stalled_more
    left, C, places, points = x * q, len(on.base), play.shape[0], min(leads.even, play.shape[2])
    now = play[x % places]
    firsts, shares = _places(x, min((len(stalled) - 1), left) + 1, known)
    for s in range(now.shape[0]):
        for at in range(max(due - rows[s + 1] + rows[s], 0), due):
            k = rows[s] + due - at
            for o in range(starts[k - 1], starts[k]):
                w, d, target, held = enough[o], rounds[o], targets[o], at + received[o]
                if w == 0.0:
                    continue
                rest = held - d * q
                if held >= left:
                    after(now[s, at], w, x, target, held, d, known, on)
                elif rest >= points:
                    row = play[(x - d) % places, target] if d <= 2 else kept_values(x - d, d, target, known)
                    add_between(now[s], w, row, at, at + 1, rest - at, leads)
                elif rest < 0:
                    i, share = firsts[held], shares[held]
                    for c in range(C):
                        behind = (1.0 - share) * empty[i, target, of[c]] + share * empty[i + 1, target, of[c]]
                        now[s, at, c] += w * (stalled[-rest, c] * behind + stalled_more[-rest, c])
                elif d <= 2:
                    y = (x - d) % places
                    for c in range(C):
                        now[s, at, c] += w * play[y, target, rest, c]
                else:
                    place = first[slot[target]] + (x - d) % depth[slot[target]]
                    for c in range(C):
                        now[s, at, c] += w * long[place, rest, c]


@part(nogil=True)
def _places(x: int, many: int, known: Known) -> tuple[Ints, Floats]:
    """Return the fills that stand for place x with so many quanta of video less, and fewer; see `_between`."""
    firsts, shares = np.zeros(many, dtype=np.int64), np.zeros(many)
    for j in range(many):
        firsts[j], shares[j] = _between((x * known.round - j) / known.round, x, known)
    return firsts, shares


@part(nogil=True)
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
