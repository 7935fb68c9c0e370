"""One loss epoch of a live stream over a chain with independent losses.

The backlog counts what is not received. What the receiver holds beyond a hole is in order one round later, with the
retransmissions: `IndependentEpoch.in_order` says where the rounds of losses end in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..numerics.lattices import Lattice
from ..tcp.independent import IndependentChain
from ..tcp.silences import LEVELS
from .back_off import back_off
from .epoch_independent import RoundOutcomes, climb
from .perron import climbs
from .playback import Playback
from .program import Program
from .window_epochs import WindowEpochs
from .windows import Windows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Complexes = NDArray[np.complex128]


@dataclass
class IndependentEpoch:
    """All that happens between one window entry and the next, as mass by position (packets above `-depth`)."""

    active: Floats
    lost: Floats
    in_order: Floats
    timing_out: Floats
    recovered: Floats
    visits: Floats
    entries: Floats


class IndependentBacklog(WindowEpochs[IndependentEpoch]):
    """The operator of one loss epoch of a chain with independent losses.

    Parameters
    ----------
    chain : IndependentChain
        What sends.
    lattice : Lattice
        Of the backlog, and what is generated per round.
    """

    long = 0.7  # such losses blur waves little, in small windows too: epochs wear out the rest
    blurs = True

    def __init__(self, chain: IndependentChain, lattice: Lattice) -> None:
        super().__init__(chain.loss, chain.graph, chain.silences, chain.recover_to, lattice)
        self.chain = chain

    def _record(self, n: int) -> tuple[Program, Floats, IndependentEpoch]:
        chain, rows = self.chain, len(self.entered)
        program = Program()
        playback = Playback(program, n, self.steps_per_packet, self.drop, self.lattice.trace)
        entries, following, visits = (program.room(height * n) for height in (rows, rows, LEVELS))
        active, lost, in_order, timing_out, inflow, recovered = (program.room(n) for _ in range(6))
        rows_of_first = self._rows[:, 0]
        over = None if self._over_row is None else program.room(n)
        states = Windows(
            chain.graph.windows,
            rows_of_first,
            chain.loss,
            self._feedback,
            self._ends,
            chain.graph.n_preamble,
            self._branches,
            over,
        )
        climb(
            playback, states, self._outcomes, entries, self.entered, active, lost, in_order, timing_out, following, rows
        )
        program.clear(recovered, n)
        for row in range(rows):
            program.add(recovered, following + row * n, n)
        if over is not None and self._over_row is not None:
            program.add(following + self._over_row * n, over, n)
        program.clear(inflow, n)
        for shift, weight in zip(*self._all_lost):
            program.put(inflow, n, lost, n - 1, -int(shift), weight)
        self._wait_after_short(program, inflow, timing_out, n)
        restart = following + self._restart_row * n
        back_off(playback, chain.loss, inflow, self._shifts, self._weights, visits, restart)
        program.ready()
        made = IndependentEpoch(
            active=program.row(active, n),
            lost=program.row(lost, n),
            in_order=program.row(in_order, n),
            timing_out=program.row(timing_out, n),
            recovered=program.row(recovered, n),
            visits=program.row(visits, LEVELS, n),
            entries=program.row(following, rows, n),
        )
        return program, program.row(entries, rows, n), made

    @property
    def rows(self) -> int:
        """Rows of mass by backlog that an epoch needs, about: states that lose in the same way share one."""
        return max(len(self._outcomes.windows), len(self.entered))

    @property
    def _ends(self) -> tuple[int, ...]:
        """States before the last lines that lead to the largest window."""
        chain = self.chain
        before = np.arange(chain.graph.n_preamble, chain.graph.size - chain.graph.rounds_per_increase - 1)
        return tuple(before[chain.graph.grow_to[before] != before + 1].tolist())

    @cached_property
    def _outcomes(self) -> RoundOutcomes:
        """What becomes of the packets of a round."""
        chain = self.chain
        groups = chain.recoveries(chain.graph.size)
        first = groups.order[groups.starts[:-1]]
        group = np.empty(chain.graph.size, dtype=np.int64)
        group[groups.order] = np.repeat(np.arange(len(first)), np.diff(groups.starts))
        return RoundOutcomes(
            repaired=chain.repaired,
            groups=group,
            windows=groups.windows,
            losses=groups.losses,
            rows=self._rows[first],
            shares=groups.shares,
            held=chain.nothing_lost_twice[first],
            repaired_whole=chain.repaired_whole[first],
            all_lost=chain.all_lost[first],
            recovers=chain.recovering()[first],
            fails=chain.timing_out()[first],
            repairs=chain.repairs,
            holds=chain.holds,
        )

    def _factors(self, *waves: Complexes) -> tuple[Complexes, Complexes, Complexes]:
        """Return what becomes of waves that enter each state; see `stationary.perron.factors`.

        The states of the largest window are one here.
        """
        packet, playback, all_lost, few = waves
        chain = self.chain
        s = slice(self._states)
        mu = playback[:, np.newaxis]
        whole = mu * ((1 - chain.loss) * packet[:, np.newaxis]) ** chain.graph.windows[s]
        recovers = mu * chain.recovering(packet)[:, s]
        fails = mu * few[:, np.newaxis] * chain.timing_out(packet)[:, s]
        times_out = chain.all_lost[s] * all_lost[:, np.newaxis] + fails
        return climbs(whole, recovers, times_out, 1, self._over_row is None)

    @property
    def _links(self) -> tuple[Ints, Ints, Floats, NDArray[np.bool_]]:
        """How states lead to each other: see `stationary.perron.perron`."""
        chain = self.chain
        states = self._states
        entry, ends = np.full(states, -1), np.zeros(states, dtype=np.bool_)
        entry[self.entered] = np.arange(len(self.entered))
        ends[list(self._ends)] = True
        half = np.where(chain.recover_to >= 0, self._rows, -1)
        return entry, half[:states], chain.recover_share[:states], ends

    def occupancy(self, epoch: IndependentEpoch) -> Floats:
        """Return the time spent at each position in order [rounds], counted at the ends of rounds."""
        pmf: Floats = epoch.active - epoch.recovered + epoch.in_order + epoch.visits.sum(axis=0)
        cap = len(pmf) - 1
        self._add_waits(pmf, epoch.lost, self.chain.silences.whole_loss, 1)
        self._add_waits(pmf, epoch.timing_out, self.chain.silences.unrepaired, 0)
        for e in range(LEVELS):
            self._add_waits(pmf, self.chain.loss * epoch.visits[e, :cap], self.chain.silences.backoff[e], 1)
        return pmf

    def overflow(self, epoch: IndependentEpoch) -> float:
        """Return a bound on the mass that left through the deepest backlog in an epoch."""
        bottom = self.drop + 1
        gone = epoch.active[:bottom].sum() + epoch.visits[:, :bottom].sum()
        gone += sum(weight * epoch.lost[:shift].sum() for shift, weight in zip(*self._all_lost))
        gone += sum(weight * epoch.timing_out[:shift].sum() for shift, weight in zip(*self._short_wait))
        for e in range(LEVELS):
            ways = zip(self._shifts[e], self._weights[e])
            gone += sum(self.chain.loss * weight * epoch.visits[e, :shift].sum() for shift, weight in ways)
        return float(abs(gone))
