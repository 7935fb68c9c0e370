"""How fine a player is followed: quanta in a round of playback, states of a line, places of fills."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..errors import AccuracyError
from .deliveries import Deliveries

WHOLE = 1e-9
"""Relative distance from a whole number."""

FINEST, MOST = 16, 64
"""Quanta in a round up to which they are whole packets, or parts of one, where that is possible; and where others are
not better."""

QUANTA, LEAST_PACKETS = 4, 1.2
"""Quanta in a round elsewhere, and packets in one at least: what is finer than a packet has no meaning of its own."""

FEW, PAUSING, LEAST_QUANTUM = 10.0, 8, 0.6
"""Packets in a round below which a player that pauses is followed in other quanta: so many in a round at most, and
packets in one at least, as in a short video. It holds little, and its first rounds decide much."""

APART, RESOLVED = 1.0, 4.0
"""Rounds of playback between leads where much is held; and such leads in one over which a stall gets less probable by a
factor of e, at least."""

FURTHER = 1 / 16
"""Part of the age of a state by which the next one of its line is older, where leads are not whole packets."""

LEVELS = 128
"""Of a buffer that fills, after a stall, where leads are not whole packets."""

SPARSE = 16
"""Fills are followed at places in a ratio of 1 + 1 / so many."""

NODES = 6
"""Quanta that stand for what arrives between the same states."""

STEPS = 20.0
"""States of a line in the mean time from loss to loss."""

RATIOS = (1.15, 1.3, 1.49)
"""Of the windows of neighbouring lines of CUBIC, finer and coarser."""

AGED, OLDER = 1 / 4, 1.4
"""`further` where there are too many lines; and times further in the coarser pass there."""


@dataclass(frozen=True)
class Fineness:
    """How fine a player is followed.

    Attributes
    ----------
    due : float
        m, packets that play in a round.
    quanta : int
        Of a round of playback.
    exact : bool
        Whether packets are whole numbers of quanta.
    sparse : int
        Fills are followed at places in a ratio of 1 + 1 / sparse.
    step : int
        Rounds between states of a line.
    ratio : float
        Of the windows of neighbouring lines of CUBIC.
    nodes : int
        Quanta that stand for what arrives between the same states, where they make little difference.
    apart : float
        Rounds of playback between leads, where much is held; 0 where each quantum is followed.
    further : float
        Part of the age of a state by which the next one of its line is older.
    levels : int
        Of a buffer that fills after a stall, about; 0 for as many as it has quanta.
    shift : float
        Packets that are needed beyond all others.
    """

    due: float
    quanta: int
    exact: bool
    sparse: int
    step: int
    ratio: float
    nodes: int
    apart: float = 0.0
    further: float = 0.0
    levels: int = 0
    shift: float = 0.0

    @classmethod
    def of(cls, due: float, rounds: float, decay: float) -> Fineness:
        """Return it for a rate, a mean time from loss to loss [rounds], and a lead [packets].

        By such a lead a stall gets less probable by a factor of e.

        Raises
        ------
        AccuracyError
            For less than three packets in a round that have no common part with it.
        """
        step = max(1, int(rounds / STEPS))
        for parts in range(1, MOST + 1):
            quanta = due * parts
            if quanta > (FINEST if due >= 3 else MOST):
                break
            if round(quanta) >= 1 and abs(quanta - round(quanta)) <= WHOLE * quanta:
                return cls(due, round(quanta), True, SPARSE, step, RATIOS[0], NODES)
        if due < 3:
            parts = min(MOST, int(MOST / due))
            raise AccuracyError(
                f"players with buffer thresholds are followed where a round trip plays three packets or more, or at "
                f"most {MOST} equal parts of one; got {due:g} packets: change the rate or the round trip time a "
                f"little, as to {max(round(due * parts), 1) / parts:.12g} packets"
            )
        return cls.between_packets(due, step, decay)

    @classmethod
    def with_few_lines(cls, due: float, step: int, decay: float) -> Fineness:
        """Return it for CUBIC of many lines: fewer of them, fewer states of each, and quanta that are not packets."""
        return replace(cls.between_packets(due, step, decay), ratio=RATIOS[1], further=AGED)

    def with_all_leads(self) -> Fineness:
        """Return it for a player that pauses: a full buffer is a lead among all others, and each is followed."""
        all_leads = replace(self, apart=0.0, further=0.0, levels=0)
        if self.exact or self.due >= FEW:
            return all_leads
        return replace(all_leads, quanta=min(PAUSING, int(self.due / LEAST_QUANTUM)))

    def in_small_quanta(self) -> Fineness:
        """Return it for a short video, whose first rounds decide much: each lead, and as many quanta as have a meaning.

        It is the same where packets are whole numbers of quanta.
        """
        if self.exact:
            return self
        return replace(self, quanta=min(FINEST, int(self.due / LEAST_QUANTUM)), apart=0.0, further=0.0, levels=0)

    @classmethod
    def between_packets(cls, due: float, step: int, decay: float) -> Fineness:
        """Return it for quanta that are not packets, and leads that lie apart; parameters as for `with_few_lines`."""
        quanta, apart = min(QUANTA, int(due / LEAST_PACKETS)), min(APART, decay / (RESOLVED * due))
        return cls(due, quanta, False, SPARSE, step, RATIOS[0], NODES, apart, FURTHER, LEVELS)

    def by_packets(self, size: int = 1, further: float = 0.0) -> Fineness:
        """Return it for quanta of so many packets, until playback begins."""
        return replace(self, due=float(size), quanta=1, exact=size == 1, further=further, shift=0.0)

    @property
    def quantum(self) -> float:
        """Packets in a quantum."""
        return self.due / self.quanta

    @property
    def in_phase(self) -> bool:
        """Whether a round plays a whole number of packets."""
        return self.exact or abs(self.due - round(self.due)) <= WHOLE * self.due

    def scale(self, found: Deliveries) -> float:
        """Return the factor of what a chain delivers: 1 where packets are whole numbers of quanta."""
        return 1.0 if self.exact else found.scale

    def coarser(self) -> Fineness:
        """Return what to compare with."""
        return replace(
            self,
            quanta=self.quanta if self.exact else self.quanta // 2,
            sparse=self.sparse // 2,
            step=2 * self.step if self.step > 1 else 1,
            ratio=next((ratio for ratio in RATIOS[1:] if ratio > self.ratio), RATIOS[-1]),
            nodes=self.nodes - 2,
            apart=2 * self.apart,
            further=self.further * (OLDER if self.ratio > RATIOS[0] else 2),
            levels=self.levels // 2,
        )

    def needed(self, packets: float, size: int = 1) -> tuple[int, float]:
        """Return the quanta k that some packets need, and how much of the last one, as for `passing.passing`.

        With a size, in quanta of as many.

        Packets come one by one: half of one less is enough, on average, where a lattice does not tell them apart.
        """
        if self.exact:
            return math.ceil(packets / (self.quantum * size) - WHOLE), 1.0
        quanta = (packets - (0.5 if self.in_phase else 0.0) + self.shift) / (self.quantum * size)
        goal = max(1, math.floor(quanta + 0.5))
        return goal, min(max(quanta - goal + 1, 0.5), 1.5)
