"""One step of a backlog on a ladder of lattices: moves, and what passes from one lattice to the next."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import integer, kept
from .moves import convolve

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Lattices(NamedTuple):
    """Levels of a ladder, finest first.

    Position k of a level is a backlog of ``(k - base) * quantum + above[level, entry]``. It holds ``first .. end - 1``
    for itself: in the row of an entry, from `own` on. While mass moves, all ``width`` positions are from `at` on.
    """

    quanta: Floats
    bases: Ints
    firsts: Ints
    ends: Ints
    widths: Ints
    own: Ints
    at: Ints
    above: Floats


class Shifts(NamedTuple):
    """Moves of positions of a level, from `floors` on, to another entry.

    Entry s has ``begins[s] .. begins[s + 1] - 1``. They are of what is on the level itself, or (`lower`) also of all
    that lies lower.
    """

    begins: Ints
    levels: Ints
    lower: NDArray[np.bool_]
    floors: Ints
    targets: Ints
    shifts: Ints
    taps_from: Ints
    taps_to: Ints
    taps: Floats


class Landings(NamedTuple):
    """Where what lies below a floor ends, or is at rest (floor -1): entry s has ``begins[s] .. begins[s + 1] - 1``.

    What is below floor i goes to ``starts[i] .. starts[i + 1] - 1`` of the landings, and comes to rest for
    ``rest_starts[i] .. rest_starts[i + 1] - 1`` of `rest_targets`.
    """

    begins: Ints
    levels: Ints
    floors: Ints
    starts: Ints
    to_levels: Ints
    targets: Ints
    shifts: Ints
    taps_from: Ints
    taps_to: Ints
    taps: Floats
    rest_starts: Ints
    rest_targets: Ints
    rest_weights: Floats


NEGLIGIBLE = 1e-18
"""Value at the ends of a row up to which it is not moved on."""


@part(nogil=True)
def _weights(t: float) -> tuple[float, float, float, float]:
    """Return how the points -1, 0, 1 and 2 stand for 0 <= t < 1."""
    a, b, c, d = t + 1, t, t - 1, t - 2
    return -b * c * d / 6, a * c * d / 2, -a * b * d / 2, a * b * c / 6


@part(nogil=True)
def _pass(low: Floats, first: int, end: int, place: float, stride: float, high: Floats) -> tuple[int, int]:
    """Add positions ``first .. end - 1`` to another level, where position k lies at ``place + k * stride``.

    Returns between which positions they come there.
    """
    if first >= end:
        return len(high), 0
    period = max(1, math.floor(1 / stride + 0.5))  # positions after which the weights are the same again
    ahead = math.floor(period * stride + 0.5)
    for begin in range(first, min(first + period, end)):
        x = place + begin * stride
        j = math.floor(x) - 1
        before, here, after, last = _weights(x - math.floor(x))
        for k in range(begin, end, period):
            mass = low[k]
            if mass != 0.0:
                if 0 <= j <= len(high) - 4:
                    high[j] += mass * before
                    high[j + 1] += mass * here
                    high[j + 2] += mass * after
                    high[j + 3] += mass * last
                else:  # hardly anything comes there
                    high[0 if j < 0 else len(high) - 1] += mass
            j += ahead
    left, right = math.floor(place + first * stride) - 1, math.floor(place + (end - 1) * stride) + 3
    return min(max(left, 0), len(high) - 1), max(min(right, len(high)), 1)


@part(nogil=True)
def _up(row: Floats, on: Lattices, s: int, i: int, first: int, end: int, into: Floats) -> tuple[int, int]:
    """Add positions of level i of a row to the next level of another one."""
    ratio = on.quanta[i] / on.quanta[i + 1]
    place = on.bases[i + 1] - on.bases[i] * ratio + (on.above[i, s] - on.above[i + 1, s]) / on.quanta[i + 1]
    return _pass(row[on.at[i] :], first, end, place, ratio, into[on.at[i + 1] : on.at[i + 1] + on.widths[i + 1]])


@part(nogil=True)
def settle(row: Floats, begins: Ints, ends: Ints, on: Lattices, s: int) -> None:
    """Pass what lies on no own position of a level to its neighbour; ``begins .. ends - 1`` of each level are used."""
    last = len(on.quanta) - 1
    for i in range(last):
        first = max(on.ends[i], begins[i])
        if first < ends[i]:
            left, right = _up(row, on, s, i, first, ends[i], row)
            begins[i + 1], ends[i + 1] = min(begins[i + 1], left), max(ends[i + 1], right)
            row[on.at[i] + first : on.at[i] + ends[i]] = 0.0
            ends[i] = on.ends[i]
    at, end = on.at[last], on.ends[last]
    for k in range(max(end, begins[last]), ends[last]):
        row[at + end - 1] += row[at + k]
        row[at + k] = 0.0
        begins[last] = min(begins[last], end - 1)
    ends[last] = min(ends[last], end)
    for i in range(last, 0, -1):
        final = min(on.firsts[i], ends[i])
        if begins[i] < final:
            ratio = on.quanta[i] / on.quanta[i - 1]
            place = on.bases[i - 1] - on.bases[i] * ratio + (on.above[i, s] - on.above[i - 1, s]) / on.quanta[i - 1]
            low = row[on.at[i - 1] : on.at[i - 1] + on.widths[i - 1]]
            left, right = _pass(row[on.at[i] :], begins[i], final, place, ratio, low)
            begins[i - 1], ends[i - 1] = min(begins[i - 1], left), max(ends[i - 1], right)
            row[on.at[i] + begins[i] : on.at[i] + final] = 0.0
            begins[i] = on.firsts[i]


@part(nogil=True)
def _spread(own: Floats, on: Lattices, s: int, row: Floats, lower: Floats) -> None:
    """Write what an entry holds on all positions of its levels: of each, and with all that lies lower."""
    row[:] = 0.0
    for i in range(len(on.quanta)):
        size = on.ends[i] - on.firsts[i]
        begin = on.at[i] + on.firsts[i]
        for k in range(size):
            row[begin + k] = own[on.own[i] + k]
    for k in range(len(row)):
        lower[k] = row[k]
    for i in range(len(on.quanta) - 1):
        _up(lower, on, s, i, integer(0), on.ends[i], lower)


@kept(nogil=True)
def spread_out(vector: Floats, on: Lattices) -> tuple[Floats, Floats]:
    """Return what entries hold on all positions of their levels: of each level, and with all that lies lower."""
    size = on.at[-1] + on.widths[-1]
    rows, lower = np.empty((len(vector), size)), np.empty((len(vector), size))
    for s in range(len(vector)):
        _spread(vector[s], on, s, rows[s], lower[s])
    return rows, lower


@part(nogil=True)
def _lower(row: Floats, begins: Ints, ends: Ints, on: Lattices, s: int, levels: int, lower: Floats) -> None:
    """Write the same with all that lies lower, of the first levels, and between which positions."""
    for i in range(levels):
        at = on.at[i]
        lower[at : at + on.ends[i]] = 0.0
        for k in range(at + begins[0, i], at + ends[0, i]):
            lower[k] = row[k]
        begins[1, i], ends[1, i] = begins[0, i], ends[0, i]
        if i > 0:
            left, right = _up(lower, on, s, i - 1, begins[1, i - 1], ends[1, i - 1], lower)
            begins[1, i] = min(begins[1, i], left)
            ends[1, i] = min(max(ends[1, i], right), on.ends[i])


@part(nogil=True)
def hand_on(
    row: Floats, resting: float, begins: Ints, ends: Ints, s: int, on: Lattices, shifts: Shifts, landings: Landings,
    lower: Floats, new: Floats, rest: Floats, new_begins: Ints, new_ends: Ints,
) -> None:  # fmt: skip
    """Add to new rows where a step leads what an entry holds.

    Parameters
    ----------
    row : array
        What it holds on its own positions of all levels, and 0 elsewhere.
    resting : float
        What is at rest.
    begins, ends : (2, l) int arrays
        Between which positions of each level it holds anything; the second rows are for `lower`.
    lower : array
        To work with.
    new, rest : (E, n) and (E,) arrays
        Added to.
    new_begins, new_ends : (E, l) int arrays
        Between which positions of each level something was added.
    """
    levels = integer(1)
    for m in range(shifts.begins[s], shifts.begins[s + 1]):
        if shifts.lower[m]:
            levels = max(levels, shifts.levels[m] + 1)
    for f in range(landings.begins[s], landings.begins[s + 1]):
        levels = max(levels, landings.levels[f] + 1)
    _lower(row, begins, ends, on, s, levels, lower)
    for m in range(shifts.begins[s], shifts.begins[s + 1]):
        i, t = shifts.levels[m], shifts.targets[m]
        j = 1 if shifts.lower[m] else 0
        begin, end = max(shifts.floors[m], begins[j, i]), ends[j, i]
        if begin < end:
            held = lower if shifts.lower[m] else row
            taps = shifts.taps[shifts.taps_from[m] : shifts.taps_to[m]]
            first = begin + shifts.shifts[m]
            final = first + end - begin + len(taps) - 1
            at = on.at[i]
            convolve(held[at + begin : at + end], taps, new[t, at + first : at + final])
            new_begins[t, i], new_ends[t, i] = min(new_begins[t, i], first), max(new_ends[t, i], final)
    level, position, below = -1, 0, 0.0
    for f in range(landings.begins[s], landings.begins[s + 1]):
        i, floor = landings.levels[f], landings.floors[f]
        if floor < 0:
            mass = resting
        else:
            if i != level:
                level, position, below = i, 0, 0.0
            position = max(position, begins[1, i])
            while position < min(floor, ends[1, i]):
                below += lower[on.at[i] + position]
                position += 1
            mass = below
        if mass == 0.0:
            continue
        for m in range(landings.starts[f], landings.starts[f + 1]):
            i, t, first = landings.to_levels[m], landings.targets[m], landings.shifts[m]
            final = first + landings.taps_to[m] - landings.taps_from[m]
            for j in range(final - first):
                new[t, on.at[i] + first + j] += mass * landings.taps[landings.taps_from[m] + j]
            new_begins[t, i], new_ends[t, i] = min(new_begins[t, i], first), max(new_ends[t, i], final)
        for m in range(landings.rest_starts[f], landings.rest_starts[f + 1]):
            rest[landings.rest_targets[m]] += mass * landings.rest_weights[m]


@part(nogil=True)
def trim(row: Floats, begins: Ints, ends: Ints, on: Lattices) -> None:
    """Leave out what is negligible at the ends of each level."""
    for i in range(len(on.quanta)):
        begin, end, at = max(begins[i], 0), min(ends[i], on.ends[i]), on.at[i]
        while end > begin and abs(row[at + end - 1]) <= NEGLIGIBLE:
            end -= 1
        while begin < end and abs(row[at + begin]) <= NEGLIGIBLE:
            begin += 1
        begins[i], ends[i] = begin, end


@kept(nogil=True)
def step(vector: Floats, on: Lattices, shifts: Shifts, landings: Landings) -> Floats:
    """Return what a step makes of a vector: of each entry what is at rest, then the own positions of its levels."""
    E, L, size = len(vector), len(on.quanta), on.at[-1] + on.widths[-1]
    new, rest = np.zeros((E, size)), np.zeros(E)
    new_begins, new_ends = np.full((E, L), size), np.zeros((E, L), dtype=np.int64)
    row, lower = np.zeros(size), np.empty(size)
    begins, ends = np.empty((2, L), dtype=np.int64), np.empty((2, L), dtype=np.int64)
    for s in range(E):
        for i in range(L):
            begins[0, i], ends[0, i] = on.firsts[i], on.ends[i]
            begin, n = on.at[i] + on.firsts[i], on.ends[i] - on.firsts[i]
            for k in range(n):
                row[begin + k] = vector[s, on.own[i] + k]
        trim(row, begins[0], ends[0], on)
        hand_on(row, vector[s, 0], begins, ends, s, on, shifts, landings, lower, new, rest, new_begins, new_ends)
    found = np.empty_like(vector)
    for s in range(E):
        settle(new[s], new_begins[s], new_ends[s], on, s)
        found[s, 0] = rest[s]
        for i in range(L):
            begin, n = on.at[i] + on.firsts[i], on.ends[i] - on.firsts[i]
            for k in range(n):
                found[s, on.own[i] + k] = new[s, begin + k]
    return found


@kept(nogil=True)
def free_moves(
    rows: Floats, first: int, end: int, into: Floats, sources: Ints, targets: Ints, shifts: Ints, starts: Ints,
    taps: Floats, floors: Ints,
) -> None:  # fmt: skip
    """Add moves of positions ``first .. end - 1`` of rows, of each move from its floor on, to other rows."""
    for i in range(len(sources)):
        begin = max(first, floors[i])
        if begin < end:
            part = taps[starts[i] : starts[i + 1]]
            at = begin + shifts[i]
            convolve(rows[sources[i], begin:end], part, into[targets[i], at : at + end - begin + len(part) - 1])


@kept(nogil=True)
def below_floors(rows: Floats, sources: Ints, floors: Ints) -> Floats:
    """Return the mass below the floor of each move."""
    end = 0
    for i in range(len(floors)):
        end = max(end, floors[i])
    below = np.zeros((len(rows), end + 1))
    for s in range(len(rows)):
        for k in range(end):
            below[s, k + 1] = below[s, k] + rows[s, k]
    mass = np.empty(len(sources))
    for i in range(len(sources)):
        mass[i] = below[sources[i], floors[i]]
    return mass


@kept(nogil=True)
def resting_below(
    rows: Floats, sources: Ints, floors: Ints, highest: Floats, fall: Floats, quantum: float, above: Floats, base: int
) -> Floats:
    """Return the mass below the floor of each move, times the part of the way for which it is at rest.

    Position k of a row s is a backlog of ``(k - base) * quantum + above[s]``; what is `fall` below ``highest`` is at
    rest all the way.
    """
    resting = np.zeros(len(sources))
    for i in range(len(sources)):
        s = sources[i]
        for k in range(floors[i]):
            missing = highest[i] - ((k - base) * quantum + above[s])
            resting[i] += rows[s, k] * min(1.0, missing / fall[i])
    return resting
