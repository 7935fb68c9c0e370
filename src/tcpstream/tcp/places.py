"""What the states of a chain stand for, so that a path that changes finds the state of the new one.

A state is known by its kind, by the line that it lies on, and by the packets in flight, of which a bottleneck carries
a part in a round.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]


class Kind(IntEnum):
    """Kinds of states."""

    FIRST_SLOW_START = 0
    SLOW_START = 1
    """After a timeout."""
    REPAIR = 2
    EARLY_REPAIR = 3
    """Of a loss before the plateau of its line."""
    AVOIDANCE = 4
    EARLY_AVOIDANCE = 5
    FIRST_AVOIDANCE = 6
    """After no loss."""
    FRESH_AVOIDANCE = 7
    """After slow start."""


class Places(NamedTuple):
    """What each of S states stands for.

    Attributes
    ----------
    kind : (S,) int array
        See `Kind`.
    line : (S,) int array
        Window at the loss, or the threshold, that the line began with [packets]; 0 where there is one line.
    window : (S,) int array
        The sender's [packets].
    """

    kind: Ints
    line: Ints
    window: Ints

    @classmethod
    def of(cls, kind: ArrayLike, line: ArrayLike, window: ArrayLike) -> Places:
        """Return places of arrays, or of a value for all."""
        return cls(*(np.array(one, dtype=np.int64) for one in np.broadcast_arrays(kind, line, window)))

    def behind(self, others: Places) -> Places:
        """Return places with others before them."""
        return Places(*(np.append(*pair) for pair in zip(others, self)))


def carried(old: Places, new: Places) -> Ints:
    """Return the state of a new chain that takes over from each state of an old one.

    It is of the same kind, if there are any, on the line of the nearest window at a loss that is not larger, and has
    the nearest window that is not larger: the first state of the line, if all are. What has at least the largest window
    of the new chain is in the state of that, from which a buffer overflows. Of states with the same window the one is
    taken that has had it for as long.

    Parameters
    ----------
    old, new : Places
    """
    top, most = len(new.window) - 1, int(new.window[-1])
    ages, found = _ages(old), np.empty(len(old.window), dtype=np.int64)
    lines: dict[tuple[int, int], Ints] = {}
    for kind in np.unique(new.kind).tolist():
        for line in np.unique(new.line[new.kind == kind]).tolist():
            lines[kind, line] = np.flatnonzero((new.kind == kind) & (new.line == line))
    starts = {kind: np.array(sorted(line for one, line in lines if one == kind)) for kind, _ in lines}
    for s, (kind, line, window, age) in enumerate(zip(*(one.tolist() for one in (*old, ages)))):
        known = kind if kind in starts else int(Kind.AVOIDANCE)
        begins = starts[known]
        at = begins[max(int(np.searchsorted(begins, line, "right")) - 1, 0)]
        found[s] = _nearest(lines[known, int(at)], new.window, window, age)
        if kind >= Kind.AVOIDANCE and (window > most or (window == most > new.window[found[s]])):
            found[s] = top
    return found


def _nearest(line: Ints, windows: Ints, window: int, age: int) -> int:
    """Return the state of a line with the nearest window that is not larger, and of an age."""
    below = int(np.searchsorted(windows[line], window, "right"))
    if below == 0:
        return int(line[0])
    same = windows[line[below - 1]]
    first = int(np.searchsorted(windows[line], same, "left"))
    return int(line[min(first + age, below - 1) if same == window else below - 1])


def _ages(places: Places) -> Ints:
    """Return how many states before each one on its line have its window."""
    s = np.arange(len(places.window))
    begins = np.append(True, np.any([one[1:] != one[:-1] for one in places], axis=0))
    return np.asarray(s - np.maximum.accumulate(np.where(begins, s, 0)))
