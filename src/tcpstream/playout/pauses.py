"""A player that stops reading while it holds enough: TCP pauses, and goes on when so much has been played."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..kernels.buffer_leads import Leads
from ..kernels.buffer_moves import Totals
from ..kernels.buffer_state import Known
from .fineness import Fineness
from .leads import Reads, becomes_full, held_at, read_at

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST = 128
"""Rounds of playback in a client buffer up to which leads are as far apart as they are told to be."""

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

    def levels(self, fine: Fineness) -> tuple[float, float]:
        """Return the quanta from which TCP pauses, and up to which it goes on, on a lattice."""
        stop, resume = self.stop / fine.quantum, self.resume / fine.quantum
        if fine.apart > 0:  # points lie around them
            return stop, resume
        if not fine.exact:
            resume = max(1, round(resume))
            return (stop, stop) if self.played else (max(1, round(stop)), resume)
        if self.played:
            return max(1, round(stop)), max(1, round(stop))
        return math.ceil(stop - WHOLE), math.floor(resume + WHOLE)  # whole quanta from the one on, and up to the other

    @property
    def played(self) -> bool:
        """Whether it is sent as fast as it is played: what is beyond `stop` is not sent."""
        return self.resume == self.stop

    def top(self, fine: Fineness, largest: int) -> int:
        """Return the most quanta that are held, where a round delivers up to so many."""
        return math.ceil(self.levels(fine)[0] - WHOLE) + (0 if self.played else largest)

    def spread(self, fine: Fineness) -> Fineness:
        """Return it with leads that lie further apart in a large buffer."""
        return replace(fine, apart=fine.apart * max(1.0, self.stop / (MOST * fine.due)))

    def known(self, known: Known, fine: Fineness, far: Totals, most: int) -> Known:
        """Return what is known with its limits: of what is held, `most`, and where transitions `far` may reach it."""
        top = becomes_full(far, far.received - fine.quanta * far.rounds, self.levels(fine)[0])
        return known._replace(top=top, full=most) if self.played else known._replace(top=top)

    def on(self, fine: Fineness, leads: Leads, many: int) -> Pausing:
        """Return it on a lattice.

        Parameters
        ----------
        fine : Fineness
        leads : Leads
        many : int
            Points of leads.
        """
        (stop, resume), held = self.levels(fine), held_at(leads, many)
        if self.played:  # it is kept full, be it between two points
            share = (np.arange(many) == many - 1).astype(np.float64)
        else:
            share = np.clip((held - stop) / leads.every + (1.0 if leads.every == 1 else 0.5), 0.0, 1.0)
        points = slice(int(np.argmax(share > 0)), many)
        beyond = np.minimum(held[points], stop) if self.played else held[points]
        rounds = np.maximum(1, np.ceil((beyond - resume) / fine.quanta - WHOLE)).astype(np.int64)
        idle = {d: self.after_idle(d) for d in np.unique(rounds).tolist()} if self.after_idle else {}
        reads = read_at(leads, many, beyond - fine.quanta * rounds)
        return Pausing(points, beyond, share[points], rounds, reads, idle)


class Pausing:
    """Values of a player whose TCP pauses, from those of when it goes on.

    Parameters
    ----------
    points : slice
        Points of leads with which TCP pauses, up to the last one.
    held, share : arrays
        Quanta of each, and what part of it stands for leads with which it pauses.
    rounds : int array
        Of the pause.
    reads : Reads
        What is held when it goes on.
    idle : dict
        Targets and shares by rounds of a pause; empty where a pause leaves states as they are.
    """

    def __init__(
        self, points: slice, held: Floats, share: Floats, rounds: Ints, reads: Reads,
        idle: dict[int, tuple[Ints, Floats]],
    ) -> None:  # fmt: skip
        self._points, self._held, self._share, self._rounds, self._idle = points, held, share, rounds, idle
        self._depth = int(rounds.max()) + 1
        used = reads.points[reads.weights != 0]
        low = int(used.min())
        self._kept, self._past = slice(low, int(used.max()) + 1), np.empty(0)
        self._reads = Reads(np.where(reads.weights != 0, reads.points - low, 0), reads.weights)

    @property
    def first(self) -> int:
        """The first point with which TCP pauses."""
        return int(self._points.start)

    def at(self, place: int, known: Known) -> None:
        """Set the values at a place in the video of all that is held with which TCP pauses, and keep others for later.

        Where all there is has arrived it makes no difference.
        """
        now = known.play[place % len(known.play)]
        depth = self._depth
        if not len(self._past):
            self._past = np.zeros((depth, len(now), self._kept.stop - self._kept.start, now.shape[2]))
        coming = self._held < place * known.round
        for rounds in np.unique(self._rounds[coming]).tolist():
            which = np.flatnonzero(coming & (self._rounds == rounds))
            past, share = self._past[(place - rounds) % depth], self._share[which, np.newaxis]
            then = sum(
                weights[:, np.newaxis] * past[:, at]
                for at, weights in zip(self._reads.points[which].T, self._reads.weights[which].T)
                if weights.any()
            )
            if self._idle:
                targets, shares = self._idle[rounds]
                then = sum(each[:, np.newaxis, np.newaxis] * then[to] for to, each in zip(targets.T, shares.T))
            points = self._points.start + which
            now[:, points] = share * then + (1 - share) * now[:, points]
        self._past[place % depth] = now[:, self._kept]
        waits = known.slot >= 0
        rows = known.first[known.slot[waits]] + place % known.depth[known.slot[waits]]
        known.long[rows, self._points] = now[waits, self._points]

    def leap(self, place: int, beyond: int, now: Floats, change: Floats) -> None:
        """Keep values up to so many places beyond one, to which each adds a change."""
        for more in range(max(beyond - self._depth, 0) + 1, beyond + 1):
            self._past[(place + more) % self._depth] = (now + more * change)[:, self._kept]


def halvings(rounds: int, timer: float) -> int:
    """Return how often a pause halves the window: for each timer [rounds] but the first that goes by while it lasts.

    The last packet was sent a round before it (`tcp_cwnd_restart` of Linux).
    """
    return max(0, math.ceil((rounds + 1) / timer - WHOLE) - 1)
