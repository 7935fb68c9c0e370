"""How far a backlog exceeds a level: the late packets of live streaming."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .lattices import Lattice

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Excess:
    """E[(D - y)+] of a backlog D, for every y.

    Parameters
    ----------
    values : (depth + 2,) array
        At each level of the lattice, in steps; 0 at the end.
    lattice : Lattice
    """

    values: Floats
    lattice: Lattice

    @classmethod
    def of(cls, pmf: Floats, lattice: Lattice) -> Excess:
        """Return the excess of a backlog from its probability (or sums of it) at each level."""
        above = np.cumsum(pmf[::-1])[::-1]
        return cls(np.append(np.cumsum(above[1:][::-1])[::-1], 0.0), lattice)

    def over(self, packets: float) -> float:
        """Return E[(D - y)+] [packets] for y >= 0 [packets]; it is linear between the levels."""
        steps_per_packet = self.lattice.steps_per_packet
        y = packets * steps_per_packet + self.lattice.trace
        k = math.floor(y)
        if k >= len(self.values) - 1:
            return 0.0
        return float(self.values[k] + (self.values[k + 1] - self.values[k]) * (y - k)) / steps_per_packet

    def between(self, packets: float, further: float) -> float:
        """Return E[min(D - y, z - y)+] [packets] for 0 <= y <= z [packets]."""
        return self.over(packets) - self.over(further)
