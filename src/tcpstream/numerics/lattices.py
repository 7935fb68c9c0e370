"""Lattices of backlogs: exact where the packets of a round are a simple fraction, else one on either side of it.

A backlog is steps * rounds - steps_per_packet * packets since it was last empty, in steps of 1/steps_per_packet packet.
Between two neighbours of the Farey sequence of order Q lies no fraction of a denominator up to Q: whatever the rate
between them, a chain that was last empty at most Q rounds ago finds the same backlogs empty, and the backlog grows with
the rate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

FINE = 40.0
"""Packets per round, times the square of the order, at least: then neighbours are a few percent apart."""

APART = 20.0
"""Packets per round short of the throughput, times the square of the order, at least."""

AWAY = 0.1
"""Distance from the throughput, as a share of it, below which it does not matter."""

ROUNDS = 4.0
"""Packets per round times the order, at least: after so many packets that the order must tell what is empty."""

LARGEST = 60_000
"""Order times states times the largest window, at most: what a solve costs."""

CHEAP, DENSE = 8_000, 16
"""What a solve may cost as it likes, and the order beyond which that is not worth it."""

ROUNDING = 0.01
"""Relative error of f from backlogs that were last empty longer ago, above what validation/lattice.py sees."""

NEAR = 1e-9
"""Relative distance from a whole number of steps that is rounding."""


@dataclass(frozen=True)
class Lattice:
    """A lattice of backlogs, and a rate that it fits.

    Parameters
    ----------
    steps : int
        Lattice steps generated per round.
    steps_per_packet : int
        Lattice steps per packet.
    trace : int
        1 for a rate just above `steps`: a backlog that is not empty then holds a trace more than its steps, and its
        level is one higher. 0 for the rate itself.
    """

    steps: int
    steps_per_packet: int
    trace: int = 0

    @property
    def packets_due(self) -> float:
        """m, packets generated per round."""
        return self.steps / self.steps_per_packet


def lattices(packets_due: float, order: int, most: float = math.inf) -> tuple[Lattice, ...]:
    """Return the lattices that give f at a rate: one that fits it, or the neighbours in the Farey sequence.

    Parameters
    ----------
    packets_due : float
        m, packets generated per round, > 0.
    order : int
        Largest denominator of a neighbour; larger where there is no neighbour otherwise.
    most : float
        Packets per round that a neighbour must stay below.

    Returns
    -------
    tuple of Lattice
        One that fits m; or the neighbours below and above it.
    """
    for steps_per_packet in range(1, 3 * order + 1):
        if _fits(packets_due, round(packets_due * steps_per_packet), steps_per_packet):
            return (Lattice(round(packets_due * steps_per_packet), steps_per_packet),)
    low, high = (math.floor(packets_due), 1), (math.floor(packets_due) + 1, 1)
    while low[1] + high[1] <= order or low[0] == 0 or high[0] >= most * high[1]:
        between = (low[0] + high[0], low[1] + high[1])
        if _fits(packets_due, *between):
            return (Lattice(*between),)
        if between[0] < packets_due * between[1]:
            low = between
        else:
            high = between
    return (Lattice(*low, trace=1), Lattice(*high))


def _fits(packets_due: float, steps: int, steps_per_packet: int) -> bool:
    return steps >= 1 and abs(packets_due * steps_per_packet - steps) < NEAR * steps


def order(packets_due: float, throughput: float, cells: int) -> int:
    """Return the largest denominator of neighbours that are near enough for a rate, within what a solve may cost.

    Parameters
    ----------
    packets_due : float
        m, packets generated per round, > 0.
    throughput : float
        Packets delivered per round in the long run.
    cells : int
        States of the chain times its largest window.
    """
    short = max(abs(throughput - packets_due), AWAY * throughput)
    wanted = max(math.sqrt(FINE / packets_due), math.sqrt(APART / short), ROUNDS / packets_due)
    return max(1, math.ceil(min(wanted, math.floor(LARGEST / cells))), math.floor(min(DENSE, CHEAP / cells)))


class Interpolated(NamedTuple):
    """f between the rates of some lattices, and its relative error."""

    late_fraction: float
    error: float


def interpolated(packets_due: float, at: Sequence[tuple[float, float]]) -> Interpolated:
    """Return f at a rate, ln f being linear between neighbours; it lies between theirs, so the error is at most that.

    Parameters
    ----------
    packets_due : float
        m, packets generated per round.
    at : sequence of (float, float)
        Packets per round and f, of one lattice that fits, or of the neighbours as `lattices` gives them.
    """
    if len(at) == 1:
        return Interpolated(at[0][1], 0.0)
    (low, below), (high, above) = at
    share = (packets_due - low) / (high - low)
    if min(below, above) <= 0.0:
        return Interpolated((1 - share) * below + share * above, 0.0 if below == above else 1 / share)
    rise = math.log(above / below)
    return Interpolated(below * math.exp(share * rise), math.expm1(max(share, 1 - share) * abs(rise)) + ROUNDING)
