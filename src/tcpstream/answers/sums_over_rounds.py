"""Sums over the rounds of a video, from some of them, and when they end."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..coarse.law import Law
from ..coarse.long_law import LongLaw
from ..coarse.transformed_law import TransformedLaw

Floats = NDArray[np.float64]

AnyLaw = Law | TransformedLaw | LongLaw
"""Of the packets delivered: on a lattice, by its transform, by one mode."""

REST = 1e-4
"""What is still to come, relative to all, where it is left out."""


def ends(total: float, part: float, before: float, least: float) -> bool:
    """Return whether what a sum still lacks is negligible, or below `least`: as much as a geometric series has.

    Parameters
    ----------
    total, part, before : float
        The sum so far, its last part and the one before.
    least : float
    """
    return part * part <= max(REST * total, least) * (before - part)


def sampled(law: AnyLaw, begin: float, end: float, m: float, tau: float, last: int) -> float:
    """Return the mean number of late packets between two rounds, from the ends of steps.

    Half a round after the last one it is as in the last one: what is due has a kink there.
    """
    law.until(end)
    bounds, h = [begin, *([float(last)] if begin < last < end else []), end], law.step
    late = 0.0
    for first, until in pairwise(bounds):
        ends = np.arange(math.ceil(first / h + 1e-9), math.floor(until / h - 1e-9) + 1) * float(h)
        t: Floats = np.concatenate([[first], ends, [until]])
        top = m * np.maximum(np.minimum(t, last) - tau, 0.0)
        late += _integral(t, law.missing(t, top) - law.missing(t, np.maximum(top - m, 0.0)))
    return late


def of_the_last(law: AnyLaw, judged: int, begin: float, packets: float) -> float:
    """Return the mean number of late packets of a last round in which less is due than in others."""
    rounds: Floats = np.full(2, float(judged))
    law.until(float(judged))
    less, more = law.missing(rounds, np.array([begin, packets]))
    return float(more - less)


def _integral(t: Floats, g: Floats) -> float:
    """Return the integral of a smooth function from its values at some times."""
    if len(t) < 2:
        return 0.0
    h = np.diff(t)
    plain = float((h * (g[1:] + g[:-1]) / 2).sum())
    if len(t) < 4:
        return plain
    slope = np.gradient(g, t)
    return plain - float((h**2 * np.diff(slope)).sum()) / 12
