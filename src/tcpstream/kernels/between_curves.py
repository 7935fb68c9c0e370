"""Mass of a chain between two curves: what there is to send by the end of each round, and what is due by then.

Mass is kept by its lead over what is due, 0 .. Y quanta. What falls behind is lost; what has delivered everything, or
leads by more than Y, is safe.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import integer, kept
from .latency_passes import Moves, Rounds

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Curves(NamedTuple):
    """Quanta by the ends of rounds 0, 1, .. and of two rounds more than there are; the last ones are those of the end.

    Attributes
    ----------
    exists, due : int arrays
        Neither decreases, and what is due exists.
    rounds : int
        After which all is due.
    """

    exists: Ints
    due: Ints
    rounds: int


class Mass(NamedTuple):
    """Mass by state and lead, of as many rounds ahead as transitions last.

    Attributes
    ----------
    begins, depths : (S,) int arrays
        Rows of state s are ``begins[s] .. begins[s] + depths[s] - 1``, used in turn.
    rows : (n, Y + 1) array
    spans : (n, 2) int array
        The first lead of a row that has mass, and the one behind the last.
    away : (3,) array
        Mass that is lost, that is safe, and that was too little to follow.
    """

    begins: Ints
    depths: Ints
    rows: Floats
    spans: Ints
    away: Floats


@kept(nogil=True, fastmath={"contract"})
def between_curves(first: int, last: int, curves: Curves, moves: Moves, mass: Mass, negligible: float) -> None:
    """Follow mass from the end of a round to that of another.

    Parameters
    ----------
    first, last : int
    curves : Curves
    moves : Moves
        All of them lead forward.
    mass : Mass
        That of `first`; becomes that of `last`. What is lost during a wait is lost as it begins.
    negligible : float
        Mass at the ends of a row that is not followed.
    """
    for i in range(first, last):
        there = curves.exists[i] - curves.due[i]
        for s in range(len(mass.begins)):
            at = mass.begins[s] + i % mass.depths[s]
            row, (low, end) = mass.rows[at], mass.spans[at]
            while low < end and abs(row[low]) < negligible:
                mass.away[2] += abs(row[low])
                row[low] = 0.0
                low += 1
            while low < end and abs(row[end - 1]) < negligible:
                mass.away[2] += abs(row[end - 1])
                row[end - 1] = 0.0
                end -= 1
            if low < end and end - 1 == there:  # nothing to send
                _put(row[there], curves.exists[i], s, i, integer(1), curves, mass)
                row[there] = 0.0
                end -= 1
            if low < end:
                _plain(row, low, end, i, s, curves, moves.plain, mass)
                _paused(row, low, end, i, s, curves, moves.paused, mass)
                _sent(row, low, end, i, s, curves, moves.sent, mass)
                row[low:end] = 0.0
            mass.spans[at, 0], mass.spans[at, 1] = mass.rows.shape[1], 0


@part(nogil=True)
def _put(chance: float, packets: int, target: int, i: int, lasts: int, curves: Curves, mass: Mass) -> None:
    """Add mass that has delivered some quanta after so many rounds from round i on."""
    then = min(i + lasts, curves.rounds)
    lead = packets - curves.due[then]
    if lead < 0:
        mass.away[0] += chance
    elif lead >= mass.rows.shape[1] or packets == curves.exists[-1]:
        mass.away[1] += chance
    else:
        at = mass.begins[target] + then % mass.depths[target]
        mass.rows[at, lead] += chance
        mass.spans[at, 0] = min(mass.spans[at, 0], lead)
        mass.spans[at, 1] = max(mass.spans[at, 1], lead + 1)


@part(nogil=True, fastmath={"contract"})
def _shift(row: Floats, low: int, end: int, shift: int, chance: float, target: int, then: int, mass: Mass) -> None:
    """Add a part of the mass at leads `low` .. `end` - 1 at leads `shift` above, at the end of a round."""
    top = mass.rows.shape[1]
    fails, safe = min(max(-shift, low), end), max(min(top - shift, end), low)
    for k in range(low, fails):
        mass.away[0] += chance * row[k]
    for k in range(max(safe, fails), end):
        mass.away[1] += chance * row[k]
    if fails >= safe:
        return
    at = mass.begins[target] + then % mass.depths[target]
    to, of = mass.rows[at, fails + shift : safe + shift], row[fails:safe]
    for k in range(len(to)):
        to[k] += chance * of[k]
    mass.spans[at, 0] = min(mass.spans[at, 0], fails + shift)
    mass.spans[at, 1] = max(mass.spans[at, 1], safe + shift)


@part(nogil=True, fastmath={"contract"})
def _plain(row: Floats, low: int, end: int, i: int, s: int, curves: Curves, moves: Rounds, mass: Mass) -> None:
    """Make transitions of one round and a wait."""
    base = curves.due[i]
    need, exists = curves.due[i + 1] - base, curves.exists[i + 1]
    for g in range(moves.starts[s], moves.starts[s + 1]):
        received, target, tail, lasts = moves.received[g], moves.target[g], moves.tail[g], moves.lasts[g]
        whole, then = exists - base - received, min(i + lasts, curves.rounds)
        begin = min(max(low, need), end)
        middle = max(min(whole, end), begin)
        for k in range(low, begin):  # not all that is in order is in time
            chance = tail[min(need - k, len(tail) - 1)]
            mass.away[0] += (tail[0] - chance) * row[k]
            _put(chance * row[k], min(base + k + received, exists), target, i, lasts, curves, mass)
        _shift(row, begin, middle, received + base - curves.due[then], tail[0], target, then, mass)
        rest = 0.0
        for k in range(middle, end):
            rest += row[k]
        if rest != 0:  # all there is is delivered
            _put(tail[0] * rest, exists, target, i, lasts, curves, mass)


@part(nogil=True, fastmath={"contract"})
def _paused(row: Floats, low: int, end: int, i: int, s: int, curves: Curves, moves: Rounds, mass: Mass) -> None:
    """Make short rounds that wait for a round, as all there was is delivered."""
    exists = curves.exists[i + 1]
    edge = exists - curves.due[i]
    for g in range(moves.starts[s], moves.starts[s + 1]):
        tail, chance = moves.tail[g], 0.0
        for k in range(max(low, edge - len(tail) + 2), end):
            chance += tail[max(edge - k, 0)] * row[k]
        if chance == 0.0:
            continue
        if exists == curves.exists[-1]:
            mass.away[1] += chance
        elif exists < curves.due[i + 2]:
            mass.away[0] += chance
        else:
            packets = min(exists + moves.received[g], curves.exists[min(i + 3, curves.rounds)])
            _put(chance, packets, moves.target[g], i, moves.lasts[g] + 1, curves, mass)


@part(nogil=True, fastmath={"contract"})
def _sent(row: Floats, low: int, end: int, i: int, s: int, curves: Curves, moves: Rounds, mass: Mass) -> None:
    """Make short rounds that do not wait."""
    base = curves.due[i]
    need, edge, exists = curves.due[i + 1] - base, curves.exists[i + 1] - base, curves.exists[i + 2]
    for g in range(moves.starts[s], moves.starts[s + 1]):
        both, target, tail, lasts = moves.received[g], moves.target[g], moves.tail[g], moves.lasts[g]
        then, last = min(i + lasts, curves.rounds), len(tail) - 1
        whole = min(edge - last + 1, exists - base - both)  # below, none pauses, and more exists
        begin = min(max(low, need), end)
        middle = max(min(whole, end), begin)
        for k in range(low, begin):
            in_time = tail[min(need - k, last)]
            mass.away[0] += (tail[0] - in_time) * row[k]
            chance = in_time - tail[min(max(edge - k, 0), last)]
            _put(chance * row[k], min(base + k + both, exists), target, i, lasts, curves, mass)
        _shift(row, begin, middle, both + base - curves.due[then], tail[0], target, then, mass)
        full = min(max(exists - base - both, middle), end)
        for k in range(middle, full):
            chance = tail[0] - tail[min(max(edge - k, 0), last)]
            _put(chance * row[k], base + k + both, target, i, lasts, curves, mass)
        rest = 0.0
        for k in range(full, end):
            rest += (tail[0] - tail[min(max(edge - k, 0), last)]) * row[k]
        if rest != 0:
            _put(rest, exists, target, i, lasts, curves, mass)
