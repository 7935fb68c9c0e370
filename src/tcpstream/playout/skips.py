"""How often a player of a live stream stands that skips, and for how long, in the long run."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.skip_passes import Levels, Skipping, back_while_skipping
from ..system import watch
from .latency import Latency

Floats = NDArray[np.float64]

LOOKS, FIRST = 3, 2.0
"""Looks in the time in which the backlog forgets, and such times before the first."""

SETTLED = 1e-3
"""Relative change between two looks at which a rate is that of the long run."""

MOST = 60
"""Times in which the backlog forgets that are followed."""

NANOSECONDS, MOST_SECONDS = 2.0, 300.0
"""Of a product in a pass, about; and the time that it may take."""

CHUNK = 5e7
"""Products between two looks at the watch."""


@dataclass(frozen=True)
class Stands:
    """How a player stands in the long run.

    Attributes
    ----------
    stalls, standing : float
        Stalls, and rounds in which it stands, per round.
    off : float
        By which part of themselves they may still change.
    """

    stalls: float
    standing: float
    off: float


def stands(latency: Latency, stop: int, resume: int, beyond: int) -> Stands:
    """Solve for the long run.

    Parameters
    ----------
    latency : Latency
        Of which TCP is faster than the stream.
    stop, resume : int
        The largest backlogs [quanta] with which a player goes on, and resumes; the latter is not larger.
    beyond : int
        Rounds of generation above the first one, up to which backlogs are followed; from there on they drain evenly.

    Raises
    ------
    AccuracyError
        Where it takes too long.
    """
    due, top = latency.due, stop + beyond * latency.due
    depths = latency.depths
    on = Levels(due, stop, resume, latency.drains)
    rows = np.zeros((int(depths.sum()), 2, 2, top + 1))
    values = Skipping(np.cumsum(depths) - depths, depths, rows)
    products = float(top * sum(len(one.target) for one in latency.moves))
    every = max(1, math.ceil((latency.memory + stop / due) / LOOKS))
    seconds = products * NANOSECONDS * 1e-9 * every * LOOKS * 4
    if seconds > MOST_SECONDS:
        raise AccuracyError(
            f"a player that skips would take about {seconds / 60:.2g} minutes to follow, more than the limit of "
            f"{MOST_SECONDS / 60:g}: take a shorter startup delay, a smaller max_window or a lower rate"
        )
    most, known, chunk = LOOKS * MOST * every, 0, max(1, int(CHUNK / products))
    found = np.zeros((most + 1, 2))
    rates = [np.zeros(2), np.zeros(2)]
    while known < most:
        look = known + every
        while known < look:
            until = min(look, known + chunk)
            watch.at(instead=watch.SMALLER)
            back_while_skipping(known, until, on, latency.moves, values, latency.start, found)
            known = until
        rates.append(found[known] - found[known - 1])
        change, before = np.abs(rates[-1] - rates[-2]), np.abs(rates[-2] - rates[-3])
        slower = (change <= np.maximum(before, SETTLED**2 * rates[-1])).all()
        if known > FIRST * (latency.memory + stop / due) and (rates[-1] > 0).all() and slower:
            off = float((change / rates[-1]).max())
            if off <= SETTLED:
                return Stands(float(rates[-1][0]), float(rates[-1][1]), off)
    raise AccuracyError(f"how often a player stands does not settle in {most:,} round trips: take a lower rate")
