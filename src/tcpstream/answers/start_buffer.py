"""The start buffer that meets a target: between some that are solved together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError

Floats = NDArray[np.float64]

SPAN, TOGETHER = 4.0, 9
"""The largest of the start buffers that are solved together, over the smallest; and how many."""

FINE = 1.005
"""How near the answer is to the smallest, as a ratio, unless they are a packet apart."""


def smallest_start_buffer(
    missed: Callable[[Floats], tuple[Floats, Floats]], wanted: float, first: float, most: float
) -> float:
    """Return the smallest start buffer [packets] that meets a target.

    Parameters
    ----------
    missed : callable
        From start buffers [packets] to what shall be small, which falls with them, and how far each value is off.
    wanted : float
        What it shall be at most, error included.
    first, most : float
        Where to begin, and the largest start buffer [packets], which meets every target.

    Returns
    -------
    float
        Whole packets; it meets the target, and a start buffer that is half a percent, or a packet, smaller does not.

    Raises
    ------
    AccuracyError
        For a target finer than the accuracy of the solve.
    """
    most = float(np.ceil(most))
    low = min(max(first / 2, 1.0), most)
    high, failing = min(low * SPAN, most), False
    while True:
        buffers = np.unique(np.ceil(np.geomspace(low, high, TOGETHER) - 1e-9))
        found, off = missed(buffers)
        met = (found + off <= wanted) | (buffers >= most)
        if not met.any():
            low, high, failing = buffers[-1], min(buffers[-1] * SPAN, most), True
            continue
        at = int(np.argmax(met))
        if at == 0 and not failing and buffers[0] > 1:
            low, high = max(buffers[0] / SPAN, 1.0), buffers[0]
            continue
        answer, before = buffers[at], buffers[max(at - 1, 0)]
        failing = failing or at > 0
        if answer - before <= 1 or answer <= FINE * before:
            break
        low, high = before, answer
    if answer >= most and at and (found[at - 1] <= wanted or off[at - 1] >= found[at - 1]):
        raise AccuracyError(
            f"the target of {wanted:g} is finer than the solve: with {before:g} packets it is {found[at - 1]:.3g}, and "
            f"may be off by {off[at - 1]:.2g}; give a larger one"
        )
    return float(answer)
