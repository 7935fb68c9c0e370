"""Roots on computed curves: the smallest delay, the largest rate that meet a target. Numbers in, numbers out."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..errors import AccuracyError
from .roots import crossing

LONGEST = 1e9
"""A search that gets here [s] has failed."""


def smallest_delay(
    curve: Callable[[float], float], target: float, step: float, *, low: float = 0.0, tolerance: float = 1e-9
) -> float:
    """Return the smallest delay at which a nonincreasing curve is at most `target`.

    Parameters
    ----------
    curve : callable
        Probability or fraction at a delay [s].
    target : float
        Wanted value, > 0.
    step : float
        First delay tried [s]; doubled until the curve is low enough.
    low : float
        Delay to start from [s], below `step`.
    tolerance : float
        The result is too long by twice this at most [s]; it always meets the target.

    Raises
    ------
    AccuracyError
        When no delay below 1e9 s meets the target.
    """
    high = step
    if curve(low) <= target:
        return low
    while curve(high) > target:
        low, high = high, 2 * high
        if high > LONGEST:
            raise AccuracyError(f"no startup delay below {LONGEST:g} s meets the target of {target:g}")

    def gap(delay: float) -> float:
        return math.log(max(curve(delay), 1e-300) / target)

    root = crossing(gap, low, high, tolerance / 2)
    while curve(root) > target:
        root += tolerance
    return root


def smallest_meeting(meets: Callable[[float], bool], low: float, high: float, tolerance: float) -> float:
    """Return, within `tolerance` above it, the smallest x in (low, high] from which on `meets` holds.

    Parameters
    ----------
    meets : callable
        False at `low`, true at `high`, changes once.
    low, high, tolerance : float
        In the unit of x.
    """
    while high - low > tolerance:
        middle = (low + high) / 2
        if meets(middle):
            high = middle
        else:
            low = middle
    return high
