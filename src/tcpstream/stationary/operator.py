"""The operator of one loss epoch: what every way to follow the backlog of a live stream has in common.

The backlog D is what was generated and is not delivered. It is solved at the moments when a window is entered after a
loss (a recovery, or the end of a timeout): one loss epoch maps the mass of these entries to that of the next, and the
stationary entries are its fixed point. A startup delay appears nowhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..numerics.lattices import Lattice

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Complexes = NDArray[np.complex128]


class Epoch(Protocol):
    """All that happens between some entries and the next, as mass by position (steps above the deepest backlog).

    Attributes
    ----------
    entries : (H, n) array
        Mass of the next entries.
    """

    entries: Floats


E = TypeVar("E", bound=Epoch)


class EpochOperator(ABC, Generic[E]):
    """One loss epoch on a lattice of backlogs.

    Parameters
    ----------
    lattice : Lattice
        Of the backlog, and what is generated per round.

    Attributes
    ----------
    entered : (H,) int array
        States of `Chain.transform` that are entered after a loss.
    long : float
        Waves that keep more than this in an epoch are long.
    blurs : bool
        Whether an epoch damps short waves, so that only long ones are left.
    """

    entered: Ints
    long: float
    blurs: bool

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self.steps_per_packet, self.drop = lattice.steps_per_packet, lattice.steps

    @property
    @abstractmethod
    def rows(self) -> int:
        """Rows of mass by backlog that an epoch needs, about."""

    @abstractmethod
    def epoch(self, entries: Floats) -> E:
        """Make one loss epoch; what is returned is overwritten by the next call.

        Parameters
        ----------
        entries : (H, n) array
            Mass that enters each state of `entered`, by position; the last position is an empty backlog.
        """

    @abstractmethod
    def occupancy(self, epoch: E) -> Floats:
        """Return the time spent at each position in order [rounds], counted at the ends of rounds."""

    @abstractmethod
    def overflow(self, epoch: E) -> float:
        """Return a bound on the mass that left through the deepest backlog in an epoch."""

    @abstractmethod
    def fall(self, chance: float) -> int:
        """Return how far as many waits in a row move down as follow each other with that chance [lattice steps]."""

    @abstractmethod
    def waves(self, exponents: Complexes) -> tuple[Complexes, Complexes, Complexes]:
        """Return what an epoch does to waves exp(t D) of the backlog, far from an empty one.

        Parameters
        ----------
        exponents : (T,) array
            t [1/lattice step]. Where waves get ever larger in timeouts the results are not finite.

        Returns
        -------
        values : (T,) array
            Factor kappa of the least damped wave.
        left, right : (H, T) arrays
            Its weights by entered state, with sum 1, and their adjoint.
        """
