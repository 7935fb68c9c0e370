"""Rows moved by a distance each and added up, and the way back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept


def gather(
    rows: NDArray[np.float64], shifts: NDArray[np.float64], steps_per_packet: int, total: NDArray[np.float64]
) -> None:
    """Add up the rows, each moved up by its shift.

    A shift between two multiples of `steps_per_packet` is shared between them. What lies below 0 is lost, what lies
    past the last position stays there.

    Parameters
    ----------
    rows : (H, n) array
    shifts : (H,) array
        Of any sign [positions].
    steps_per_packet : int
    total : (n,) array
        Overwritten.
    """
    total[:] = 0.0
    for h in range(len(rows)):
        low = int(np.floor(shifts[h] / steps_per_packet))
        share = shifts[h] / steps_per_packet - low
        put(total, rows[h], low * steps_per_packet, 1.0 - share)
        put(total, rows[h], (low + 1) * steps_per_packet, share)


def scatter(
    total: NDArray[np.float64],
    weights: NDArray[np.float64],
    shifts: NDArray[np.float64],
    steps_per_packet: int,
    rows: NDArray[np.float64],
) -> None:
    """Add to each row its share of `total`, moved up by its shift as in `gather`.

    Parameters
    ----------
    total : (n,) array
    weights, shifts : (H,) arrays
        Share and shift of each row.
    steps_per_packet : int
    rows : (H, n) array
        Added to.
    """
    for h in range(len(rows)):
        low = int(np.floor(shifts[h] / steps_per_packet))
        share = shifts[h] / steps_per_packet - low
        put(rows[h], total, low * steps_per_packet, weights[h] * (1.0 - share))
        put(rows[h], total, (low + 1) * steps_per_packet, weights[h] * share)


@kept(nogil=True, fastmath={"contract"})
def put(target: NDArray[np.float64], mass: NDArray[np.float64], start: int, weight: float) -> None:
    """Add ``weight * mass`` from position `start` on; what is below 0 is lost, what is past the last one stays there.

    Parameters
    ----------
    target, mass : (n,), (k,) arrays
    start : int
        Of any sign.
    weight : float
    """
    last = len(target) - 1
    first = min(max(0, -start), len(mass))
    end = min(max(first, last - start), len(mass))
    out, source = target[first + start : end + start], mass[first:end]
    for k in range(len(source)):
        out[k] += weight * source[k]
    for value in mass[end:]:
        target[last] += weight * value
