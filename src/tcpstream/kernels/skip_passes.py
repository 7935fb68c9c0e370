"""Stalls to come, and time to stand, of a player of a live stream that skips: back in time, of any length.

The player stops where the backlog in order passes a level Y, and resumes as a round begins by whose end it is at most a
lower one. Backlogs are in quanta; values of a player that stands are linear beyond the largest one.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

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
            _plain(new, n, on, s, moves.plain, values, top)
            _paused(new, n, on, s, moves.paused, values, top)
            _sent(new, n, on, s, moves.sent, values, top)
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


@numba.njit(nogil=True, inline="always")
def _both(
    new: Floats, k: int, chance: float, tail: Floats, next_: int, end: int, d: int, on: Levels, rows: Floats, top: int
) -> None:  # fmt: skip
    """Add a group of transitions, playing and standing; of `tail`, only `chance` in all."""
    last = len(tail) - 1
    lacks = tail[0] - chance  # what has more in order than all of these
    if k <= on.stop:
        need = min(max(k + on.due - on.stop, 0), last)
        goes_on = max(tail[need] - lacks, 0.0)
        _later(new[0, :, k], goes_on, True, next_, end, d, on, rows, top)
        stops = chance - goes_on
        if stops != 0.0:
            new[0, 0, k] += stops
            missing = 0.0
            for j in range(1, max(k + on.due - on.stop, 0) + 1):
                missing += tail[0] - tail[min(j, last)] if tail[min(j, last)] > lacks else chance
            new[0, 1, k] += missing / on.due
            _later(new[0, :, k], stops, False, next_, end, d, on, rows, top)
    resumes = max(tail[min(max(k + on.due - on.resume, 0), last)] - lacks, 0.0)
    if resumes != 0.0:
        _later(new[1, :, k], resumes, True, next_, end, d, on, rows, top)
    stands = chance - resumes
    if stands != 0.0:
        new[1, 1, k] += stands
        _later(new[1, :, k], stands, False, next_, end, d, on, rows, top)


@numba.njit(nogil=True)
def _plain(new: Floats, n: int, on: Levels, s: int, moves: Rounds, values: Skipping, top: int) -> None:
    for g in range(moves.starts[s], moves.starts[s + 1]):
        d, target, tail = moves.lasts[g], moves.target[g], moves.tail[g]
        rows = values.rows[values.begins[target] + (n - d) % values.depths[target]]
        for k in range(1, top + 1):
            left = max(k + on.due - moves.received[g], 0)
            _both(new, k, tail[0], tail, left + on.due, left + on.due * (d - 1), d, on, rows, top)


@numba.njit(nogil=True)
def _paused(new: Floats, n: int, on: Levels, s: int, moves: Rounds, values: Skipping, top: int) -> None:
    """Add short rounds that wait for a round; whoever stands resumes, as nothing is missing."""
    for g in range(moves.starts[s], moves.starts[s + 1]):
        d, target, tail = moves.lasts[g] + 1, moves.target[g], moves.tail[g]
        rows = values.rows[values.begins[target] + (n - d) % values.depths[target]]
        end = max(2 * on.due - moves.received[g], 0) + on.due * (d - 3)
        for k in range(1, min(top, len(tail) - 1 - on.due) + 1):
            for mode in range(2):
                _later(new[mode, :, k], tail[k + on.due], True, on.due, end, d, on, rows, top)


@numba.njit(nogil=True)
def _sent(new: Floats, n: int, on: Levels, s: int, moves: Rounds, values: Skipping, top: int) -> None:
    for g in range(moves.starts[s], moves.starts[s + 1]):
        d, target, tail = moves.lasts[g], moves.target[g], moves.tail[g]
        rows = values.rows[values.begins[target] + (n - d) % values.depths[target]]
        for k in range(1, top + 1):
            chance = tail[0] - tail[min(k + on.due, len(tail) - 1)]
            if chance != 0.0:
                next_ = max(k + 2 * on.due - moves.received[g], 0)
                _both(new, k, chance, tail, next_, next_ + on.due * (d - 2), d, on, rows, top)
