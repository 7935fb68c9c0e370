"""The stationary backlog of a live stream: a queue whose server is TCP.

The backlog D is what was generated and is not delivered. It is solved at the moments when a window is entered after a
loss (a recovery, or the end of a timeout): one loss epoch maps the mass of these entries to that of the next, and the
stationary entries are its fixed point. A startup delay appears nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..kernels.shifts import put
from ..numerics.lattices import Lattice
from ..tcp.reno import RenoSource
from ..tcp.silences import LEVELS, Wait
from .epoch import Playback, Windows, back_off, climb, one_return
from .perron import climbs, factors, perron
from .program import Program

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Complexes = NDArray[np.complex128]


@dataclass
class Epoch:
    """All that happens between one window entry and the next, as mass by position (packets above `-depth`)."""

    active: Floats
    short: Floats
    few: Floats
    visits: Floats
    entries: Floats


class Backlog:
    """The operator of one loss epoch on a lattice of backlogs.

    Parameters
    ----------
    source : RenoSource
        What sends.
    lattice : Lattice
        Of the backlog, and what is generated per round.
    """

    def __init__(self, source: RenoSource, lattice: Lattice) -> None:
        self.source = source
        self.lattice = lattice
        self.stride, self.drop = lattice.stride, lattice.steps
        recovering = source.recover_to[source.recover_to >= 0]
        self.entered = np.unique(np.append(recovering, source.restart))
        self._over_row = None if source.overflow is None else int(np.searchsorted(self.entered, source.overflow))
        self._rows = np.searchsorted(self.entered, np.maximum(source.recover_to, 0))  # of entries, as `recover_to`
        self._restart_row = int(np.searchsorted(self.entered, source.restart))
        ways = [self._ways(wait) for wait in source.backoff_wait]
        longest = max(len(shifts) for shifts, _ in ways)
        self._shifts = np.array([np.pad(shifts, (0, longest - len(shifts))) for shifts, _ in ways])
        self._weights = np.array([np.pad(weights, (0, longest - len(weights))) for _, weights in ways])
        self._all_lost = self._ways(source.all_lost_wait)
        self._short_wait = self._ways(tuple((d - 1, weight) for d, weight in source.short_wait))
        self._recorded: tuple[Program, Floats, Epoch] | None = None

    def fall(self, chance: float) -> int:
        """Return how far as many waits in a row move down as follow each other with that chance [lattice steps]."""
        p = self.source.loss
        distance, left, e = 0, 1.0, 0
        while left > chance:
            distance += int(self._shifts[e].max())
            left *= p * (2 - p)
            e = min(e + 1, LEVELS - 1)
        return distance

    def _ways(self, wait: Wait) -> tuple[Ints, Floats]:
        """Ways down during a wait: shifts and their weights."""
        return np.array([rounds * self.drop for rounds, _ in wait]), np.array([weight for _, weight in wait])

    @property
    def rows(self) -> int:
        """Rows of mass by backlog that an epoch needs, about: the states of TCP."""
        return self.source.size

    @cached_property
    def _feedback(self) -> Floats:
        """Returns of the largest window to the ceiling, per unit that paused there."""
        b, w = self.source.rounds_per_increase, self.source.max_window
        back = one_return(b, w, self.stride, self.drop, self.lattice.trace, (1 - self.source.loss) ** w)
        return np.asarray(np.linalg.inv(np.eye(b) - back), dtype=np.float64)

    def epoch(self, entries: Floats) -> Epoch:
        """Make one loss epoch.

        Parameters
        ----------
        entries : (len(entered), n) array
            Mass that enters each window, by position; the last position is an empty backlog.

        Returns
        -------
        epoch : Epoch
            Overwritten by the next call.
        """
        if self._recorded is None or self._recorded[1].shape != entries.shape:
            self._recorded = self._record(entries.shape[1])
        program, start, epoch = self._recorded
        start[:] = entries
        program.run()
        return epoch

    def _record(self, n: int) -> tuple[Program, Floats, Epoch]:
        """Return a program that makes an epoch, with views of its entries and of what it makes."""
        source, p, rows = self.source, self.source.loss, len(self.entered)
        q, cap = 1 - p, n - 1
        program = Program()
        playback = Playback(program, n, self.stride, self.drop, self.lattice.trace)
        entries, following, visits = (program.room(height * n) for height in (rows, rows, LEVELS))
        active, short, few, inflow, going, lower = (program.room(height * n) for height in (1, 3, 1, 1, 1, 1))
        rows_of_halves = self._rows[source.windows]
        states = Windows(source.windows, rows_of_halves, p, self._feedback, (), source.apart, self._branches)
        climb(playback, states, entries, self.entered, active, short, following, rows)
        laws = np.array([[p, q, 0.0], [p, p * q, q * q], [p, p * q, p * q * q]])
        program.clear(few, n)
        for i in range(3):
            program.clear(going, n)
            for j in range(3):
                program.add(going, short + j * n, cap, float(laws[j, i]))
            playback.lower(lower, going, i)
            program.add(few, lower, n)
        program.clear(inflow, n)
        for shift, weight in zip(*self._all_lost):
            program.put(inflow, n, active, cap, -int(shift), p * weight)
        self._wait_after_short(program, inflow, few, n)
        restart = following + self._restart_row * n
        back_off(playback, p, inflow, self._shifts, self._weights, visits, restart)
        program.ready()
        made = Epoch(
            active=program.row(active, n),
            short=program.row(short, 3, n),
            few=program.row(few, n),
            visits=program.row(visits, LEVELS, n),
            entries=program.row(following, rows, n),
        )
        return program, program.row(entries, rows, n), made

    def _wait_after_short(self, program: Program, inflow: int, few: int, n: int) -> None:
        """Add what a short round has left in a wait to what retransmits after it."""
        for shift, weight in zip(self._short_wait[0].tolist(), self._short_wait[1].tolist()):
            program.put(inflow, n, few, n - 1, -shift, weight)
            below = self._below_empty(shift)
            if below < n:
                program.add(inflow + n - 1 - below, few + n - 1, 1, weight)

    def _below_empty(self, shift: int) -> int:
        """Return how far below the ceiling what was there is after as many steps of playback."""
        return shift + self.lattice.trace if shift else 0

    @np.errstate(over="ignore", invalid="ignore")
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
        laws, worths : (H, T) arrays
            Its weights by entered window, with sum 1, and their adjoint.
        """
        p = self.source.loss

        def wait(ways: tuple[Ints, Floats]) -> Complexes:
            return sum((weight * np.exp(exponents * shift) for shift, weight in zip(*ways)), np.zeros_like(exponents))

        packet = np.exp(-exponents * self.stride)
        playback = np.exp(exponents * self.drop)
        fresh = (1 - p) * packet * playback
        timeout, level = np.zeros_like(exponents), np.ones_like(exponents)
        for ways in zip(self._shifts[:-1], self._weights[:-1]):
            timeout += level * fresh**2
            level *= p * wait(ways) * (1 + fresh)
        again = p * wait((self._shifts[-1], self._weights[-1])) * (1 + fresh)
        timeout += np.where(np.abs(again) < 1, level * fresh**2 / (1 - again), np.inf)
        starts, targets, shares = self._apart_moves
        moves = starts, np.minimum(targets, self._states - 1), shares
        return perron(
            self._factors, *self._links, moves if self.source.apart else None, self._restart_row,
            packet, playback,
            wait(self._all_lost) * timeout, wait(self._short_wait) * timeout, self._over_row,
        )  # fmt: skip

    @property
    def _links(self) -> tuple[Ints, Ints, Floats, NDArray[np.bool_]]:
        """How windows lead to each other: see `kernels.perron.perron`; with slow start, how states do."""
        source, W = self.source, self.source.max_window
        if source.apart:
            W = self._states
            entry = np.full(W, -1)
            entry[self.entered] = np.arange(len(self.entered))
            w = source.windows[:W]
            half = np.where(source.recover_to[w] >= 0, self._rows[w], -1)
            return entry, half[:, np.newaxis], np.ones((W, 1)), np.zeros(W, dtype=np.bool_)
        entry = np.full(W, -1)
        entry[source.windows[self.entered] - 1] = np.arange(len(self.entered))
        half = np.where(source.recover_to[1:] >= 0, self._rows[1:], -1)
        return entry, half[:, np.newaxis], np.ones((W, 1)), np.zeros(W, dtype=np.bool_)

    def _factors(self, *waves: Complexes) -> tuple[Complexes, Complexes, Complexes]:
        """Return what becomes of waves that enter each window, or each state; see `kernels.perron.climbs`."""
        source = self.source
        made = factors(source.loss, source.max_window, *waves)
        if source.apart:
            whole, recovers, times_out = (one[:, source.windows[: self._states] - 1] for one in made)
            return climbs(whole, recovers, times_out, 1)
        return climbs(*made, source.rounds_per_increase)

    @property
    def _states(self) -> int:
        """States, those of the largest window as one."""
        return self.source.size - self.source.rounds_per_increase + 1

    @property
    def _apart_moves(self) -> tuple[Ints, Ints, Floats]:
        """Where the states apart lead: see `kernels.perron.perron`."""
        apart, growth = self.source.apart, self.source.growth
        at = np.flatnonzero(growth.source < apart)
        at = at[np.argsort(growth.source[at], kind="stable")]
        starts = np.searchsorted(growth.source[at], np.arange(apart + 1))
        return starts, growth.target[at], growth.share[at]

    @property
    def _branches(self) -> dict[int, list[tuple[int, float]]]:
        """States apart that lead to each state, with their shares."""
        starts, targets, shares = self._apart_moves
        found: dict[int, list[tuple[int, float]]] = {}
        for state, target, share in zip(np.repeat(np.arange(len(starts) - 1), np.diff(starts)), targets, shares):
            found.setdefault(int(target), []).append((int(state), float(share)))
        return found

    def law(self, epoch: Epoch) -> Floats:
        """Return the time spent at each position [rounds], counted at the ends of rounds."""
        p, cap = self.source.loss, len(epoch.active) - 1
        law: Floats = epoch.active + epoch.visits.sum(axis=0) + epoch.short.sum(axis=0)
        self._add_waits(law, p * epoch.active[:cap], self.source.all_lost_wait, 1)
        self._add_waits(law, epoch.few, self.source.short_wait, 0)
        for e in range(LEVELS):
            self._add_waits(law, p * epoch.visits[e, :cap], self.source.backoff_wait[e], 1)
        return law

    def overflow(self, epoch: Epoch) -> float:
        """Return a bound on the mass that left through the deepest backlog in an epoch."""
        p, bottom = self.source.loss, self.drop + 1  # one more for a trace
        lost = epoch.active[:bottom].sum() + epoch.short[:, :bottom].sum() + epoch.visits[:, :bottom].sum()
        lost += sum(p * weight * epoch.active[:shift].sum() for shift, weight in zip(*self._all_lost))
        lost += sum(weight * epoch.few[: shift + 1].sum() for shift, weight in zip(*self._short_wait))
        for e in range(LEVELS):
            ways = zip(self._shifts[e], self._weights[e])
            lost += sum(p * weight * epoch.visits[e, :shift].sum() for shift, weight in ways)
        return float(abs(lost))

    def _add_waits(self, law: Floats, entering: Floats, wait: Wait, first: int) -> None:
        """Add the rounds of a wait but its last one, which is counted on arrival."""
        longest = max(d for d, _ in wait)
        for r in range(first, longest - 1 + first):
            still = sum(weight for d, weight in wait if d - 1 + first > r)
            below, cap = r * self.drop, len(law) - 1
            if below > cap:
                break
            put(law, entering[:cap], -below, still)
            empty = cap - self._below_empty(below)
            if len(entering) > cap and empty >= 0:
                law[empty] += still * entering[cap]
