"""On which lattices the backlog of a live stream is followed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..path import Path
from ..playout.latency import Latency, Lattice
from .chain_lattices import on_lattices

Floats = NDArray[np.float64]
Kind = TypeVar("Kind", covariant=True)

PARTS, FINEST = 4, 24
"""Of a packet, and quanta generated in a round, up to which a lattice is exact."""

QUANTA = 16
"""Generated in a round elsewhere; half as many for comparison."""

WHOLE = 1e-9
"""Relative distance from a whole number."""


@dataclass(frozen=True, eq=False)
class Followed(Generic[Kind]):
    """A video on a lattice.

    Attributes
    ----------
    latency : Latency or Paced
        How what must be delivered is followed.
    quantum : float
        [packets]
    exact : bool
        Whether backlogs are whole numbers of quanta.
    """

    latency: Kind
    quantum: float
    exact: bool

    def place(self, packets: Floats) -> Floats:
        """Return levels of the backlog in quanta: what is above a level, and no less, is above so many."""
        if self.exact:
            return np.floor(packets / self.quantum + WHOLE)
        return packets / self.quantum - 0.5  # a quantum stands for half of what is around it

    @property
    def stepped(self) -> bool:
        """Whether nothing is known between two levels but what they are."""
        return False

    def level(self, packets: float) -> float:
        """Return the level that decides whether so many packets of startup delay are enough."""
        return int(np.ceil(self.place(np.array(packets)) - 1e-9))

    def begin(self, packets: float) -> float:
        """Return where levels begin [quanta] that are so many packets or more."""
        return packets / self.quantum

    def counted_from(self, packets: float) -> Self:  # noqa: ARG002
        """Return the same with a level at so many packets, where levels may be anywhere."""
        return self

    def at_level(self, level: int) -> float:
        """Return what is asked of the latency for a level."""
        return level


def followed(path: Path, packets_due: float, many: int = QUANTA) -> tuple[Followed[Latency], Followed[Latency] | None]:
    """Return a live stream of so many packets a round on a lattice, and on one to compare with; None for an exact one.

    Parameters
    ----------
    path : Path
    packets_due : float
        Per round.
    many : int
        Quanta of a round where it is not exact; an even number.

    Raises
    ------
    AccuracyError
        For windows that are too large.
    """
    quanta = exact_quanta(packets_due)
    quantum, coarser = (packets_due / (quanta or n) for n in (many, many // 2))
    exact = quanta is not None

    def stream(one: Lattice) -> Followed[Latency]:
        return Followed(Latency.on(one, round(packets_due / one.quantum)), one.quantum, exact)

    fine, coarse = on_lattices(path, packets_due, quantum, coarser)
    return stream(fine), None if coarse is None else stream(coarse)


def exact_quanta(packets_due: float) -> int | None:
    """Return the quanta of a round where they are packets, or few parts of one."""
    for parts in range(1, PARTS + 1):
        quanta = packets_due * parts
        if 1 <= round(quanta) <= FINEST and abs(quanta - round(quanta)) <= WHOLE * quanta:
            return round(quanta)
    return None
