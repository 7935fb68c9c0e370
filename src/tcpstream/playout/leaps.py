"""Places of a video that are not followed: far from its end, what a player sees changes evenly from place to place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..kernels.buffer_leads import points_below
from ..kernels.buffer_state import Known
from .pauses import Pausing

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PATTERNS = ((0.0, 0.0, 0.0, 0.0, 2.5, 11.0), (0.0, 0.0, 0.3, 4.5), (0.0, 0.0, 2.8))
"""Leaps after each of some stretches of places, in stretches; the first pattern that fits between two fills is taken.
"""

LITTLE = 1e-9
"""Of what a player sees that holds nearly all of the rest of a video: then it matters no more how long that is."""


def followed(last: float, sparse: int, least: float) -> float:
    """Return how many places up to the last one are followed, about; parameters as for `Leaps`."""
    count, place = 0.0, 1.0
    while place < last:
        gap = min(max(1.0, place // sparse), last - place)
        pattern = _pattern(gap, least)
        count += gap * len(pattern) / (len(pattern) + sum(pattern)) if pattern else gap
        place += gap
    return count


def _pattern(gap: float, least: float) -> tuple[float, ...]:
    """Return the leaps over so many places: none where these are too few."""
    return next((one for one in PATTERNS if gap >= least * (len(one) + sum(one))), ())


class Leaps:
    """Leaps over places between two fills.

    In a leap each place changes what is seen by as much as one of the stretch before it does, on average. What fades by
    a factor ν in a stretch is multiplied by ν if no leap follows, and by (1 + r) ν - r with one of r stretches, where
    it should be by ν^(1 + r). Over a whole pattern the product is at most 1/4 off for each ν between 0 and 1, and at
    most 1/4 for complex ones of that size, so that all that should fade does, from fill to fill. Stretches before leaps
    are those of projective integration (Gear and Kevrekidis, SIAM J. Sci. Comput. 24, 2003), and leaps of unlike
    lengths those of super time stepping (Alexiades, Amiez and Gremaud, Commun. Numer. Methods Eng. 12, 1996).

    Parameters
    ----------
    known : Known
    base : array
        What is seen where nothing stalls any more.
    fills : (f,) int array
        Places between which leaps lie, increasing.
    least : float
        Places of a stretch at least.
    pausing : Pausing, optional
        Of a player that holds no more than so much.
    """

    def __init__(self, known: Known, base: Floats, fills: Ints, least: float, pausing: Pausing | None = None) -> None:
        self._known, self._base, self._fills, self._least = known, base, fills, least
        self._pausing = pausing
        self._begun = False

    def until(self, at: int, goal: int) -> int:
        """Return the last place, `goal` or before it, before the next fill after place `at` - 1."""
        if at == 0:
            return 0
        following = int(self._fills[np.searchsorted(self._fills, at - 1, "right")])
        return min(goal, max(at, following - 1))

    def over(self, at: int, until: int, follow: Callable[[int, int], None]) -> bool:
        """Follow some of the places from `at` to `until`, leap over the others, and return whether that is possible."""
        many = until - at + 1
        pattern = _pattern(many, self._least)
        if not pattern or not self._far(at - 1):
            return False
        stretch = int(many / (len(pattern) + sum(pattern)))
        for number, leap in enumerate(pattern):
            last = number == len(pattern) - 1
            before = self._now(at - 1).copy() if leap > 0 else None
            follow(at, at + stretch - 1)
            at += stretch
            if before is not None:
                beyond = until - at + 1 if last else int(leap * stretch)
                self._leap(at - 1, beyond, (self._now(at - 1) - before) / stretch)
                at += beyond
        return True

    def _now(self, place: int) -> Floats:
        play: Floats = self._known.play[place % len(self._known.play)]
        return play

    def _far(self, place: int) -> bool:
        """Return whether who holds nearly all of the rest of the video at a place sees no stall."""
        if not self._begun:
            known = self._known
            points = points_below(place * known.round, known.play.shape[2], known.leads)
            left = np.abs(self._now(place)[:, points - 1] - self._base).max() if points else np.inf
            self._begun = points == known.play.shape[2] or bool(left < LITTLE)
        return self._begun

    def _leap(self, place: int, beyond: int, change: Floats) -> None:
        """Set the values up to so many places beyond one, to which each adds a change."""
        known, now = self._known, self._now(place).copy()
        known.before[place + 1 : place + beyond + 1] = known.before[place]
        for more in range(max(beyond - len(known.play), 0) + 1, beyond + 1):
            self._now(place + more)[:] = now + more * change
        if self._pausing is not None:
            self._pausing.leap(place, beyond, now, change)
        for state in np.flatnonzero(known.slot >= 0).tolist():
            first, depth = int(known.first[known.slot[state]]), int(known.depth[known.slot[state]])
            for more in range(max(beyond - depth, 0) + 1, beyond + 1):
                known.long[first + (place + more) % depth] = now[state] + more * change[state]
