"""The stationary backlog of a live stream over a source with independent losses; see `tcpstream.stationary.burst`.

The backlog counts what is not received. What the receiver holds beyond a hole is in order one round later, with the
retransmissions: `SackEpoch.shown` says where the rounds of losses end in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..tcp.sack import SackSource
from ..tcp.silences import LEVELS
from .burst import Backlog
from .epoch import Playback, Windows, back_off
from .epoch_independent import Laws, climb
from .perron import climbs
from .program import Program

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Complexes = NDArray[np.complex128]


@dataclass
class SackEpoch:
    """All that happens between one window entry and the next, as mass by position (packets above `-depth`)."""

    active: Floats
    lost: Floats
    shown: Floats
    failing: Floats
    recovered: Floats
    visits: Floats
    entries: Floats


class SackBacklog(Backlog):
    """The operator of one loss epoch on a lattice of backlogs; parameters as those of `Backlog`."""

    source: SackSource

    def _record(self, n: int) -> tuple[Program, Floats, SackEpoch]:  # type: ignore[override]
        source, rows = self.source, len(self.entered)
        program = Program()
        playback = Playback(program, n, self.stride, self.drop, self.lattice.trace)
        entries, following, visits = (program.room(height * n) for height in (rows, rows, LEVELS))
        active, lost, shown, failing, inflow, recovered = (program.room(n) for _ in range(6))
        rows_of_first = self._rows[:, 0]
        over = None if self._over_row is None else program.room(n)
        states = Windows(
            source.windows, rows_of_first, source.loss, self._feedback, self._ends, source.apart, self._branches, over
        )
        climb(playback, states, self._laws, entries, self.entered, active, lost, shown, failing, following, rows)
        program.clear(recovered, n)
        for row in range(rows):
            program.add(recovered, following + row * n, n)
        if over is not None and self._over_row is not None:
            program.add(following + self._over_row * n, over, n)
        program.clear(inflow, n)
        for shift, weight in zip(*self._all_lost):
            program.put(inflow, n, lost, n - 1, -int(shift), weight)
        self._wait_after_short(program, inflow, failing, n)
        restart = following + self._restart_row * n
        back_off(playback, source.loss, inflow, self._shifts, self._weights, visits, restart)
        program.ready()
        made = SackEpoch(
            active=program.row(active, n),
            lost=program.row(lost, n),
            shown=program.row(shown, n),
            failing=program.row(failing, n),
            recovered=program.row(recovered, n),
            visits=program.row(visits, LEVELS, n),
            entries=program.row(following, rows, n),
        )
        return program, program.row(entries, rows, n), made

    @property
    def rows(self) -> int:
        """Rows of mass by backlog that an epoch needs, about: states that lose in the same way share one."""
        return max(len(self._laws.windows), len(self.entered))

    @property
    def _ends(self) -> tuple[int, ...]:
        """States before the last lines that lead to the largest window."""
        source = self.source
        before = np.arange(source.apart, source.size - source.rounds_per_increase - 1)
        return tuple(before[source.grow_to[before] != before + 1].tolist())

    @cached_property
    def _laws(self) -> Laws:
        """What becomes of the packets of a round."""
        source = self.source
        groups = source.recoveries(source.size)
        first = groups.order[groups.starts[:-1]]
        group = np.empty(source.size, dtype=np.int64)
        group[groups.order] = np.repeat(np.arange(len(first)), np.diff(groups.starts))
        return Laws(
            repaired=source.repaired,
            groups=group,
            windows=groups.windows,
            losses=groups.losses,
            rows=self._rows[first],
            shares=groups.shares,
            held=source.nothing_lost_twice[first],
            repaired_whole=source.repaired_whole[first],
            all_lost=source.all_lost[first],
            recovers=source.recovering()[first],
            fails=source.failing()[first],
            repairs=source.repairs,
            holds=source.holds,
        )

    def _factors(self, *waves: Complexes) -> tuple[Complexes, Complexes, Complexes]:
        """Return what becomes of waves that enter each state; see `kernels.perron.factors`.

        The states of the largest window are one here.
        """
        packet, playback, all_lost, few = waves
        source = self.source
        s = slice(self._states)
        mu = playback[:, np.newaxis]
        whole = mu * ((1 - source.loss) * packet[:, np.newaxis]) ** source.windows[s]
        recovers = mu * source.recovering(packet)[:, s]
        fails = mu * few[:, np.newaxis] * source.failing(packet)[:, s]
        times_out = source.all_lost[s] * all_lost[:, np.newaxis] + fails
        return climbs(whole, recovers, times_out, 1, self._over_row is None)

    @property
    def _links(self) -> tuple[Ints, Ints, Floats, NDArray[np.bool_]]:
        """How states lead to each other: see `kernels.perron.perron`."""
        source = self.source
        states = self._states
        entry, ends = np.full(states, -1), np.zeros(states, dtype=np.bool_)
        entry[self.entered] = np.arange(len(self.entered))
        ends[list(self._ends)] = True
        half = np.where(source.recover_to >= 0, self._rows, -1)
        return entry, half[:states], source.recover_share[:states], ends

    def law(self, epoch: SackEpoch) -> Floats:  # type: ignore[override]
        """Return the time spent at each position in order [rounds], counted at the ends of rounds."""
        law: Floats = epoch.active - epoch.recovered + epoch.shown + epoch.visits.sum(axis=0)
        cap = len(law) - 1
        self._add_waits(law, epoch.lost, self.source.all_lost_wait, 1)
        self._add_waits(law, epoch.failing, self.source.short_wait, 0)
        for e in range(LEVELS):
            self._add_waits(law, self.source.loss * epoch.visits[e, :cap], self.source.backoff_wait[e], 1)
        return law

    def overflow(self, epoch: SackEpoch) -> float:  # type: ignore[override]
        """Return a bound on the mass that left through the deepest backlog in an epoch."""
        bottom = self.drop + 1
        gone = epoch.active[:bottom].sum() + epoch.visits[:, :bottom].sum()
        gone += sum(weight * epoch.lost[:shift].sum() for shift, weight in zip(*self._all_lost))
        gone += sum(weight * epoch.failing[:shift].sum() for shift, weight in zip(*self._short_wait))
        for e in range(LEVELS):
            ways = zip(self._shifts[e], self._weights[e])
            gone += sum(self.source.loss * weight * epoch.visits[e, :shift].sum() for shift, weight in ways)
        return float(abs(gone))
