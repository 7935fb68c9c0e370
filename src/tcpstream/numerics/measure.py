"""Measures over packets delivered, and what can be done with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.rows import ends
from ..kernels.waits import add

Floats = NDArray[np.float64]


@dataclass
class Measure:
    """A measure over positions ``origin, origin + 1, ...``, the last axis of `mass`."""

    origin: int
    mass: Floats

    @property
    def end(self) -> int:
        """Position after the last one."""
        return self.origin + int(self.mass.shape[-1])

    def add(self, other: Measure, weight: float = 1.0, limit: int | None = None) -> None:
        """Add a measure that fits; what lies beyond position `limit` goes there."""
        mine, theirs = self.mass, other.mass
        first, count = other.origin - self.origin, theirs.shape[-1]
        within = count if limit is None else max(0, min(count, limit - other.origin))
        if within > 0:
            part = mine[..., first : first + within]
            part += theirs[..., :within] if weight == 1.0 else weight * theirs[..., :within]
        if limit is not None and within < count:
            mine[..., limit - self.origin] += weight * theirs[..., within:].sum(axis=-1)

    def covering(self, origin: int, end: int) -> Measure:
        """Return this measure on positions that cover `origin` to `end`; it grows by a half each time."""
        if origin >= self.origin and end <= self.end:
            return self
        first = min(origin, self.origin)
        wide = Measure(first, np.zeros((max(end, self.end) - first) * 3 // 2))
        wide.add(self)
        return wide

    def trimmed(self, negligible: float) -> tuple[Measure | None, float]:
        """Cut off ends that hold at most `negligible` each; return the rest and what was dropped."""
        first, last, before, behind = ends(self.mass, 0, len(self.mass), 1.0, negligible, False)
        dropped = before + behind
        if first == last:
            return None, dropped
        return Measure(self.origin + first, self.mass[first:last]), dropped


def together(*parts: Measure) -> Measure:
    """Return the sum of some measures."""
    origin = min(part.origin for part in parts)
    total = Measure(origin, np.zeros(max(part.end for part in parts) - origin))
    for part in parts:
        add(part.mass, 1.0, total.mass, part.origin - origin)
    return total
