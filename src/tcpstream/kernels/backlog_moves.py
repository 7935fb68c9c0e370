"""One step of a backlog on a ladder of lattices: moves, and what passes from one lattice to the next."""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
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
    """Where what lies below a floor ends: entry s has floors ``begins[s] .. begins[s + 1] - 1``.

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


@numba.njit(nogil=True)
def _weights(t: float) -> tuple[float, float, float, float]:
    """Return how the points -1, 0, 1 and 2 stand for 0 <= t < 1."""
    a, b, c, d = t + 1, t, t - 1, t - 2
    return -b * c * d / 6, a * c * d / 2, -a * b * d / 2, a * b * c / 6


@numba.njit(nogil=True)
def _pass(low: Floats, first: int, end: int, place: float, stride: float, high: Floats) -> None:
    """Add positions ``first .. end - 1`` to another level, where position k lies at ``place + k * stride``."""
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


@numba.njit(nogil=True)
def _up(row: Floats, on: Lattices, s: int, i: int, first: int, end: int, into: Floats) -> None:
    """Add positions of level i of a row to the next level of another one."""
    ratio = on.quanta[i] / on.quanta[i + 1]
    place = on.bases[i + 1] - on.bases[i] * ratio + (on.above[i, s] - on.above[i + 1, s]) / on.quanta[i + 1]
    _pass(row[on.at[i] :], first, end, place, ratio, into[on.at[i + 1] : on.at[i + 1] + on.widths[i + 1]])


@numba.njit(nogil=True)
def _settle(row: Floats, on: Lattices, s: int) -> None:
    """Pass what lies on no own position of a level to its neighbour."""
    last = len(on.quanta) - 1
    for i in range(last):
        _up(row, on, s, i, on.ends[i], on.widths[i], row)
        row[on.at[i] + on.ends[i] : on.at[i] + on.widths[i]] = 0.0
    end, width = on.at[last] + on.ends[last], on.at[last] + on.widths[last]
    row[end - 1] += row[end:width].sum()
    row[end:width] = 0.0
    for i in range(last, 0, -1):
        ratio = on.quanta[i] / on.quanta[i - 1]
        place = on.bases[i - 1] - on.bases[i] * ratio + (on.above[i, s] - on.above[i - 1, s]) / on.quanta[i - 1]
        low = row[on.at[i - 1] : on.at[i - 1] + on.widths[i - 1]]
        _pass(row[on.at[i] :], 0, on.firsts[i], place, ratio, low)
        row[on.at[i] : on.at[i] + on.firsts[i]] = 0.0


@numba.njit(nogil=True)
def _spread(own: Floats, on: Lattices, s: int, row: Floats, lower: Floats) -> None:
    """Write what an entry holds on all positions of its levels: of each, and with all that lies lower."""
    row[:] = 0.0
    for i in range(len(on.quanta)):
        size = on.ends[i] - on.firsts[i]
        begin = on.at[i] + on.firsts[i]
        row[begin : begin + size] = own[on.own[i] : on.own[i] + size]
    lower[:] = row
    for i in range(len(on.quanta) - 1):
        _up(lower, on, s, i, 0, on.ends[i], lower)


@kept(nogil=True)
def spread_out(vector: Floats, on: Lattices) -> tuple[Floats, Floats]:
    """Return what entries hold on all positions of their levels: of each level, and with all that lies lower."""
    size = on.at[-1] + on.widths[-1]
    rows, lower = np.empty((len(vector), size)), np.empty((len(vector), size))
    for s in range(len(vector)):
        _spread(vector[s], on, s, rows[s], lower[s])
    return rows, lower


@kept(nogil=True)
def move_on(vector: Floats, order: Ints, in_turn: bool, on: Lattices, shifts: Shifts, landings: Landings) -> Floats:
    """Return what a step makes of a vector, of which each entry has a row: rest, then the own positions of its levels.

    Entries hand on what they hold in some order; `in_turn` together with what they just got from those before them,
    which is written to the vector. Then what comes to those after them has already moved on.
    """
    size = on.at[-1] + on.widths[-1]
    new, rest = np.zeros((len(vector), size)), np.zeros(len(vector))
    row, lower, below = np.empty(size), np.empty(size), np.empty(size + len(on.quanta))
    for s in order:
        own = vector[s]
        if in_turn:
            _settle(new[s], on, s)
            own[0] += rest[s]
            rest[s] = 0.0
            for i in range(len(on.quanta)):
                for k in range(on.ends[i] - on.firsts[i]):
                    own[on.own[i] + k] += new[s, on.at[i] + on.firsts[i] + k]
            new[s] = 0.0
        _spread(own, on, s, row, lower)
        for m in range(shifts.begins[s], shifts.begins[s + 1]):
            i = shifts.levels[m]
            at = on.at[i]
            held = lower if shifts.lower[m] else row
            begin = shifts.floors[m] if shifts.lower[m] else max(shifts.floors[m], on.firsts[i])
            if begin < on.ends[i]:
                taps = shifts.taps[shifts.taps_from[m] : shifts.taps_to[m]]
                to, n = at + begin + shifts.shifts[m], on.ends[i] - begin
                convolve(held[at + begin : at + on.ends[i]], taps, new[shifts.targets[m], to : to + n + len(taps) - 1])
        for i in range(len(on.quanta)):
            mass = 0.0
            for k in range(on.at[i], on.at[i] + on.ends[i]):
                below[k + i] = mass
                mass += lower[k]
            below[on.at[i] + on.ends[i] + i] = mass
        for f in range(landings.begins[s], landings.begins[s + 1]):
            i = landings.levels[f]
            mass = own[0] + below[on.at[i] + landings.floors[f] + i]
            if mass == 0.0:
                continue
            for m in range(landings.starts[f], landings.starts[f + 1]):
                to = on.at[landings.to_levels[m]] + landings.shifts[m]
                for j in range(landings.taps_from[m], landings.taps_to[m]):
                    new[landings.targets[m], to] += mass * landings.taps[j]
                    to += 1
            for m in range(landings.rest_starts[f], landings.rest_starts[f + 1]):
                rest[landings.rest_targets[m]] += mass * landings.rest_weights[m]
    found = np.empty_like(vector)
    for s in range(len(vector)):
        _settle(new[s], on, s)
        found[s, 0] = rest[s]
        for i in range(len(on.quanta)):
            begin = on.at[i] + on.firsts[i]
            found[s, on.own[i] : on.own[i] + on.ends[i] - on.firsts[i]] = new[s, begin : on.at[i] + on.ends[i]]
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
