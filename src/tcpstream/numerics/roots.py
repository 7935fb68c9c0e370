"""Where a function crosses zero. SciPy has this too, but takes longer to load than most answers take to compute."""

from __future__ import annotations

import math
from collections.abc import Callable


def crossing(gap: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Return, within `tolerance`, where a continuous function changes its sign: false position, halved (Illinois).

    Parameters
    ----------
    gap : callable
        Of different signs at `low` and `high`, or 0 at one of them.
    low, high, tolerance : float

    Notes
    -----
    Dowell and Jarratt, "A modified regula falsi method for computing the root of an equation", BIT 11 (1971). When
    two steps have not halved the interval, the next one does. No step ends nearer to an end than half of the tolerance,
    so that one beyond a root near it closes the interval.
    """
    at_low, at_high = gap(low), gap(high)
    if at_low * at_high > 0:
        raise ValueError(f"no crossing between {low:g} and {high:g}: {at_low:g}, {at_high:g}")
    moved = 0
    widths = [abs(high - low)]
    while widths[-1] > tolerance and at_low != 0 and at_high != 0:
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        least = math.copysign(min(tolerance, widths[-1]) / 2, high - low)
        if abs(middle - low) < abs(least):
            middle = low + least
        elif abs(high - middle) < abs(least):
            middle = high - least
        slow = len(widths) > 2 and widths[-1] > widths[-3] / 2
        if slow or not min(low, high) < middle < max(low, high):
            middle = (low + high) / 2
            if middle in (low, high):
                break
        at_middle = gap(middle)
        if at_middle * at_high > 0:
            high, at_high = middle, at_middle
            at_low /= 2 if moved > 0 else 1
            moved = 1
        else:
            low, at_low = middle, at_middle
            at_high /= 2 if moved < 0 else 1
            moved = -1
        widths.append(abs(high - low))
    return low if abs(at_low) < abs(at_high) else high
