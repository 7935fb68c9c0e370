"""Whether what TCP delivers stays between two curves: what there is to send, and what is due."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.between_curves import Curves, Mass, between_curves
from ..kernels.latency_passes import Moves
from ..system import watch

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEGLIGIBLE = 1e-17
"""Mass at the ends of a row that is not followed."""

LOST = 1e-11
"""Probability that may be left to be lost."""

SETTLED = 3e-3
"""By which part of itself the hazard of a whole video may be off where the rest is not followed."""

MEMORIES = 3.0
"""Times that the backlog remembers before that."""

FORGOTTEN = 10.0
"""The same at which it is usually so, about."""

LATER = 4
"""After which part of the rounds they are looked at again."""

NANOSECONDS, MOST_SECONDS = 1.0, 120.0
"""Of a product in a pass, about; and the time that it may take."""

MOST_BYTES = 4 * 2**30
"""Memory that a pass may take."""

CHUNK = 3e8
"""Products between two looks at the watch."""


@dataclass(frozen=True, eq=False)
class InTime:
    """A chain on a lattice that has to deliver in time.

    Attributes
    ----------
    moves : Moves
    depths : (S,) int array
        Rounds of which mass is kept, by state.
    start : int
        State in which a video begins.
    safe : int
        Quanta of lead more than that of the start, from which on nothing is lost any more.
    memory : float
        Rounds in which a lead forgets, about; infinite where TCP is slower than the video.
    """

    moves: Moves
    depths: Ints
    start: int
    safe: int
    memory: float

    def lost(self, curves: Curves, *, parallel: bool | None) -> tuple[float, float]:
        """Return minus the logarithm of the probability that nothing is late, and its error.

        Parameters
        ----------
        curves : Curves
        parallel : bool or None
            Whether they are straight lines, but for their ends, that never part; None where they are no such lines, so
            that all of them is followed.

        Raises
        ------
        AccuracyError
            Where it takes too long, or too much memory.
        """
        rounds, begin = curves.rounds, -int(curves.due[0])
        mass = self._mass(begin, max(begin, min(begin + self.safe, int((curves.exists - curves.due).max()))))
        products = float(sum(len(one.target) for one in self.moves)) * mass.rows.shape[1]
        reached = begin / max(1, int(curves.due[rounds] - curves.due[0]) / rounds)
        usual = rounds if parallel is None else min(rounds, reached + FORGOTTEN * self.memory)
        _check(products * usual, rounds)
        chunk, look, known = max(1, int(CHUNK / products)), max(1, math.ceil(reached)), 0
        looked: list[tuple[int, float]] = []
        while known < rounds:
            until = min(rounds, look, known + chunk)
            watch.at(known, rounds, watch.SHORTER)
            between_curves(known, until, curves, self.moves, mass, NEGLIGIBLE)
            known = until
            left = max(float(mass.rows.sum()), 0.0)
            if left <= LOST:
                break
            if known == look:
                look += max(1, look // LATER)
                looked.append((known, _hazard(mass.away[0], left + mass.away[1])))
                if parallel is not None and known > reached + MEMORIES * self.memory:
                    more, off = _rest(looked[-3:], rounds, reached, parallel)
                    if off <= SETTLED * (looked[-1][1] + more):
                        return looked[-1][1] + more, off + float(mass.away[2])
        alive = max(left if known < rounds else 0.0, 0.0) + float(mass.away[1])
        return _hazard(float(mass.away[0]), alive), float(mass.away[2]) + LOST

    def _mass(self, begin: int, top: int) -> Mass:
        """Return all mass in the state of the start, with so much of a lead, and room for so much."""
        size = 8 * int(self.depths.sum()) * (top + 1)
        if size > MOST_BYTES:
            raise AccuracyError(
                f"a player would take {size / 2**30:.3g} GiB of memory to follow, more than the limit of "
                f"{MOST_BYTES / 2**30:g}: take a shorter video, a lower rate or a smaller max_window"
            )
        begins = np.cumsum(self.depths) - self.depths
        rows = np.zeros((int(self.depths.sum()), top + 1))
        spans = np.tile(np.array([top + 1, 0]), (len(rows), 1))
        rows[begins[self.start], begin] = 1.0
        spans[begins[self.start]] = begin, begin + 1
        return Mass(begins, self.depths, rows, spans, np.zeros(3))


def _hazard(lost: float, alive: float) -> float:
    """Return minus the logarithm of what is not lost."""
    if lost <= 0.5:
        return -math.log1p(-max(lost, 0.0))
    return -math.log(alive) if alive > 0 else math.inf


def _rest(looked: list[tuple[int, float]], rounds: int, reached: float, parallel: bool) -> tuple[float, float]:
    """Return what is lost from the last of three looks on, and its error.

    Between parallel lines the hazard of a round settles; but near the end, when all there is has been sent, it is less:
    as if for the lead of the start. Between lines that part it falls, by an uneven part each round.
    """
    if len(looked) < 3:
        return 0.0, math.inf
    (first, a), (second, b), (third, c) = looked
    if not math.isfinite(c):
        return 0.0, math.inf
    before, now, left = (b - a) / (second - first), (c - b) / (third - second), rounds - third
    if parallel:
        return now * left, abs(now - before) * left + now * min(reached, left)
    most = max(now, before) * left
    return most / 2, most / 2 if now > 0 else math.inf


def _check(products: float, rounds: int) -> None:
    """Raise `AccuracyError` for a pass of too many products."""
    seconds = products * NANOSECONDS * 1e-9
    if seconds > MOST_SECONDS:
        raise AccuracyError(
            f"a player would be followed through {rounds:,} round trips, again and again, each time for about "
            f"{seconds / 60:.2g} minutes, more than the limit of {MOST_SECONDS / 60:g}: take {watch.SHORTER} or a "
            "lower rate"
        )
