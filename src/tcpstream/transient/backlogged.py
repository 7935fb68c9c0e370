"""The transient of a chain that always has something to send: stored media.

Nothing of the playback is in here but the boundary of a round. Waits are pure delays: mass that enters one comes out
later where it went in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..numerics.measure import Measure
from ..numerics.rows import Rows
from .account import Account
from .boundary import OPEN, Boundary, Crossed

Floats = NDArray[np.float64]


class Backlogged(ABC):
    """Evolution of a chain from its start, one round at a time, while it never lacks packets to send.

    Attributes
    ----------
    goal : int
        Packets after which nothing is followed any more.
    quantum : int
        Packets per position.
    round : int
        Rounds made.
    cells : int
        States times positions, followed in all rounds together.
    account : Account
    """

    unchanging: tuple[str, ...] = "chain", "_rounds", "_clock"
    """Attributes that are what they were made as."""

    def __init__(self, goal: int, quantum: int = 1) -> None:
        self.goal, self.quantum = goal, quantum
        self.round = self.cells = self.floor = 0
        self.account = Account()

    def fork(self) -> Self:
        """Return another one that goes on from here."""
        memo = {id(one): one for name, one in vars(self).items() if name in self.unchanging}
        if isinstance(spare := vars(self).get("_spare"), Rows):
            memo[id(spare)] = Rows.empty(len(spare.low))
        return deepcopy(self, memo)

    @abstractmethod
    def step(self, boundary: Boundary = OPEN) -> Crossed:
        """Make one round, and return what lies below the floor [packets] at its end."""

    @abstractmethod
    def distribution(self) -> Measure:
        """Return the measure of the packets delivered in order by now, by position; what is done is left out."""

    @abstractmethod
    def survivors(self) -> float:
        """Return the probability of being at or above the floor now, in waits too."""

    @property
    @abstractmethod
    def exhausted(self) -> bool:
        """Whether nothing is left to follow."""

    @property
    def unaccounted(self) -> float:
        """Probability dropped, and departure of the total from 1."""
        return self.account.unaccounted
