"""The edges of the playout: what exists to be sent, what must have arrived, what is safe."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from ..numerics.rows import Rows


class OnFloor(Enum):
    """What happens to mass that lies below the floor at the end of a round."""

    KILL = "kill"
    """It is removed, and counted in the account: P(never late)."""
    COUNT = "count"
    """It is counted, and goes on: the distribution of the deficit."""
    REFLECT = "reflect"
    """It is counted, and goes on at the floor: playback waits for it."""


@dataclass(frozen=True)
class Boundary:
    """What happens to mass at the edges of the playout in one round.

    Attributes
    ----------
    floor : int
        Position that must be reached in order by the end of the round; does not decrease.
    safe : float
        Position from which mass is followed no longer, and counts as done.
    on_floor : OnFloor
    """

    floor: int = 0
    safe: float = math.inf
    on_floor: OnFloor = OnFloor.KILL


OPEN = Boundary()
"""Nothing is due, and nothing is safe."""


@dataclass(frozen=True)
class Crossed:
    """What lay below the floor at the end of a round.

    Attributes
    ----------
    total : float
        Its probability. An operator without `measure` sees what waits below the floor only when the wait ends;
        `Backlogged.survivors` knows it at once.
    measure : Rows, optional
        The same by state (row) and deficit, the packets that are missing to the floor (position): where an operator
        keeps it apart.
    """

    total: float
    measure: Rows | None = None
