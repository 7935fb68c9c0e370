"""Values of a live stream over the rest of it, back in time, while its backlog is below a level.

A value is the probability that the backlog does not pass the level any more. Backlogs are in quanta, 0 .. Y. After the
last packet is generated they count as if generation went on, so that `floor` quanta of them do not exist: what is not
above the floor has delivered everything, and is done.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import kept

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GENERATING = -(1 << 60)
"""A floor while packets are generated for long."""


class Rounds(NamedTuple):
    """Transitions of one round and a wait, if any, by all but the packets in order in the round; in quanta.

    Attributes
    ----------
    starts : (S + 1,) int array
        Those of state s are ``starts[s] .. starts[s + 1] - 1``.
    target, lasts : (g,) int arrays
        Rounds in all.
    received : (g,) int array
    tail : (g, F) array
        Probability of 0, 1, .. quanta in order in the first round at least; the last one is 0.
    """

    starts: Ints
    target: Ints
    lasts: Ints
    received: Ints
    tail: Floats


class Moves(NamedTuple):
    """All transitions.

    Attributes
    ----------
    plain : Rounds
    paused : Rounds
        With a short second round, by what that one delivers: it waits for a round where nothing is left to send.
    sent : Rounds
        The same by what both rounds deliver: it does not wait. What is in order in the first round is all of it.
    """

    plain: Rounds
    paused: Rounds
    sent: Rounds


class Later(NamedTuple):
    """Values by state and backlog, of as many rounds as transitions last.

    Attributes
    ----------
    begins, depths : (S,) int arrays
        Rows of state s are ``begins[s] .. begins[s] + depths[s] - 1``, used in turn.
    rows : (n, Y + 1) array
    """

    begins: Ints
    depths: Ints
    rows: Floats


@kept(nogil=True, fastmath={"contract"})
def back_in_stream(
    number: int, last: int, total: int, due: int, floor: int, moves: Moves, later: Later, start: int, found: Floats
) -> None:
    """Go back in a stream, from the values of `number` rounds before its end on to those of `last`.

    Parameters
    ----------
    number, last, total : int
        No stream begins more than `total` rounds before the end.
    due : int
        Quanta generated in a round.
    floor : int
        At the end, 0 rounds before it.
    moves : Moves
    later : Later
        Becomes that of `last`.
    start : int
        State in which a stream begins.
    found : (last + 1,) array
        Written to: the value of an empty backlog in this state, so many rounds before the end.
    """
    Y = later.rows.shape[1] - 1
    for n in range(number + 1, last + 1):
        below = floor - n * due  # what does not exist at the begin of the round
        low, top = max(below, 0) + 1, min(Y, due * (total - n))
        free = max(Y, below + due) - due  # up to here anything in order is enough
        for s in range(len(later.begins)):
            new = later.rows[later.begins[s] + n % later.depths[s]]
            new[: top + 1] = 0.0
            new[: min(low, Y + 1)] = 1.0
            if below < 0:  # nothing is sent
                new[0] = _value(later, s, n - 1, due)
            _plain(new, low, top, free, n, below, due, s, moves.plain, later)
            _paused(new, low, top, n, below, due, s, moves.paused, later)
            _sent(new, low, top, free, n, below, due, s, moves.sent, later)
        found[n] = later.rows[later.begins[start] + n % later.depths[start], 0]


@numba.njit(nogil=True, inline="always")
def _value(later: Later, s: int, n: int, backlog: int) -> float:
    """Return the value of a backlog n rounds before the end; 0 above the level."""
    if backlog > later.rows.shape[1] - 1:
        return 0.0
    value: float = later.rows[later.begins[s] + n % later.depths[s], backlog]
    return value


@part(nogil=True, fastmath={"contract"})
def _plain(
    new: Floats, low: int, top: int, free: int, n: int, below: int, due: int, s: int, moves: Rounds, later: Later
) -> None:  # fmt: skip
    """Add what transitions of one round and a wait lead to, from backlogs `low` .. `top`."""
    ends = below + due >= 0
    for g in range(moves.starts[s], moves.starts[s + 1]):
        d, first, target, tail = min(moves.lasts[g], n), moves.received[g], moves.target[g], moves.tail[g]
        empties = first + (below if ends else -due)  # up to here all is delivered, or a wait runs on
        value = 1.0 if ends else _value(later, target, n - d, due * (d - 1))
        for k in range(low, min(empties, top) + 1):
            new[k] += tail[min(max(k - free, 0), len(tail) - 1)] * value
        row = later.rows[later.begins[target] + (n - d) % later.depths[target]]
        _shifted(new, max(low, empties + 1), top, due * d - first, free, tail, row)


@part(nogil=True, fastmath={"contract"})
def _paused(
    new: Floats, low: int, top: int, n: int, below: int, due: int, s: int, moves: Rounds, later: Later
) -> None:  # fmt: skip
    """Add what short rounds lead to that wait for a round: all was delivered before, or all there is."""
    edge = due - max(below + due, 0)
    for g in range(moves.starts[s], moves.starts[s + 1]):
        value, tail = 1.0, moves.tail[g]
        if below + due < 0 and n > 1:
            value = 1.0 if due < later.rows.shape[1] else 0.0  # passed in the pause
            rest, left = 2 * due - moves.received[g], below + 3 * due
            if n > 2 and value > 0 and not (left >= 0 and rest <= left):
                d = min(moves.lasts[g] + 1, n)
                value = _value(later, moves.target[g], n - d, max(rest, 0) + due * (d - 3))
        for k in range(low, min(top, len(tail) - 1 - edge) + 1):
            new[k] += tail[k + edge] * value


@part(nogil=True, fastmath={"contract"})
def _sent(
    new: Floats, low: int, top: int, free: int, n: int, below: int, due: int, s: int, moves: Rounds, later: Later
) -> None:  # fmt: skip
    """Add what short rounds lead to that do not wait."""
    edge = due - max(below + due, 0)
    for g in range(moves.starts[s], moves.starts[s + 1]):
        d, both, target, tail = min(moves.lasts[g], n), moves.received[g], moves.target[g], moves.tail[g]
        ends, last = below + 2 * due >= 0, len(tail) - 1
        empties = both - 2 * due + max(below + 2 * due, 0)  # up to here all is delivered after the second round
        value = 1.0 if ends else _value(later, target, n - d, due * (d - 2))
        if n == 1:  # the stream ends after the first round
            empties, value = top, 1.0
        row = later.rows[later.begins[target] + (n - d) % later.depths[target]]
        shift = due * d - both
        whole = max(low, last - edge)  # from here on no short round waits
        for k in range(low, min(whole - 1, top) + 1):
            chance = tail[min(max(k - free, 0), last)] - tail[min(k + edge, last)]
            if k <= empties:
                new[k] += chance * value
            elif k + shift < len(row):
                new[k] += chance * row[k + shift]
        for k in range(whole, min(empties, top) + 1):
            new[k] += tail[min(max(k - free, 0), last)] * value
        _shifted(new, max(whole, empties + 1), top, shift, free, tail, row)


@part(nogil=True, fastmath={"contract"})
def _shifted(new: Floats, low: int, top: int, shift: int, free: int, tail: Floats, row: Floats) -> None:
    """Add the values of other backlogs, `shift` quanta above, to those from `low` on."""
    high = min(len(row) - 1 - shift, top)
    middle = min(high, free)
    if middle >= low:
        to, of, whole = new[low : middle + 1], row[low + shift : middle + shift + 1], tail[0]
        for k in range(len(to)):
            to[k] += whole * of[k]
    for k in range(max(low, free + 1), min(high, free + len(tail) - 1) + 1):
        new[k] += tail[k - free] * row[k + shift]
