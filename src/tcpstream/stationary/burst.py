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
from ..tcp.reno import BurstChain
from ..tcp.silences import LEVELS, Wait
from .back_off import back_off
from .epoch import climb
from .perron import climbs, factors, perron
from .playback import Playback
from .program import Program
from .windows import Windows, one_return

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
    chain : BurstChain
        What sends.
    lattice : Lattice
        Of the backlog, and what is generated per round.
    """

    def __init__(self, chain: BurstChain, lattice: Lattice) -> None:
        self.chain = chain
        self.lattice = lattice
        self.steps_per_packet, self.drop = lattice.steps_per_packet, lattice.steps
        recovering = chain.recover_to[chain.recover_to >= 0]
        self.entered = np.unique(np.append(recovering, chain.restart))
        self._over_row = (
            None if chain.overflow_state is None else int(np.searchsorted(self.entered, chain.overflow_state))
        )
        self._rows = np.searchsorted(self.entered, np.maximum(chain.recover_to, 0))  # of entries, as `recover_to`
        self._restart_row = int(np.searchsorted(self.entered, chain.restart))
        ways = [self._ways(wait) for wait in chain.backoff_wait]
        longest = max(len(shifts) for shifts, _ in ways)
        self._shifts = np.array([np.pad(shifts, (0, longest - len(shifts))) for shifts, _ in ways])
        self._weights = np.array([np.pad(weights, (0, longest - len(weights))) for _, weights in ways])
        self._all_lost = self._ways(chain.all_lost_wait)
        self._short_wait = self._ways(tuple((d - 1, weight) for d, weight in chain.short_wait))
        self._recorded: tuple[Program, Floats, Epoch] | None = None

    def fall(self, chance: float) -> int:
        """Return how far as many waits in a row move down as follow each other with that chance [lattice steps]."""
        p = self.chain.loss
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
        return self.chain.size

    @cached_property
    def _feedback(self) -> Floats:
        """Returns of the largest window to the ceiling, per unit that paused there."""
        b, w = self.chain.rounds_per_increase, self.chain.max_window
        back = one_return(b, w, self.steps_per_packet, self.drop, self.lattice.trace, (1 - self.chain.loss) ** w)
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
        chain, p, rows = self.chain, self.chain.loss, len(self.entered)
        q, cap = 1 - p, n - 1
        program = Program()
        playback = Playback(program, n, self.steps_per_packet, self.drop, self.lattice.trace)
        entries, following, visits = (program.room(height * n) for height in (rows, rows, LEVELS))
        active, short, few, inflow, going, lower = (program.room(height * n) for height in (1, 3, 1, 1, 1, 1))
        rows_of_halves = self._rows[chain.windows]
        states = Windows(chain.windows, rows_of_halves, p, self._feedback, (), chain.n_preamble, self._branches)
        climb(playback, states, entries, self.entered, active, short, following, rows)
        left = np.array([[p, q, 0.0], [p, p * q, q * q], [p, p * q, p * q * q]])
        program.clear(few, n)
        for i in range(3):
            program.clear(going, n)
            for j in range(3):
                program.add(going, short + j * n, cap, float(left[j, i]))
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
        distributions, worths : (H, T) arrays
            Its weights by entered window, with sum 1, and their adjoint.
        """
        p = self.chain.loss

        def wait(ways: tuple[Ints, Floats]) -> Complexes:
            return sum((weight * np.exp(exponents * shift) for shift, weight in zip(*ways)), np.zeros_like(exponents))

        packet = np.exp(-exponents * self.steps_per_packet)
        playback = np.exp(exponents * self.drop)
        fresh = (1 - p) * packet * playback
        timeout, level = np.zeros_like(exponents), np.ones_like(exponents)
        for ways in zip(self._shifts[:-1], self._weights[:-1]):
            timeout += level * fresh**2
            level *= p * wait(ways) * (1 + fresh)
        again = p * wait((self._shifts[-1], self._weights[-1])) * (1 + fresh)
        timeout += np.where(np.abs(again) < 1, level * fresh**2 / (1 - again), np.inf)
        starts, targets, shares = self._preamble_moves
        moves = starts, np.minimum(targets, self._states - 1), shares
        return perron(
            self._factors, *self._links, moves if self.chain.n_preamble else None, self._restart_row,
            packet, playback,
            wait(self._all_lost) * timeout, wait(self._short_wait) * timeout, self._over_row,
        )  # fmt: skip

    @property
    def _links(self) -> tuple[Ints, Ints, Floats, NDArray[np.bool_]]:
        """How windows lead to each other: see `stationary.perron.perron`; with slow start, how states do."""
        chain, W = self.chain, self.chain.max_window
        if chain.n_preamble:
            W = self._states
            entry = np.full(W, -1)
            entry[self.entered] = np.arange(len(self.entered))
            w = chain.windows[:W]
            half = np.where(chain.recover_to[w] >= 0, self._rows[w], -1)
            return entry, half[:, np.newaxis], np.ones((W, 1)), np.zeros(W, dtype=np.bool_)
        entry = np.full(W, -1)
        entry[chain.windows[self.entered] - 1] = np.arange(len(self.entered))
        half = np.where(chain.recover_to[1:] >= 0, self._rows[1:], -1)
        return entry, half[:, np.newaxis], np.ones((W, 1)), np.zeros(W, dtype=np.bool_)

    def _factors(self, *waves: Complexes) -> tuple[Complexes, Complexes, Complexes]:
        """Return what becomes of waves that enter each window, or each state; see `stationary.perron.climbs`."""
        chain = self.chain
        made = factors(chain.loss, chain.max_window, *waves)
        if chain.n_preamble:
            whole, recovers, times_out = (one[:, chain.windows[: self._states] - 1] for one in made)
            return climbs(whole, recovers, times_out, 1)
        return climbs(*made, chain.rounds_per_increase)

    @property
    def _states(self) -> int:
        """States, those of the largest window as one."""
        return self.chain.size - self.chain.rounds_per_increase + 1

    @property
    def _preamble_moves(self) -> tuple[Ints, Ints, Floats]:
        """Where the first states lead: see `stationary.perron.perron`."""
        n_preamble, growth = self.chain.n_preamble, self.chain.growth
        at = np.flatnonzero(growth.from_state < n_preamble)
        at = at[np.argsort(growth.from_state[at], kind="stable")]
        starts = np.searchsorted(growth.from_state[at], np.arange(n_preamble + 1))
        return starts, growth.to_state[at], growth.share[at]

    @property
    def _branches(self) -> dict[int, list[tuple[int, float]]]:
        """First states that lead to each state, with their shares."""
        starts, targets, shares = self._preamble_moves
        found: dict[int, list[tuple[int, float]]] = {}
        for state, target, share in zip(np.repeat(np.arange(len(starts) - 1), np.diff(starts)), targets, shares):
            found.setdefault(int(target), []).append((int(state), float(share)))
        return found

    def occupancy(self, epoch: Epoch) -> Floats:
        """Return the time spent at each position [rounds], counted at the ends of rounds."""
        p, cap = self.chain.loss, len(epoch.active) - 1
        pmf: Floats = epoch.active + epoch.visits.sum(axis=0) + epoch.short.sum(axis=0)
        self._add_waits(pmf, p * epoch.active[:cap], self.chain.all_lost_wait, 1)
        self._add_waits(pmf, epoch.few, self.chain.short_wait, 0)
        for e in range(LEVELS):
            self._add_waits(pmf, p * epoch.visits[e, :cap], self.chain.backoff_wait[e], 1)
        return pmf

    def overflow(self, epoch: Epoch) -> float:
        """Return a bound on the mass that left through the deepest backlog in an epoch."""
        p, bottom = self.chain.loss, self.drop + 1  # one more for a trace
        lost = epoch.active[:bottom].sum() + epoch.short[:, :bottom].sum() + epoch.visits[:, :bottom].sum()
        lost += sum(p * weight * epoch.active[:shift].sum() for shift, weight in zip(*self._all_lost))
        lost += sum(weight * epoch.few[: shift + 1].sum() for shift, weight in zip(*self._short_wait))
        for e in range(LEVELS):
            ways = zip(self._shifts[e], self._weights[e])
            lost += sum(p * weight * epoch.visits[e, :shift].sum() for shift, weight in ways)
        return float(abs(lost))

    def _add_waits(self, pmf: Floats, entering: Floats, wait: Wait, first: int) -> None:
        """Add the rounds of a wait but its last one, which is counted on arrival."""
        longest = max(d for d, _ in wait)
        for r in range(first, longest - 1 + first):
            still = sum(weight for d, weight in wait if d - 1 + first > r)
            below, cap = r * self.drop, len(pmf) - 1
            if below > cap:
                break
            put(pmf, entering[:cap], -below, still)
            empty = cap - self._below_empty(below)
            if len(entering) > cap and empty >= 0:
                pmf[empty] += still * entering[cap]
