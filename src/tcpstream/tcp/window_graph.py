"""How windows lead to each other as long as nothing is lost: what all chains of windows share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .growth import Growth
from .places import Places

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class WindowGraph:
    """The states that send a window, and where each leads when its round is delivered whole.

    The states of congestion avoidance lie on lines: each leads to the next, and the last of a line to the last state of
    all, of the largest window, which leads to itself (b of them to each other, for b rounds a window). States of slow
    start and of rounds that repair losses come before them.

    Attributes
    ----------
    windows : (S,) int array
        What each state sends in a round [packets].
    grow_to : (S,) int array
        State after a round that was delivered whole; -1 where `branches` says it.
    start, restart : int
        First state of a video; state after a timeout is over.
    max_window, rounds_per_increase : int
        The most packets of a round, W_max, and b. Behind a bottleneck what it carries in a round, and 1.
    n_preamble : int
        States before those of congestion avoidance: of slow start, and of rounds that repair losses. Windows grow from
        a state to later ones only, but for the last: see `overflow_state`.
    branches : Growth
        After a round delivered whole of states whose `grow_to` is -1.
    places : Places, optional
        What each state stands for, where another path can take it over.
    """

    windows: Ints
    grow_to: Ints
    start: int
    restart: int
    max_window: int
    rounds_per_increase: int
    n_preamble: int = 0
    branches: Growth = field(default_factory=Growth.none)
    places: Places | None = None

    @property
    def size(self) -> int:
        """S."""
        return len(self.windows)

    @property
    def overflow_state(self) -> int | None:
        """State after a round of the last one that is delivered whole, where this overflows a buffer."""
        target = int(self.grow_to[-1])
        return target if target < self.size - self.rounds_per_increase else None

    @cached_property
    def packets_between_overflows(self) -> float:
        """Packets from one overflow to the next, if no others are lost; infinite where none is."""
        if self.overflow_state is None:
            return math.inf
        state, packets = self.overflow_state, 0
        while state < self.size - 1:
            packets += int(self.windows[state])
            state = int(self.grow_to[state]) if self.grow_to[state] >= 0 else self.growth.of(state)[0][0]
        return float(packets + int(self.windows[state]))

    @cached_property
    def growth(self) -> Growth:
        """Every move after a round delivered whole."""
        known = np.flatnonzero(self.grow_to >= 0)
        moves = Growth(known, self.grow_to[known], np.ones(len(known)))
        return moves.joined(self.branches) if len(self.branches.from_state) else moves

    def behind(self, windows: Ints, grow_to: Ints, places: Places | None) -> WindowGraph:
        """Return the graph with some states before its own.

        Parameters
        ----------
        windows, grow_to : (n,) int arrays
            What they send, and where they lead, as states of the new graph.
        places : Places, optional
            What all states stand for then.
        """
        n = len(windows)
        return replace(
            self,
            windows=np.append(windows, self.windows),
            grow_to=np.append(grow_to, np.where(self.grow_to >= 0, self.grow_to + n, -1)),
            start=self.start + n,
            restart=self.restart + n,
            n_preamble=self.n_preamble + n,
            branches=Growth(self.branches.from_state + n, self.branches.to_state + n, self.branches.share),
            places=places,
        )

    @property
    def rounds_at_window(self) -> Ints:
        """Rounds in a row that each state's window was sent before, on its line."""
        s = np.arange(self.size)
        begins = np.append(True, (self.grow_to[:-1] != s[1:]) | (self.windows[:-1] != self.windows[1:]))
        return s - np.maximum.accumulate(np.where(begins, s, 0))

    def most_received(self, rounds: int) -> float:
        """Return the packets of so many rounds in which nothing is ever lost."""
        ends = self.grow_to[self.start :] != np.arange(self.start + 1, self.size + 1)
        line = self.windows[self.start : self.start + 1 + int(np.argmax(ends))][:rounds]
        return float(line.sum() + (rounds - len(line)) * self.max_window)
