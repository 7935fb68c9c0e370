"""A player that stops reading while it holds enough: TCP pauses, and goes on when so much has been played."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.buffer_state import Known
from .fineness import Fineness

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WHOLE = 1e-9
"""Distance from a whole number that is none."""


@dataclass(frozen=True)
class Pauses:
    """When TCP pauses, and what this makes of its state.

    Attributes
    ----------
    stop, resume : float
        Packets held from which it pauses, and up to which it goes on.
    after_idle : callable or None
        From rounds of a pause to targets and shares, (S, 2) arrays; None where it changes nothing.
    """

    stop: float
    resume: float
    after_idle: Callable[[int], tuple[Ints, Floats]] | None

    def on(self, fine: Fineness, largest: int, states: int) -> Pausing:
        """Return it on a lattice.

        Parameters
        ----------
        fine : Fineness
        largest : int
            Quanta of the largest round.
        states : int
        """
        played = self.resume == self.stop  # it is sent as fast as it is played
        levels = self.stop / fine.quantum, self.resume / fine.quantum
        stop, resume = (max(1, round(one)) for one in levels)
        if fine.exact and not played:  # whole quanta from the one on, and up to the other
            stop, resume = math.ceil(levels[0] - WHOLE), math.floor(levels[1] + WHOLE)
        short = 0.0
        if played and not fine.exact:  # it is kept full between two quanta
            stop = resume = math.ceil(levels[0] - WHOLE)
            short = max(stop - levels[0], 0.0)
        leads = np.arange(stop, stop + largest + 1)
        if played:
            leads = np.full(len(leads), stop)
        rounds = np.maximum(1, -((resume - leads) // fine.quanta))
        same = np.tile(np.arange(states)[:, np.newaxis], (1, 2)), np.tile(np.array([1.0, 0.0]), (states, 1))
        idle = {d: self.after_idle(d) if self.after_idle else same for d in np.unique(rounds).tolist()}
        return Pausing(stop, played, leads - fine.quanta * rounds, short, rounds, idle)


class Pausing:
    """Values of a player whose TCP pauses, from those of when it goes on.

    Parameters
    ----------
    stop : int
        Quanta held from which TCP pauses.
    played : bool
        Whether what is beyond them is not sent.
    left, rounds : int arrays
        What is held when it goes on, and after how many rounds, by what was held beyond `stop`.
    short : float
        Part of a quantum by which less is held then.
    idle : dict
        Targets and shares by rounds of a pause.
    """

    def __init__(
        self, stop: int, played: bool, left: Ints, short: float, rounds: Ints, idle: dict[int, tuple[Ints, Floats]]
    ) -> None:  # fmt: skip
        self.stop, self.played, self._left, self._short = stop, played, left, short
        self._rounds, self._idle = rounds, idle
        self._low, self._past = int(left.min()) - (short > 0), np.empty(0)
        self._kept = slice(self._low, int(left.max()) + 1)

    @property
    def top(self) -> int:
        """Quanta held at most."""
        return self.stop + len(self._left) - 1

    def at(self, place: int, known: Known) -> None:
        """Set the values at a place in the video of all that is held from `stop` on, and keep others for later."""
        now = known.play[place % len(known.play)]
        depth = int(self._rounds.max()) + 1
        if not len(self._past):
            self._past = np.zeros((depth, len(now), self._kept.stop - self._low, now.shape[2]))
        for beyond, (left, rounds) in enumerate(zip(self._left.tolist(), self._rounds.tolist())):
            held = self.stop + beyond
            if (self.stop if self.played else held) >= place * known.round:
                break  # all there is has arrived
            targets, shares = self._idle[rounds]
            past, at = self._past[(place - rounds) % depth], left - self._low
            then = past[:, at]
            if self._short > 0:
                then = (1 - self._short) * then + self._short * past[:, at - 1]
            now[:, held] = (shares[:, :, np.newaxis] * then[targets]).sum(axis=1)
        self._past[place % depth] = now[:, self._kept]
        for state, slot in enumerate(known.slot.tolist()):
            if slot >= 0:
                known.long[known.first[slot] + place % known.depth[slot]] = now[state]


def halvings(rounds: int, timer: float) -> int:
    """Return how often a pause halves the window: for each timer [rounds] but the first that goes by while it lasts.

    The last packet was sent a round before it (`tcp_cwnd_restart` of Linux).
    """
    return max(0, math.ceil((rounds + 1) / timer - WHOLE) - 1)
