"""Whether more video before a place makes a difference to what a player sees."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..kernels.buffer_leads import points_below
from ..kernels.buffer_state import Known, Measures

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SETTLED, NOTHING, LATER, LARGEST = 1e-4, 1e-11, 4, 0.9
"""How much of E[N] and E[S], and how much at all, the first part of a long video may change that is not followed; after
which part of a video they are looked at again; and by which factor the change is taken to get less then, at most."""


class Settling:
    """Whether more video before a place makes a difference: TCP that is faster than the video runs away from stalls.

    E[N] and E[S] are looked at where the video is a quarter as long again each time. What they change by from each lead
    is compared with what they do from the largest one, which `Sessions.slack` tells: where no other changes by more, it
    is the only reason for any stall that is left, at a `pace` from place to place. Where leads are whole packets, at
    the pace of the last change the rest of the video may change them by `SETTLED` of what they are with the largest
    start buffer. Elsewhere each may change by so much of itself, and changes get less by the same factor from look to
    look. With a function `of` its values are looked at, where those themselves do not add up.
    """

    def __init__(
        self, known: Known, last: int, start: int, goals: Sequence[int], rounds: int, exact: bool, asked: Measures,
        places: Ints, of: Callable[[Floats], Floats] | None = None,
    ) -> None:  # fmt: skip
        self._of = of
        self._play, self._last, self._start, self._exact = known.play, last, start, exact
        self._places = places
        self._before, self._changed, self._gap = np.empty(0), np.empty(0), 1
        self._sums = np.flatnonzero(asked.stalled_more.any(axis=0))
        self._points = [points_below(goal + 1, known.play.shape[2], known.leads) - 1 for goal in goals]
        self.look, self.over, self.pace = self._place(max(4, rounds + 1)), False, 0.0
        self.left, self._rates = np.zeros((len(goals), len(asked.base))), -np.log(asked.waited[1])

    def at(self, place: int) -> None:
        """Look at the values of a place, where it is time."""
        if place != self.look:
            return
        now = self._play[place % len(self._play)][:, :, self._sums]
        now = now if self._of is None else self._of(now)
        if len(self._before):
            change = now - self._before
            changed, self.pace = np.abs(change - change[self._start, -1]), float(change[self._start, -1, 0]) / self._gap
            left = changed / (place / LATER) * (self._last - place)
            if self._exact:
                left, least = left.max(axis=(0, 1), keepdims=True), now[self._start, max(self._points)]
            else:
                least = np.maximum(np.abs(now), np.abs(now[:, [max(self._points)]]))
                if len(self._changed):
                    factor = np.minimum(changed / np.maximum(self._changed, 1e-300), LARGEST)
                    left = np.minimum(left, changed * factor / (1 - factor))
            self.over = bool((left <= NOTHING + SETTLED * least).all())
            self._changed = changed
            if self.over:
                self._leave(left)
        self._before, self.look = now, self._place(place + place // LATER)
        self._gap = self.look - place

    def _place(self, least: int) -> int:
        """Return the first place, of those that are looked at, from one on."""
        return int(self._places[min(int(np.searchsorted(self._places, least)), len(self._places) - 1)])

    def _leave(self, left: Floats) -> None:
        """Set what each start buffer may still change by, from that of E[N] and E[S] by state and point."""
        for row, point in zip(self.left, self._points):
            most = left[:, min(point, left.shape[1] - 1)].max(axis=0)
            row[:] = np.minimum(most[0], np.where(self._rates > 0, self._rates * most[1], math.inf))
            row[self._sums] = most  # no probability changes by more than E[N], and E[f^S] by log(1/f) E[S]
