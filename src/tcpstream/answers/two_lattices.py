"""What is stated of an answer from two coarse lattices."""

from __future__ import annotations

import math

from ..coarse.resolution import FACTOR


def stated(fine: float, coarse: float, least: float, floor: float, factor: float = FACTOR) -> float:
    """Return the relative error of an answer from the same at a lower resolution."""
    if fine <= floor:
        return 0.0 if fine == coarse == 0 else math.inf
    return factor * abs(fine - coarse) / fine + least + floor / fine


def finite(error: float) -> float | None:
    """Return an error as JSON has it: null where there is no bound."""
    return float(error) if math.isfinite(error) else None
