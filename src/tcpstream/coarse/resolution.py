"""How fine a coarse lattice is: rounds in a step, packets in a quantum."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..tcp.chain import Chain
from ..tcp.independent import IndependentChain
from .in_moments import in_moments
from .state_grid import side_by_side
from .steps import Steps

SPREAD = 0.6
"""Standard deviation of the packets delivered, over the square root of their number times those from loss to loss."""

COARSER, LITTLE = 2.0, 1.4
"""Between two resolutions that are compared; the same of lines of CUBIC."""

FACTOR = 3.0
"""A stated error is so many times the difference of two resolutions, and what a resolution states at least: the factor
of Roache's grid convergence index for two grids (J. Fluids Eng. 116, 1994)."""

FEWER = 0.75
"""The same of the windows up to which all lines of CUBIC are followed."""

FEW = 8.0
"""Packets of a round, up to which as many lines of CUBIC are followed as for so many."""

MANY, MOST_LINES = 32.0, 48.0
"""Windows from which on some lines of CUBIC stand for others: what rounding does to a window is little there. The same
where there is a backlog."""

TOLD_APART = 2
"""Rounds of playback in whose packets losses are told apart."""

MANY_STATES, LONGER, TWICE = 1000, 1.2, 2
"""States of a chain above which steps are short, as the ways that two losses in a step may go are so many; the factor
by which they are longer where SACK's repairs are written out, as many of these come to the same there; and times as
long are those of windows on one line."""

FAR_APART = 8.0
"""Rounds from loss to loss up to which short steps may have to be shorter still."""

SPARE = 1.5
"""T/mu from which few losses decide, and packets are late from the beginning on."""

LOSSES = 64.0
"""In a video, from which on they are many."""

COARSER_BY = 4
"""Quanta of a lattice of the backlog in one of the next coarser one."""

AT_LARGEST, LIMITED = 4.0, 0.5
"""Of the largest window are as many packets delivered between two losses, at least, where it may limit TCP; and it does
where their variance is less than so many times that of a window that is limited by losses alone."""

RECOVERY = 4.0
"""Rounds in which a window grows again to the largest one, times that, over the packets that are missing meanwhile."""

WHOLE = 1e-9
"""Relative distance from a whole number of quanta a packet."""


@dataclass(frozen=True)
class Resolution:
    """How fine a lattice is.

    Attributes
    ----------
    steps : float
        In the mean time from loss to loss, and in shorter ones that matter.
    quanta : float
        In a standard deviation of the packets delivered, where a level begins.
    ratio : float
        Of the windows of neighbouring lines of CUBIC.
    lead_quanta : float
        In the packets from loss to loss, of the finest lattice of leads.
    lead_points : int
        Of a lattice of leads.
    least, least_no_late : float
        What the relative errors of f, and of 1 - alpha, are stated to be at least.
    small : float
        Windows, over the packets of a round in the long run, up to which all lines of CUBIC are followed.
    short : int
        Rounds of a step, for chains of many states.
    by_many : float
        Part of the windows `small` that is taken where many losses decide.
    """

    steps: float
    quanta: float
    ratio: float
    lead_quanta: float
    lead_points: int
    least: float
    least_no_late: float
    small: float
    short: int
    by_many: float

    def step(self, rounds: float, chain: Chain) -> int:
        """Return the rounds of a step of a chain, where something changes within so many."""
        if chain.n_states <= MANY_STATES:
            return max(1, int(rounds / self.steps))
        longer = max(1, int(rounds / self.steps * LONGER))
        if side_by_side(chain):
            return self.short if rounds >= FAR_APART else min(self.short, longer)
        return longer if isinstance(chain, IndependentChain) else min(TWICE * self.short, longer)

    def steps_of(self, chain: Chain, step: int, due: float, packets: float, follow_leads: bool) -> Steps:
        """Return a chain in steps of so many rounds, for a video of so many packets, of which some are due in each."""
        diffusive = chain.packets_per_round < SPARE * due and packets >= LOSSES * chain.packets_between_losses
        small = self.small * (self.by_many if diffusive else 1.0)
        all_lines = min(max(small * chain.packets_per_round, FEW), MANY)
        return Steps.of(chain, step, self.ratio, due if follow_leads else 0.0, all_lines, diffusive, kept=True)


FINE = Resolution(7.0, 24.0, 1.15, 40.0, 256, 7e-3, 1e-2, 2.0, 2, 1.0)
FAST = Resolution(3.0, 14.0, 1.3, 24.0, 160, 3e-2, 6e-2, 1.0, 3, 0.25)


def coarser(resolution: Resolution) -> Resolution:
    """Return the resolution to compare with."""
    one = resolution
    return replace(
        one,
        steps=one.steps / COARSER,
        quanta=one.quanta / COARSER,
        ratio=1 + (one.ratio - 1) * LITTLE,
        small=one.small * FEWER,
        short=one.short + 1,
        lead_quanta=one.lead_quanta / COARSER,
        lead_points=int(one.lead_points / COARSER),
    )


@dataclass(frozen=True)
class BacklogResolution:
    """How fine the backlog of a live stream is followed.

    Attributes
    ----------
    step : int
        Rounds of a step.
    quanta : int
        In the packets of a round of playback, about.
    parts : int
        Of the packets of a round of playback: losses in different ones are told apart; 0 in longer steps.
    near : float
        Of the packets of a round of playback: what is so near is the same.
    small, ratio : float
        Windows, over the packets of a round of playback, up to which all lines of CUBIC are followed; ratio of
        neighbouring ones from there on.
    least : float
        What the relative error of f is stated to be at least.
    """

    step: int
    quanta: int
    parts: int
    near: float
    small: float
    ratio: float
    least: float

    def quantum(self, due: float) -> float:
        """Return the finest quantum for so many packets due per round [packets].

        A packet has whole ones, if it can, on the next coarser lattice as well: long ways are taken there.
        """
        if due < 1:
            return due / math.ceil(due * self.quanta)
        tried = sorted(range(self.quanta // 2, 2 * self.quanta), key=lambda number: abs(number - self.quanta))
        whole = (number for many in (COARSER_BY, 1) for number in tried if _is_whole(number / (many * due)))
        return due / next(whole, self.quanta)

    def ends(self, due: float) -> tuple[float, ...]:
        """Return the packets of a round up to which losses are told apart, for so many packets due per round."""
        size = max(1.0, due / max(1, self.parts))
        return tuple(size * (i + 1) for i in range(TOLD_APART * self.parts))

    def all_lines(self, due: float) -> float:
        """Return the window up to which all lines are followed, for so many packets due per round [packets]."""
        return min(self.small * max(due, FEW), MOST_LINES)


def _is_whole(x: float) -> bool:
    return round(x) > 0 and abs(x - round(x)) <= WHOLE * x


FINE_BACKLOG = BacklogResolution(1, 64, 8, 0.05, 3.0, 1.2, 1e-2)
FAST_BACKLOG = BacklogResolution(2, 16, 0, 0.5, 1.5, 1.3, 5e-2)


def coarser_backlog(resolution: BacklogResolution) -> BacklogResolution:
    """Return the resolution to compare with."""
    one = replace(resolution, small=resolution.small * FEWER, ratio=1 + (resolution.ratio - 1) * LITTLE)
    if one.step > 1:
        return replace(one, step=one.step + 1, quanta=one.quanta // 2)
    return replace(one, quanta=one.quanta // 2, parts=one.parts // 2, near=2 * one.near)


@dataclass(frozen=True)
class Scale:
    """Natural units of a chain.

    Attributes
    ----------
    packets, rounds : float
        From loss to loss, on average.
    wide : float
        Packets whose number, times those delivered, gives the variance of the latter, over `SPREAD` squared. These are
        those from loss to loss, unless the largest window limits TCP most of the time: then few are missing after each.
    missing : float
        About how many: the mean of `packets` and `wide` by their logarithms.
    recovered : float
        Rounds in which something changes: from loss to loss, or there until the window is the largest again.
    """

    packets: float
    rounds: float
    wide: float
    missing: float
    recovered: float

    @classmethod
    def of(cls, chain: Chain) -> Scale:
        """Return those of a chain."""
        packets = chain.packets_between_losses
        rounds, largest = packets / chain.packets_per_round, chain.largest_round
        if packets > AT_LARGEST * largest:
            rate, variance = in_moments(chain).rates
            wide = max(variance, 0.0) / (SPREAD**2 * rate)
            if wide < LIMITED * packets:
                missing = math.sqrt(wide * packets)
                grown = min(RECOVERY * SPREAD * missing, largest**2 / 2) / largest  # waits miss packets as well
                return cls(packets, rounds, wide, missing, min(rounds, grown))
        return cls(packets, rounds, packets, packets, rounds)

    @property
    def limited(self) -> bool:
        """Whether the largest window limits TCP most of the time."""
        return self.wide < self.packets

    def spread(self, packets: float) -> float:
        """Return about the standard deviation of what is delivered when so many packets are [packets]."""
        return SPREAD * math.sqrt(packets * min(packets, self.wide))
