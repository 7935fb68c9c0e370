"""Stalls to come, and time to stand, of a player of a live stream that skips: back in time, of any length.

The player stops where the backlog in order passes a level Y, and resumes as a round begins by whose end it is at most a
lower one. Backlogs are in quanta; values of a player that stands are linear beyond the largest one.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import kept
from .latency_passes import Moves, Rounds

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Levels(NamedTuple):
    """Where a player stops and resumes.

    Attributes
    ----------
    due : int
        Quanta generated in a round.
    stop, resume : int
        The largest backlogs with which it goes on, and resumes; the latter is not larger.
    slower : float
        Rounds that it stands longer for a quantum beyond the largest backlog.
    """

    due: int
    stop: int
    resume: int
    slower: float


class Skipping(NamedTuple):
    """Values by state, what the player does, and backlog, of as many rounds as transitions last.

    Attributes
    ----------
    begins, depths : (S,) int arrays
        Rows of state s are ``begins[s] .. begins[s] + depths[s] - 1``, used in turn.
    rows : (n, 2, 2, top + 1) array
        Playing or standing; stalls, and rounds that it stands.
    """

    begins: Ints
    depths: Ints
    rows: Floats


@kept(nogil=True)
def back_while_skipping(
    number: int, last: int, on: Levels, moves: Moves, values: Skipping, start: int, found: Floats
) -> None:
    """Go back from the values of `number` rounds before the end on to those of `last`.

    Parameters
    ----------
    number, last : int
    on : Levels
    moves : Moves
    values : Skipping
        Becomes that of `last`.
    start : int
        State in which a stream begins.
    found : (last + 1, 2) array
        Written to: stalls and rounds of standing from an empty backlog in this state on.
    """
    top = values.rows.shape[3] - 1
    for n in range(number + 1, last + 1):
        for s in range(len(values.begins)):
            new = values.rows[values.begins[s] + n % values.depths[s]]
            new[:] = 0.0
            rows = values.rows[values.begins[s] + (n - 1) % values.depths[s]]
            for mode in range(2):  # with an empty backlog nothing is sent
                playing = mode == 0 or on.due <= on.resume
                _later(new[mode, :, 0], 1.0, playing, on.due, on.due, 1, on, rows, top)
                new[mode, 1, 0] += 0.0 if playing else 1.0
            _groups(new, n, 0, on, s, moves.plain, values, top)
            _paused(new, n, on, s, moves.paused, values, top)
            _groups(new, n, 1, on, s, moves.sent, values, top)
        row = values.rows[values.begins[start] + n % values.depths[start]]
        found[n] = row[0, :, 0]


@numba.njit(nogil=True, inline="always")
def _later(
    out: Floats, chance: float, playing: bool, next_: int, end: int, d: int, on: Levels, rows: Floats, top: int
) -> None:  # fmt: skip
    """Add what comes after a first round: the backlog is `next_` a round later, and `end` after d rounds in all."""
    if not playing and d > 1 and next_ <= on.resume:
        playing = True
    if playing and end <= on.stop:
        out[0] += chance * rows[0, 0, end]
        out[1] += chance * rows[0, 1, end]
        return
    at = min(end, top)
    out[0] += chance * (rows[1, 0, at] + (1.0 if playing else 0.0))
    stands = (end - on.stop) / on.due if playing else d - 1.0
    out[1] += chance * (rows[1, 1, at] + stands + (end - at) * on.slower)


@part(nogil=True)
def _playing(
    new: Floats, k: int, chance: float, tail: Floats, next_: int, end: int, d: int, on: Levels, rows: Floats, top: int
) -> None:  # fmt: skip
    """Add a group of transitions while the player plays; of `tail`, only `chance` in all.

    Chances are negative where states stand for others.
    """
    last, need = len(tail) - 1, max(k + on.due - on.stop, 0)
    goes_on = tail[min(need, last)] - (tail[0] - chance)
    _later(new[0, :, k], goes_on, True, next_, end, d, on, rows, top)
    if chance != goes_on:
        new[0, 0, k] += chance - goes_on
        for j in range(1, need + 1):
            new[0, 1, k] += (tail[0] - tail[min(j, last)]) / on.due
        _later(new[0, :, k], chance - goes_on, False, next_, end, d, on, rows, top)


@part(nogil=True)
def _standing(
    new: Floats, k: int, chance: float, tail: Floats, next_: int, end: int, d: int, on: Levels, rows: Floats, top: int
) -> None:  # fmt: skip
    """Add the same while it stands."""
    need = min(max(k + on.due - on.resume, 0), len(tail) - 1)
    resumes = tail[need] - (tail[0] - chance)
    if resumes != 0.0:
        _later(new[1, :, k], resumes, True, next_, end, d, on, rows, top)
    if chance != resumes:
        new[1, 1, k] += chance - resumes
        _later(new[1, :, k], chance - resumes, False, next_, end, d, on, rows, top)


@part(nogil=True, fastmath={"contract"})
def _shift(new: Floats, low: int, high: int, shift: int, weight: float, rows: Floats) -> None:
    """Add weighted values, `shift` quanta above, to those from `low` to `high`."""
    for column in range(2):
        to, of = new[column, low : high + 1], rows[column, low + shift : high + shift + 1]
        for k in range(len(to)):
            to[k] += weight * of[k]


@part(nogil=True)
def _group(
    new: Floats, d: int, second: int, both: int, tail: Floats, on: Levels, rows: Floats, top: int
) -> None:  # fmt: skip
    """Add a group of transitions to all backlogs: quickly where they go on, or stand, in any case.

    `second` is 1 for short rounds that do not wait, and 0 for transitions of one round and a wait.
    """
    last, shift = len(tail) - 1, on.due * d - both
    low = both - on.due * (1 + second) + 1  # from here on something is left
    if second == 1:
        low = max(low, last - on.due)  # and no short round waits
    first, end = max(low, 1), min(on.stop - on.due, on.stop - shift)
    if first <= end:
        _shift(new[0], first, end, shift, tail[0], rows[0])
    away = max(low, both + on.resume - on.due + 1, 1)
    final = min(top, top - shift)
    if away <= final:
        _shift(new[1], away, final, shift, tail[0], rows[1])
        new[1, 1, away : final + 1] += tail[0] * d
    for k in range(1, top + 1):
        plays, stands = k <= on.stop and not first <= k <= end, not away <= k <= final
        if not (plays or stands):
            continue
        chance = tail[0] - (tail[min(k + on.due, last)] if second == 1 else 0.0)
        next_ = max(k + on.due * (1 + second) - both, 0) + on.due * (1 - second)
        over = next_ + on.due * (d - 2)
        if plays:
            _playing(new, k, chance, tail, next_, over, d, on, rows, top)
        if stands:
            _standing(new, k, chance, tail, next_, over, d, on, rows, top)


@part(nogil=True)
def _groups(
    new: Floats, n: int, second: int, on: Levels, s: int, moves: Rounds, values: Skipping, top: int
) -> None:  # fmt: skip
    for g in range(moves.starts[s], moves.starts[s + 1]):
        d, target = moves.lasts[g], moves.target[g]
        rows = values.rows[values.begins[target] + (n - d) % values.depths[target]]
        _group(new, d, second, moves.received[g], moves.tail[g], on, rows, top)


@part(nogil=True)
def _paused(new: Floats, n: int, on: Levels, s: int, moves: Rounds, values: Skipping, top: int) -> None:
    """Add short rounds that wait for a round; whoever stands resumes, as nothing is missing."""
    for g in range(moves.starts[s], moves.starts[s + 1]):
        d, target, tail = moves.lasts[g] + 1, moves.target[g], moves.tail[g]
        rows = values.rows[values.begins[target] + (n - d) % values.depths[target]]
        end = max(2 * on.due - moves.received[g], 0) + on.due * (d - 3)
        for k in range(1, min(top, len(tail) - 1 - on.due) + 1):
            for mode in range(2):
                _later(new[mode, :, k], tail[k + on.due], True, on.due, end, d, on, rows, top)
