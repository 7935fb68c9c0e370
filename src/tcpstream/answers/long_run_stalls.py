"""Stalls of a player of a live stream that skips and resumes with a buffer, in the long run."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..coarse.resolution import FACTOR
from ..path import Path
from ..playout.latency import Latency
from ..playout.skips import stands
from ..system.threads import on_cores
from .latency_lattices import Followed, followed

Floats = NDArray[np.float64]

QUANTA = 8
"""Generated in a round where packets do not fit; half as many for comparison."""

BEYOND = 64
"""Rounds of generation above the level at which the player stops, up to which backlogs are followed; half as many for
comparison."""

LEAST = 1e-3
"""Relative error that is stated at least."""


@dataclass(frozen=True)
class LongRunStalls:
    """Stalls per round, the part of the time in which playback stands, and by which part of themselves they may be off.

    Attributes
    ----------
    stalls, standing : float
    stalls_off, standing_off : float
    """

    stalls: float
    standing: float
    stalls_off: float
    standing_off: float

    @classmethod
    def of(cls, path: Path, packets_due: float, stop: float, resume: float) -> LongRunStalls:
        """Solve for a player.

        Parameters
        ----------
        path : Path
            Faster than the stream.
        packets_due : float
            m.
        stop, resume : float
            The largest backlogs [packets] with which it goes on, and resumes.

        Raises
        ------
        AccuracyError
            Where it takes too long.
        """
        fine, coarse = followed(path, packets_due, QUANTA)
        lattices = (fine, BEYOND), (coarse or fine, BEYOND // 2)
        cases = [(one.latency, *levels, most) for one, most in lattices for levels in _levels(one, stop, resume)]
        found = on_cores(lambda case: stands(*case), cases)
        off = max(one.off for one in found)
        rates = np.array([(one.stalls, one.standing) for one in found]).reshape(len(lattices), -1, 2)
        if fine.exact:  # each stall begins where its backlog passes a level, in the middle of a quantum
            rates[..., 1] -= rates[..., 0] * (stop - cases[0][1] * fine.quantum) / packets_due
        mean = rates.mean(axis=1)
        wrong = LEAST + off + np.abs(rates[0, -1] - rates[0, 0]) / 2 / mean[0]
        wrong = wrong + FACTOR * np.abs(mean[1] - mean[0]) / mean[0]
        return cls(float(mean[0, 0]), float(mean[0, 1]), float(wrong[0]), float(wrong[1]))


def _levels(one: Followed[Latency], stop: float, resume: float) -> list[tuple[int, int]]:
    """Return the levels on a lattice, or those on both sides of them."""
    places = one.place(np.array([stop, resume]))
    if one.exact:
        return [(int(places[0]), int(places[1]))]
    return [(math.floor(places[0]), math.floor(places[1])), (math.ceil(places[0]), math.ceil(places[1]))]
