"""How many frames of a live stream are late, and how many cannot be decoded, of a player that plays on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.judged_frames import Judged, Mass, late_frames
from ..system import watch
from .latency import Lattice

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-17
"""Mass at the ends of a row that is not followed."""

ROUNDING = 1e-12
"""Of fractions."""

NANOSECONDS, MOST_SECONDS = 3.0, 300.0
"""Of a product, about; and the time that a pass may take."""

SPREAD = 0.5
"""Of all packets that have mass at a time, about, at most."""

MOST_BYTES = 4 * 2**30
"""Memory that a pass may take."""

CHUNK = 3e8
"""Products between two looks at the watch."""


def judge(chain: Lattice, judged: Judged) -> Floats:
    """Return the fractions of frames that are late, and that cannot be decoded, and their numerical error.

    Parameters
    ----------
    chain : Lattice
        In packets.
    judged : Judged

    Returns
    -------
    (3,) ndarray

    Raises
    ------
    AccuracyError
        Where it takes too long, or too much memory.
    """
    rounds, packets, depths = len(judged.due) - 1, int(judged.exists[-1]), chain.depths
    rows = int(depths.sum())
    size = 16.0 * rows * packets
    products = max(1.0, SPREAD * packets * sum(len(one.target) for one in chain.moves))
    seconds = products * rounds * NANOSECONDS * 1e-9
    if size > MOST_BYTES or seconds > MOST_SECONDS:
        raise AccuracyError(
            f"{len(judged.needs):,} frames in {packets:,} packets would take about {seconds / 60:.2g} minutes and "
            f"{size / 2**30:.2g} GiB to follow, more than the limits of {MOST_SECONDS / 60:g} and "
            f"{MOST_BYTES / 2**30:g}: take {watch.SHORTER} or a lower bit rate"
        )
    mass = Mass(
        np.cumsum(depths) - depths, depths, np.zeros((2, rows, packets)),
        np.tile(np.array([packets, 0]), (2, rows, 1)), np.zeros(3),
    )  # fmt: skip
    first = mass.begins[chain.start]
    mass.rows[0, first, 0] = 1.0
    mass.spans[0, first] = 0, 1
    chunk = max(1, int(CHUNK / products))
    for begin in range(0, rounds, chunk):
        watch.at(begin, rounds, watch.SHORTER)
        late_frames(begin, min(begin + chunk, rounds), judged, chain.moves, mass, NEGLIGIBLE)
    late, lost = np.clip(mass.found[:2] / len(judged.needs), 0.0, 1.0)
    return np.array([late, lost, mass.found[2] + ROUNDING])
