"""Steps of a backlog until they turn back, of entries in an order in which most moves go on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept
from .backlog_moves import Landings, Lattices, Shifts, hand_on, settle, trim

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kept(nogil=True)
def until_turns(
    given: Floats, entries: Ints, turns: Ints, order: Ints, again: Ints, on: Lattices, shifts: Shifts,
    landings: Landings, new: Floats, steps: Floats,
) -> Floats:  # fmt: skip
    """Return what turns back of some rows, of rest and the own positions of levels.

    Parameters
    ----------
    given : (n, size) array
    entries : (n,) int array
        Of `given`.
    turns : (k,) int array
        Entries to which moves turn back.
    order : (E,) int array
        In which entries hand on what they hold, with what they got from those before them.
    again : (E,) int array
        How often each hands on what it has handed on to itself, before the rest of that turns back.
    new : (E, width) array
        Zeros, to work with; zeros again at the end.
    steps : (E, size) or (0, 0) array
        Zeros; becomes all steps together, if it is not empty.

    Returns
    -------
    (k, size) array
    """
    E, L, size = len(order), len(on.quanta), new.shape[1]
    number = np.full(E, -1)
    for i in range(len(entries)):
        number[entries[i]] = i
    rest = np.zeros(E)
    new_begins, new_ends = np.full((E, L), size), np.zeros((E, L), dtype=np.int64)
    row, lower = np.zeros(size), np.empty(size)
    begins, ends = np.empty((2, L), dtype=np.int64), np.empty((2, L), dtype=np.int64)
    for s in order:
        for times in range(1 + again[s]):
            settle(new[s], new_begins[s], new_ends[s], on, s)
            resting = rest[s]
            rest[s] = 0.0
            for i in range(L):  # what it holds is its own from now on, and new what will turn back
                at = on.at[i]
                begins[0, i], ends[0, i] = new_begins[s, i], new_ends[s, i]
                for k in range(begins[0, i], ends[0, i]):
                    row[at + k] = new[s, at + k]
                    new[s, at + k] = 0.0
                new_begins[s, i], new_ends[s, i] = size, 0
            if times == 0 and number[s] >= 0:
                held = given[number[s]]
                resting += held[0]
                for i in range(L):
                    begins[0, i], ends[0, i] = on.firsts[i], on.ends[i]
                    for k in range(on.ends[i] - on.firsts[i]):
                        row[on.at[i] + on.firsts[i] + k] += held[on.own[i] + k]
            if len(steps) > 0:
                steps[s, 0] += resting
                for i in range(L):
                    begin = on.at[i] + on.firsts[i]
                    for k in range(on.ends[i] - on.firsts[i]):
                        steps[s, on.own[i] + k] += row[begin + k]
            used = begins[0].copy(), ends[0].copy()
            trim(row, begins[0], ends[0], on)
            hand_on(row, resting, begins, ends, s, on, shifts, landings, lower, new, rest, new_begins, new_ends)
            for i in range(L):
                for k in range(used[0][i], used[1][i]):
                    row[on.at[i] + k] = 0.0
    found = np.zeros((len(turns), given.shape[1]))
    for m in range(len(turns)):
        s = turns[m]
        settle(new[s], new_begins[s], new_ends[s], on, s)
        found[m, 0] = rest[s]
        for i in range(L):
            begin, n = on.at[i] + on.firsts[i], on.ends[i] - on.firsts[i]
            for k in range(n):
                found[m, on.own[i] + k] = new[s, begin + k]
                new[s, begin + k] = 0.0
    return found


@kept(nogil=True)
def growth(
    held: Floats, entries: Ints, times: int, on: Lattices, shifts: Shifts, landings: Landings, new: Floats
) -> Floats:
    """Return by what factor a step changes what entries hand on to themselves of a vector, in the long run.

    Parameters
    ----------
    held : (size,) array
        Of each of them at first: rest, and the own positions of levels.
    entries : (n,) int array
    times : int
        Steps, the second half of which count.
    new : (E, width) array
        Zeros, to work with; zeros again at the end.

    Returns
    -------
    (n,) array
    """
    E, L, size = len(new), len(on.quanta), new.shape[1]
    rest = np.zeros(E)
    new_begins, new_ends = np.full((E, L), size), np.zeros((E, L), dtype=np.int64)
    row, lower = np.zeros(size), np.empty(size)
    begins, ends = np.empty((2, L), dtype=np.int64), np.empty((2, L), dtype=np.int64)
    found = np.zeros(len(entries))
    for n in range(len(entries)):
        s, before, resting = entries[n], 0.0, held[0]
        for i in range(L):
            begins[0, i], ends[0, i] = on.firsts[i], on.ends[i]
            for k in range(on.ends[i] - on.firsts[i]):
                row[on.at[i] + on.firsts[i] + k] = held[on.own[i] + k]
        for time in range(times):
            rest[s] = 0.0
            new_begins[s], new_ends[s] = size, 0
            trim(row, begins[0], ends[0], on)
            hand_on(row, resting, begins, ends, s, on, shifts, landings, lower, new, rest, new_begins, new_ends)
            settle(new[s], new_begins[s], new_ends[s], on, s)
            for k in range(size):
                row[k] = new[s, k]
                new[s, k] = 0.0
            for i in range(L):
                begins[0, i], ends[0, i] = new_begins[s, i], new_ends[s, i]
            resting = rest[s]
            if time == times // 2 - 1:
                before = np.abs(row).sum() + abs(resting)
        after = np.abs(row).sum() + abs(resting)
        found[n] = (after / before) ** (1 / (times - times // 2)) if before > 0 else 0.0
        row[:] = 0.0
    new[:] = 0.0
    return found
