"""One loss epoch of a live stream over a chain with bursts of losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..numerics.lattices import Lattice
from ..tcp.burst import BurstChain
from ..tcp.silences import LEVELS
from .back_off import back_off
from .epoch import climb
from .perron import climbs, factors
from .playback import Playback
from .program import Program
from .window_epochs import WindowEpochs
from .windows import Windows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Complexes = NDArray[np.complex128]


SMALL = 8
"""Largest windows up to this leave waves of any length: a loss there blurs them too little."""


@dataclass
class BurstEpoch:
    """All that happens between one window entry and the next, as mass by position (packets above `-depth`)."""

    active: Floats
    short: Floats
    few: Floats
    visits: Floats
    entries: Floats


class Backlog(WindowEpochs[BurstEpoch]):
    """The operator of one loss epoch of a chain with bursts of losses.

    Parameters
    ----------
    chain : BurstChain
        What sends.
    lattice : Lattice
        Of the backlog, and what is generated per round.
    """

    long = 0.5

    def __init__(self, chain: BurstChain, lattice: Lattice) -> None:
        super().__init__(chain.loss, chain.graph, chain.silences, chain.recover_to, lattice)
        self.chain = chain
        self.blurs = chain.graph.max_window > SMALL

    @property
    def rows(self) -> int:
        """Rows of mass by backlog that an epoch needs, about: the states of TCP."""
        return self.graph.size

    def _record(self, n: int) -> tuple[Program, Floats, BurstEpoch]:
        """Return a program that makes an epoch, with views of its entries and of what it makes."""
        chain, p, rows = self.chain, self.chain.loss, len(self.entered)
        q, cap = 1 - p, n - 1
        program = Program()
        playback = Playback(program, n, self.steps_per_packet, self.drop, self.lattice.trace)
        entries, following, visits = (program.room(height * n) for height in (rows, rows, LEVELS))
        active, short, few, inflow, going, lower = (program.room(height * n) for height in (1, 3, 1, 1, 1, 1))
        rows_of_halves = self._rows[chain.graph.windows]
        states = Windows(
            chain.graph.windows, rows_of_halves, p, self._feedback, (), chain.graph.n_preamble, self._branches
        )
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
        made = BurstEpoch(
            active=program.row(active, n),
            short=program.row(short, 3, n),
            few=program.row(few, n),
            visits=program.row(visits, LEVELS, n),
            entries=program.row(following, rows, n),
        )
        return program, program.row(entries, rows, n), made

    @property
    def _links(self) -> tuple[Ints, Ints, Floats, NDArray[np.bool_]]:
        """How windows lead to each other: see `stationary.perron.perron`; with slow start, how states do."""
        chain, W = self.chain, self.chain.graph.max_window
        if chain.graph.n_preamble:
            W = self._states
            entry = np.full(W, -1)
            entry[self.entered] = np.arange(len(self.entered))
            w = chain.graph.windows[:W]
            half = np.where(chain.recover_to[w] >= 0, self._rows[w], -1)
            return entry, half[:, np.newaxis], np.ones((W, 1)), np.zeros(W, dtype=np.bool_)
        entry = np.full(W, -1)
        entry[chain.graph.windows[self.entered] - 1] = np.arange(len(self.entered))
        half = np.where(chain.recover_to[1:] >= 0, self._rows[1:], -1)
        return entry, half[:, np.newaxis], np.ones((W, 1)), np.zeros(W, dtype=np.bool_)

    def _factors(self, *waves: Complexes) -> tuple[Complexes, Complexes, Complexes]:
        """Return what becomes of waves that enter each window, or each state; see `stationary.perron.climbs`."""
        chain = self.chain
        made = factors(chain.loss, chain.graph.max_window, *waves)
        if chain.graph.n_preamble:
            whole, recovers, times_out = (one[:, chain.graph.windows[: self._states] - 1] for one in made)
            return climbs(whole, recovers, times_out, 1)
        return climbs(*made, chain.graph.rounds_per_increase)

    def occupancy(self, epoch: BurstEpoch) -> Floats:
        """Return the time spent at each position [rounds], counted at the ends of rounds."""
        p, cap = self.chain.loss, len(epoch.active) - 1
        pmf: Floats = epoch.active + epoch.visits.sum(axis=0) + epoch.short.sum(axis=0)
        self._add_waits(pmf, p * epoch.active[:cap], self.chain.silences.whole_loss, 1)
        self._add_waits(pmf, epoch.few, self.chain.silences.unrepaired, 0)
        for e in range(LEVELS):
            self._add_waits(pmf, p * epoch.visits[e, :cap], self.chain.silences.backoff[e], 1)
        return pmf

    def overflow(self, epoch: BurstEpoch) -> float:
        """Return a bound on the mass that left through the deepest backlog in an epoch."""
        p, bottom = self.chain.loss, self.drop + 1  # one more for a trace
        lost = epoch.active[:bottom].sum() + epoch.short[:, :bottom].sum() + epoch.visits[:, :bottom].sum()
        lost += sum(p * weight * epoch.active[:shift].sum() for shift, weight in zip(*self._all_lost))
        lost += sum(weight * epoch.few[: shift + 1].sum() for shift, weight in zip(*self._short_wait))
        for e in range(LEVELS):
            ways = zip(self._shifts[e], self._weights[e])
            lost += sum(p * weight * epoch.visits[e, :shift].sum() for shift, weight in ways)
        return float(abs(lost))
