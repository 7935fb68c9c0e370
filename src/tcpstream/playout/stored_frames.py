"""How many frames of a stored video are late, and how many cannot be decoded, of a player that plays on.

All mass is followed; beside it, from the begin of each group of pictures, what has had no late frame of the group: a
frame can be decoded with the probability that is left of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.judged_frames import Judged
from ..numerics.measure import Measure
from ..system import watch
from ..tcp import Chain
from ..transient.backlogged import Backlogged
from ..transient.boundary import Boundary
from ..transient.select import backlogged

Floats = NDArray[np.float64]

NOTHING = 1e-15
"""Probability of a late frame that is left out, and counted as an error."""

ROUNDING = 1e-12
"""Of fractions."""


def judge_stored(chain: Chain, judged: Judged) -> Floats:
    """Return the fractions of frames that are late, and that cannot be decoded, and their error.

    Parameters
    ----------
    chain : Chain
    judged : Judged
        All that it has to send exists.

    Returns
    -------
    (3,) ndarray
    """
    rounds, frames = len(judged.due) - 1, len(judged.needs)
    everything = backlogged(chain, int(judged.exists[-1]))
    group: Backlogged | None = None  # None while nothing is late for sure
    late, lost, alive, off, left_out = 0.0, 0.0, 1.0, 0.0, 0.0
    for i in range(1, rounds + 1):
        watch.at(i - 1, rounds, watch.SHORTER)
        due = range(judged.due[i - 1], judged.due[i])
        if everything.exhausted:
            rest = int(judged.left[due.start])
            lost += (1 - alive) * rest
            break
        before = everything.fork() if due else None
        everything.step()
        missing = _below(everything.distribution(), judged.needs[due.start : due.stop])
        late += float(missing.sum())
        latest: Backlogged | None = None
        for f, chance in zip(due, missing.tolist()):
            if judged.left[f] == 0:  # a group begins
                group, latest, alive = None, None, 1.0
            if chance > NOTHING:
                source = group or before
                assert source is not None
                latest = source.fork() if f + 1 < due.stop else source
                latest.step(Boundary(int(judged.needs[f])))
                alive = min(latest.survivors(), 1.0)
            else:
                left_out += chance
            lost += 1 - alive
        if latest is not None:
            group = latest
        elif group is not None:
            group.step(Boundary(group.floor))
        off = max(off, group.unaccounted if group is not None else 0.0)
    return np.array([late / frames, lost / frames, off + left_out + everything.unaccounted + ROUNDING])


def _below(measure: Measure, positions: NDArray[np.int64]) -> Floats:
    """Return the mass of a measure below some positions."""
    sums = np.append(0.0, np.cumsum(measure.mass))
    below: Floats = sums[np.clip(positions - measure.origin, 0, len(measure.mass))]
    return np.maximum(below, 0.0)
