"""The transient of a path that varies, which always has something to send: a transient of each regime, side by side.

After each round a part of what each regime holds goes over to the others; what waits goes over when its wait ends.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..kernels.carried_rows import carry
from ..kernels.repairs import total
from ..kernels.rows import clear, trim
from ..numerics.measure import Measure, together
from ..numerics.rows import Rows
from ..tcp.silences import LEVELS
from ..tcp.varying_chain import VaryingChain
from .backlogged import Backlogged
from .boundary import OPEN, Boundary, Crossed
from .burst import GONE, NEGLIGIBLE
from .independent_round import IndependentRound
from .timeouts import MARGIN, Timeouts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class BackloggedVarying(Backlogged):
    """Evolution of a chain of regimes, by regime, state and packets received; as `BackloggedIndependent`.

    Parameters
    ----------
    chain : VaryingChain
        What sends.
    goal : int
        Packets after which nothing is followed any more.
    """

    unchanging = *Backlogged.unchanging, "_maps", "_levels"

    def __init__(self, chain: VaryingChain, goal: int) -> None:
        super().__init__(goal)
        self.chain, parts = chain, chain.parts
        self._rounds = [IndependentRound(part, 1) for part in parts]
        states = [len(one.windows) for one in self._rounds]
        self._restarts = [min(part.graph.restart, n - 1) for part, n in zip(parts, states)]
        self._maps = [[np.minimum(to[:n], m - 1) for to, m in zip(row, states)] for row, n in zip(chain.maps, states)]
        self._levels = np.arange(2 * LEVELS)
        self._margin = chain.largest_round + 8
        self._x = [Rows.empty(n).at(0, self._margin) for n in states]
        self._spare = [Rows.empty(n) for n in states]
        self._other = [Rows.empty(n) for n in states]
        self._timeouts = [Timeouts(one.loss, one.silences, self.account, 1, NEGLIGIBLE) for one in parts]
        for part, n, x, chance in zip(parts, states, self._x, chain.begins.tolist()):
            x.add(min(part.graph.start, n - 1), Measure(0, np.array([chance])))
        self._followed = 1.0
        self._delivered = Measure(0, np.ones(1))

    def step(self, boundary: Boundary = OPEN) -> Crossed:
        """Make one round, and return what lies below the floor [packets] at its end; it is removed."""
        floor, safe, account = boundary.floor, boundary.safe, self.account
        killed = account.killed
        limit = min(self.goal, math.ceil(safe)) if safe < math.inf else self.goal
        self._change_waits()
        seen: list[Measure] = []
        gone = 0.0
        made = []
        for rounds, timeouts, x in zip(self._rounds, self._timeouts, self._x):
            first, end = x.span or (x.origin, x.origin)
            groups, (no_loss, in_order, timing_out, lost) = rounds.lost(x)
            restarted = timeouts.step(Measure(first, lost), Measure(first, timing_out), floor, limit, all_lost=1.0)
            gone += float(in_order[: max(0, floor - first)].sum())
            seen += [Measure(first, no_loss), Measure(first, in_order), restarted, timeouts.resting, timeouts.waiting]
            made.append((groups, restarted, first, end))
        back = [one for _, one, _, _ in made if len(one.mass)]
        low = min([*(first for _, _, first, _ in made), *(one.origin for one in back)])
        size = max([*(end for _, _, _, end in made), *(one.end for one in back)]) + self._margin - low
        for i, (groups, restarted, _, _) in enumerate(made):
            new = self._spare[i]
            clear(new.mass, new.low, new.high)
            new.at(low, size)
            self._rounds[i].advance(self._x[i], groups, new, floor)
            if len(restarted.mass):
                new.add(self._restarts[i], restarted)
        after = self._changed(low, size)
        followed = float(sum(one.resting.mass.sum() for one in self._timeouts))
        for new in after:
            n = len(new.low)
            below, above, dropped = trim(
                new.mass, new.low, new.high, np.full(n, floor - low), np.ones(n), np.full(n, limit - low), NEGLIGIBLE
            )
            gone += below
            account.done += above
            account.neglected += dropped
            followed += total(new.mass, new.low, new.high)
            self.cells += int((new.high - new.low).sum())
        account.killed += gone
        self.round += 1
        self.floor = floor
        self._x, self._spare, self._other = after, self._x, self._spare
        self._followed = followed
        self._delivered = together(*seen)
        account.close(followed + float(sum(one.waiting.mass.sum() for one in self._timeouts)))
        return Crossed(account.killed - killed)

    def _changed(self, low: int, size: int) -> list[Rows]:
        """Return what each regime has after the changes of a round, of timeouts too."""
        once = self.chain.switching.after(1)
        for new in self._other:
            clear(new.mass, new.low, new.high)
            new.at(low, size)
        for i, (old, row) in enumerate(zip(self._spare, self._maps)):
            for j, to in enumerate(row):
                new = self._other[j]
                carry(old.mass, old.low, old.high, to, once[i, j], 0, new.mass, new.low, new.high)
        self._change_timeouts(once)
        return self._other

    def _change_timeouts(self, once: Floats) -> None:
        """Let what retransmits change its regime."""
        spans = [one.rows.span for one in self._timeouts]
        known = [span for span in spans if span is not None]
        if not known:
            return
        first = min(span[0] for span in known) - MARGIN
        size = max(span[1] for span in known) + MARGIN - first
        old = [one.rows for one in self._timeouts]
        for j, one in enumerate(self._timeouts):
            new = Rows.empty(2 * LEVELS).at(first, size)
            for i, rows in enumerate(old):
                carry(
                    rows.mass, rows.low, rows.high, self._levels, once[i, j], rows.origin - first,
                    new.mass, new.low, new.high,
                )  # fmt: skip
            one.rows = new

    def _change_waits(self) -> None:
        """Let what comes back from a wait at the end of this round change its regime, as until its last round."""
        waits = [one.waits for one in self._timeouts]
        number, rounds = self.round, waits[0].rounds
        for kind in range(len(rounds)):
            before = 1
            for way in range(2):
                if waits[0].weights[kind, way] == 0.0:
                    continue
                lasts = int(rounds[kind, way])
                then = number + 1 - lasts
                if then >= 0 and lasts > before:
                    row = int(waits[0].starts[kind]) + then % int(waits[0].depths[kind])
                    _mix(waits, row, self.chain.switching.after(lasts - before))
                before = lasts

    def survivors(self) -> float:
        """Return the probability of being at or above the floor now, in waits too."""
        return self.account.done + sum(one.surviving(self.floor) for one in self._timeouts) + self._followed

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to follow."""
        return all(one.idle for one in self._timeouts) and self._followed < GONE

    def distribution(self) -> Measure:
        """Return the measure of the packets delivered in order by now; what is done is left out."""
        return self._delivered


def _mix(waits: list, row: int, chances: Floats) -> None:  # type: ignore[type-arg]
    """Let what waits in a row of each regime change it."""
    held = [one.held(row) for one in waits]
    known = [one for one in held if len(one.mass)]
    if not known:
        return
    first, end = min(one.origin for one in known), max(one.end for one in known)
    whole = np.zeros((len(waits), end - first))
    for into, one in zip(whole, held):
        into[one.origin - first : one.end - first] += one.mass
    for one, mass in zip(waits, chances.T @ whole):
        one.put(row, Measure(first, mass))
