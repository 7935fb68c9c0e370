"""Mass of a chain while frames are judged: which of them are late, and which cannot be decoded.

Mass is kept by the packets delivered, 0 .. K - 1, and by whether a frame of the present group was late. A frame that is
late, and all later ones of its group, cannot be decoded. What has delivered everything is done.
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


class Judged(NamedTuple):
    """Frames in the order of decoding, and what there is to send.

    Attributes
    ----------
    due : (N + 1,) int array
        Frames that have been judged after round i; all of them after the last one.
    needs : (n,) int array
        Packets that must be in order for a frame; does not decrease.
    late_from : (K + 1,) int array
        The first frame that needs more than so many packets, n where there is none.
    left : (n + 1,) int array
        Frames from this one to the end of the group of the one before.
    exists : (N + 3,) int array
        Packets that exist by the ends of rounds 0, 1, ..; the last one is K.
    """

    due: Ints
    needs: Ints
    late_from: Ints
    left: Ints
    exists: Ints


class Mass(NamedTuple):
    """Mass by whether the group has a late frame, state and packets, of as many rounds ahead as transitions last.

    Attributes
    ----------
    begins, depths : (S,) int arrays
        Rows of state s are ``begins[s] .. begins[s] + depths[s] - 1``, used in turn.
    rows : (2, n, K) array
    spans : (2, n, 2) int array
        The first position of a row that has mass, and the one behind the last.
    found : (3,) array
        Mean number of late frames, and of those that cannot be decoded; mass that was too little to follow.
    """

    begins: Ints
    depths: Ints
    rows: Floats
    spans: Ints
    found: Floats


@kept(nogil=True, fastmath={"contract"})
def late_frames(begin: int, end: int, judged: Judged, moves: Moves, mass: Mass, negligible: float) -> None:
    """Follow mass from the end of a round to that of another.

    Parameters
    ----------
    begin, end : int
    judged : Judged
    moves : Moves
        In packets.
    mass : Mass
        That of `begin`; becomes that of `end`.
    negligible : float
        Mass at the ends of a row that is not followed.
    """
    for i in range(begin, end):
        there = judged.exists[i]
        for spoilt in range(2):
            for s in range(len(mass.begins)):
                at = mass.begins[s] + i % mass.depths[s]
                row, (low, high) = mass.rows[spoilt, at], mass.spans[spoilt, at]
                while low < high and abs(row[low]) < negligible:
                    mass.found[2] += abs(row[low])
                    row[low] = 0.0
                    low += 1
                while low < high and abs(row[high - 1]) < negligible:
                    mass.found[2] += abs(row[high - 1])
                    row[high - 1] = 0.0
                    high -= 1
                if low < high and high - 1 == there:  # nothing to send
                    _land(row[there], spoilt, i, there, i + 1, there, i + 1, s, judged, mass)
                    row[there] = 0.0
                    high -= 1
                if low < high:
                    _plain(row, low, high, i, s, spoilt, judged, moves.plain, mass)
                    _paused(row, low, high, i, s, spoilt, judged, moves.paused, mass)
                    _sent(row, low, high, i, s, spoilt, judged, moves.sent, mass)
                    row[low:high] = 0.0
                mass.spans[spoilt, at] = mass.rows.shape[2], 0


@part(nogil=True)
def _judge(
    spoilt: int, i: int, first: int, middle: int, second: int, then: int, judged: Judged
) -> tuple[int, int, int]:
    """Judge the frames of rounds i + 1 .. `then`: so many packets are in order until a round, and after it.

    Returns how many are late, how many cannot be decoded, and whether the group has a late one at the end.
    """
    since, until = judged.due[i], judged.due[min(middle, then)]
    late, lost, spoilt = _part(spoilt, since, until, first, judged)
    more, rest, spoilt = _part(spoilt, until, judged.due[then], second, judged)
    return late + more, lost + rest, spoilt


@numba.njit(nogil=True, inline="always")
def _part(spoilt: int, since: int, until: int, packets: int, judged: Judged) -> tuple[int, int, int]:
    """Judge frames `since` .. `until` - 1 while so many packets are in order: late ones are the last ones."""
    first = min(max(judged.late_from[packets], since), until)
    late, left = until - first, judged.left[since]
    lost = late + (min(left, first - since) if spoilt else 0)
    return late, lost, int(late > 0 or (spoilt > 0 and left >= until - since))


@part(nogil=True)
def _land(
    chance: float, spoilt: int, i: int, first: int, middle: int, second: int, then: int, target: int, judged: Judged,
    mass: Mass,
) -> None:  # fmt: skip
    """Add mass that has some packets in order until the end of round `middle`, and others from then on."""
    if chance == 0.0:
        return
    then = min(then, len(judged.due) - 1)
    late, lost, spoilt = _judge(spoilt, i, first, middle, second, then, judged)
    mass.found[0] += late * chance
    mass.found[1] += lost * chance
    if second == judged.exists[-1]:
        mass.found[1] += spoilt * judged.left[judged.due[then]] * chance
    else:
        at = mass.begins[target] + then % mass.depths[target]
        mass.rows[spoilt, at, second] += chance
        mass.spans[spoilt, at, 0] = min(mass.spans[spoilt, at, 0], second)
        mass.spans[spoilt, at, 1] = max(mass.spans[spoilt, at, 1], second + 1)


@part(nogil=True)
def _needed(since: int, until: int, judged: Judged) -> int:
    """Return the packets that all frames need which are judged after a round, until another."""
    return judged.needs[judged.due[until] - 1] if judged.due[until] > judged.due[since] else 0


@part(nogil=True)
def _split(
    chance: float, k: int, tail: Floats, over: float, most: int, spoilt: int, i: int, second: int, then: int,
    target: int, judged: Judged, mass: Mass,
) -> None:  # fmt: skip
    """Add mass by which frame of the next round is the first late one; `over` of `tail` is beyond what it may deliver.

    `most` is what may be in order in the next round.
    """
    last, before = len(tail) - 1, tail[0] - over
    for f in range(judged.due[i], judged.due[i + 1]):
        need = judged.needs[f]
        above = max(tail[min(max(need - k, 0), last)] - over, 0.0) if need <= most else 0.0
        _land(chance * (before - above), spoilt, i, need - 1, i + 1, second, then, target, judged, mass)
        before = above
    _land(chance * before, spoilt, i, judged.exists[-1], i + 1, second, then, target, judged, mass)


@part(nogil=True, fastmath={"contract"})
def _shift(
    row: Floats, low: int, high: int, shift: int, chance: float, spoilt: int, i: int, then: int, target: int,
    judged: Judged, mass: Mass,
) -> None:  # fmt: skip
    """Add a part of the mass at positions `low` .. `high` - 1, of which no frame is late, at others."""
    if low >= high:
        return
    _, lost, spoilt = _judge(spoilt, i, judged.exists[-1], then, judged.exists[-1], then, judged)
    at = mass.begins[target] + then % mass.depths[target]
    to, of, total = mass.rows[spoilt, at, low + shift : high + shift], row[low:high], 0.0
    for k in range(len(to)):
        to[k] += chance * of[k]
    if lost > 0:
        for k in range(len(of)):
            total += of[k]
        mass.found[1] += lost * chance * total
    mass.spans[spoilt, at, 0] = min(mass.spans[spoilt, at, 0], low + shift)
    mass.spans[spoilt, at, 1] = max(mass.spans[spoilt, at, 1], high + shift)


@part(nogil=True, fastmath={"contract"})
def _plain(
    row: Floats, low: int, high: int, i: int, s: int, spoilt: int, judged: Judged, moves: Rounds, mass: Mass
) -> None:
    """Make transitions of one round and a wait."""
    exists = judged.exists[i + 1]
    for g in range(moves.starts[s], moves.starts[s + 1]):
        received, target, tail = moves.received[g], moves.target[g], moves.tail[g]
        then = min(i + moves.lasts[g], len(judged.due) - 1)
        later = _needed(i + 1, then, judged)
        safe = high if later > exists else max(_needed(i, i + 1, judged), later - received)
        begin = min(max(low, safe), high)
        middle = max(min(exists - received, high), begin)
        for k in range(low, begin):
            second = min(k + received, exists)
            _split(row[k], k, tail, 0.0, exists, spoilt, i, second, then, target, judged, mass)
        _shift(row, begin, middle, received, tail[0], spoilt, i, then, target, judged, mass)
        rest = 0.0
        for k in range(middle, high):
            rest += row[k]
        _land(tail[0] * rest, spoilt, i, judged.exists[-1], i + 1, exists, then, target, judged, mass)


@part(nogil=True, fastmath={"contract"})
def _paused(
    row: Floats, low: int, high: int, i: int, s: int, spoilt: int, judged: Judged, moves: Rounds, mass: Mass
) -> None:
    """Make short rounds that wait for a round, as all there was is delivered."""
    exists = judged.exists[i + 1]
    for g in range(moves.starts[s], moves.starts[s + 1]):
        tail, chance = moves.tail[g], 0.0
        for k in range(max(low, exists - len(tail) + 2), high):
            chance += tail[max(exists - k, 0)] * row[k]
        packets = min(exists + moves.received[g], judged.exists[min(i + 3, len(judged.due) - 1)])
        if exists == judged.exists[-1]:
            packets = exists
        then = i + moves.lasts[g] + 1
        _land(chance, spoilt, i, exists, i + 2, packets, then, moves.target[g], judged, mass)


@part(nogil=True, fastmath={"contract"})
def _sent(
    row: Floats, low: int, high: int, i: int, s: int, spoilt: int, judged: Judged, moves: Rounds, mass: Mass
) -> None:
    """Make short rounds that do not wait."""
    edge, exists = judged.exists[i + 1], judged.exists[i + 2]
    for g in range(moves.starts[s], moves.starts[s + 1]):
        both, target, tail = moves.received[g], moves.target[g], moves.tail[g]
        then, last = min(i + moves.lasts[g], len(judged.due) - 1), len(tail) - 1
        later = _needed(i + 1, then, judged)
        safe = high if later > exists else max(_needed(i, i + 1, judged), later - both)
        begin = min(max(low, safe), high)
        middle = max(min(edge - last + 1, exists - both, high), begin)  # below, none pauses, and more exists
        for k in range(low, begin):
            over, second = tail[min(max(edge - k, 0), last)], min(k + both, exists)
            _split(row[k], k, tail, over, edge - 1, spoilt, i, second, then, target, judged, mass)
        _shift(row, begin, middle, both, tail[0], spoilt, i, then, target, judged, mass)
        for k in range(middle, high):
            chance, second = tail[0] - tail[min(max(edge - k, 0), last)], min(k + both, exists)
            _land(chance * row[k], spoilt, i, judged.exists[-1], i + 1, second, then, target, judged, mass)
