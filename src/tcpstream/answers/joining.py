"""When playback begins, with some media held: solved at two finenesses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..coarse.resolution import FACTOR
from ..playout.deliveries import Deliveries
from ..playout.fineness import Fineness
from ..playout.player_moves import EXACT, MANY, quanta_of
from ..playout.sessions import join_times
from ..system.threads import on_cores

Floats = NDArray[np.float64]

FEWER = 128
"""Quanta of a start buffer until playback begins, about, where transitions are more than `MANY`; else `EXACT`."""


class Delivered(NamedTuple):
    """What a chain delivers, and how fine it is followed."""

    found: Deliveries
    on: Fineness


class JoinTimes(NamedTuple):
    """When playback begins.

    Attributes
    ----------
    chance : array
        That it does after 0, 1, 2, ... rounds.
    mean_error, error : float
        By how much the mean [rounds], and P(join time <= t), may be off.
    """

    chance: Floats
    mean_error: float
    error: float


def joined(
    fine: Delivered, coarse: Delivered, packets: float, starts: Sequence[float], lines_apart: bool
) -> list[JoinTimes]:  # fmt: skip
    """Return when playback begins.

    Parameters
    ----------
    fine, coarse : Delivered
        At two finenesses.
    packets, starts : float
        Of the whole video, and those with which playback begins.
    lines_apart : bool
        Whether lines of windows lie apart, as those of CUBIC.

    Raises
    ------
    AccuracyError
        Where it has not begun after a million rounds.
    """
    quanta = FEWER if len(fine.found.chance) > MANY else EXACT
    sizes = [1 if one <= quanta else int(2 ** round(math.log2(one / quanta))) for one in starts]
    groups = sorted(set(sizes), key=sizes.count, reverse=True)
    found = on_cores(
        lambda size: _of_size(
            fine, coarse, packets, [one for one, of in zip(starts, sizes) if of == size], size, lines_apart
        ),
        groups,
    )
    rows = {size: iter(laws) for size, laws in zip(groups, found)}
    return [next(rows[size]) for size in sizes]


def _of_size(
    fine: Delivered, coarse: Delivered, packets: float, starts: Sequence[float], size: int, lines_apart: bool
) -> list[JoinTimes]:  # fmt: skip
    """Return when playback begins, in quanta of so many packets, a power of two."""
    many = len(fine.found.chance) > MANY and size > 1

    def laws(one: Delivered, size: int) -> list[Floats]:
        lattice = one.on.by_packets(size, one.on.further if many else 0.0)
        return join_times(quanta_of(one.found, lattice), one.found.start, lattice, packets, starts)

    found = laws(fine, size)
    if size == 1 and fine.on.step == 1 and fine.found.states == coarse.found.states and not lines_apart:
        return [JoinTimes(law, 0.0, 0.0) for law in found]
    compared = []
    for law, rough in zip(found, laws(coarse, 2 * size if size > 1 else 1)):
        mean, most = _apart(law, rough)
        lost = 1 - float(law.sum()) if size > 1 else 0.0
        compared.append(JoinTimes(law, FACTOR * mean + lost * len(law), FACTOR * most + lost))
    return compared


def _apart(one: Floats, other: Floats) -> tuple[float, float]:
    """Return how far the means of two laws of 0, 1, 2, ... are apart, and their distributions at most."""
    longer = max(len(one), len(other))
    apart = np.cumsum(np.pad(one, (0, longer - len(one))) - np.pad(other, (0, longer - len(other))))
    return abs(float(apart.sum())), float(np.abs(apart).max())
