"""The first steps of a video, whose paths are told apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..kernels.propagate import propagate
from .in_moments import in_moments
from .merged import Merged
from .outcomes import Outcomes
from .steps import NEGLIGIBLE, Steps, projected

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BOXES, MOST_BOXES = 256, 1_000_000
"""By what arrives paths of the first steps are told apart, in so many boxes; these times states at most."""


CLASSES, MOST_CLASSES, MOST_PLACES = 48, 96, 80_000_000
"""Of least leads near to the start's, and the most of them; these times boxes and states, where they are more than the
fewest."""

NEAR, DIPS = 2.0, 8.0
"""Parts of a box, and of a factor of 2: paths that end within the same one, with least leads that lie as far below
their ends, or in the same part of a box where the start is nearer, are one. For wide paths boxes are larger, and a
least lead near the end is not told apart."""


@dataclass(frozen=True)
class Lossless:
    """The path on which nothing is lost in the first steps.

    Attributes
    ----------
    chance : float
    lead, least : float
        Over playback, at its end and at least, relative to the start's [packets].
    targets, weights : arrays
        Entries that stand for where it ends.
    """

    chance: float
    lead: float
    least: float
    targets: Ints
    weights: Floats


def behind(steps: Steps, most: int) -> int:
    """Return after how many rounds, `most` at most, playback is furthest ahead of the path on which nothing is lost."""
    known, state = in_moments(steps.chain).outcomes, steps.chain.first_state
    lead, least, found = 0.0, 0.0, 0
    for r in range(1, most + 1):
        o = _likeliest(known, state)
        lead += float(known.mean[o]) - steps.due
        if lead < least:
            least, found = lead, r
        state = int(known.to[o])
    return found


def opening(steps: Steps, count: int, box: float) -> tuple[Steps, Lossless]:
    """Return the moves from the start until the end of so many steps, followed as one, and apart the path alone.

    Lags count from the end of these steps; the source is row 0, which lies on the lattice as the start does.
    """
    known, on, step = in_moments(steps.chain).outcomes, steps.grid, steps.step
    chain, phases = steps.chain, np.unique(steps.times)
    first = chain.first_state
    rounds = step * count
    mean = steps.corrected(known.mean, known.rounds)
    ordered = steps.corrected(known.ordered, np.ones_like(known.rounds))
    boxes = max(2, min(BOXES, MOST_BOXES // known.n_states))
    classes = int(np.clip(MOST_PLACES // (boxes * known.n_states), CLASSES, MOST_CLASSES))
    state, packets, least, chance = first, 0.0, 0.0, 1.0
    for r in range(rounds):
        o = _likeliest(known, state)
        if known.rounds[o] != 1 or known.variance[o] > 0 or known.ordered[o] < known.mean[o]:
            chance = 0.0
        chance *= float(known.chance[o])
        packets += float(mean[o])
        least = min(least, packets - steps.due * (r + 1))
        state = int(known.to[o])
    landed, moments, _, _ = propagate(
        known.starts, known.to, known.rounds, known.chance, mean, known.variance * steps.scale**2, ordered,
        np.array([first]), np.zeros(1, dtype=np.int64), rounds, steps.due, NEGLIGIBLE,
        boxes, box, classes,
    )  # fmt: skip
    record = projected(on, phases, step, landed)
    number = np.full((len(on.states), step + 1), -1)
    number[steps.points, steps.times] = np.arange(steps.entries)
    which, target = record[0], number[record[1], record[2]]
    alone = np.flatnonzero((landed[:, 1] == state) & (landed[:, 2] == rounds))
    weights = moments[:, 0].copy()
    if len(alone):
        alone = alone[np.argmax(weights[alone])]
        chance = min(chance, float(weights[alone]))
        weights[alone] -= chance
    else:
        chance = 0.0
    seen = (target >= 0) & (weights[which] > 0)  # others are rare
    which, target, lag, weight = which[seen], target[seen], record[3][seen] - count + 1, record[4][seen]
    elapsed = landed[which, 2].astype(np.float64)
    change = moments[which, 1] - steps.due * elapsed
    wide = np.floor(np.log2(np.maximum(np.sqrt(moments[which, 2]) / box, 1.0)))
    dip = np.where((wide > 0) & (moments[which, 3] > change - box / 2), change, moments[which, 3])
    below = np.where(change - dip <= -dip, np.log2(1 + (change - dip) / box) * DIPS, -1 + dip * (NEAR / box))
    near = wide, np.rint(change * (NEAR / box) / 2**wide), np.rint(below)
    keys = np.column_stack([target, lag, weight > 0, *(one.astype(np.int64) for one in near)])
    merged = Merged(keys, weights[which] * weight)
    means = [merged.mean(one) for one in (moments[which, 1], change, dip, elapsed)]
    rest = replace(
        steps, source=np.zeros(len(merged.weight), dtype=np.int64), target=merged.keys[:, 0], lag=merged.keys[:, 1],
        weight=merged.weight, mean=means[0], variance=merged.variance(change, moments[which, 2]), least=means[2],
        elapsed=means[3],
    )  # fmt: skip
    at = slice(on.starts[state], on.starts[state + 1])
    targets = number[on.points[at], 0]
    return rest, Lossless(chance, packets - steps.due * rounds, least, targets, on.weights[at])


def _likeliest(known: Outcomes, state: int) -> int:
    """Return the likeliest outcome of a state: no loss."""
    begin, end = known.starts[state : state + 2]
    return int(begin + np.argmax(known.chance[begin:end]))
