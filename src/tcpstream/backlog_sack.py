"""The stationary backlog of a live stream over a source with independent losses; see `tcpstream.backlog`.

The backlog counts what is not received. What the receiver holds beyond a hole is in order one round later, with the
retransmissions: `SackEpoch.shown` says where the rounds of losses end in order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .backlog import Backlog
from .kernels.epoch import Playback, Windows, back_off
from .kernels.epoch_sack import Laws, climb
from .kernels.perron import climbs
from .kernels.program import Program
from .tcp.reno import LEVELS
from .tcp.reno_sack import RenoSackSource

Floats = NDArray[np.float64]
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

    source: RenoSackSource

    def _record(self, n: int) -> tuple[Program, Floats, SackEpoch]:  # type: ignore[override]
        source, rows = self.source, len(self.entered)
        program = Program()
        playback = Playback(program, n, self.stride, self.drop, self.spread)
        entries, following, visits = (program.room(height * n) for height in (rows, rows, LEVELS))
        active, lost, shown, failing, inflow, recovered = (program.room(n) for _ in range(6))
        states = Windows(source.windows, self._row_of_state, source.loss, self._feedback)
        laws = Laws(
            source.repaired, source.nothing_lost_twice, source.repaired_whole, source.all_lost,
            source.recovering(), source.failing(),
        )  # fmt: skip
        climb(playback, states, laws, entries, self.entered, active, lost, shown, failing, following, rows)
        program.clear(recovered, n)
        for row in range(rows):
            program.add(recovered, following + row * n, n)
        program.clear(inflow, n)
        for shift, weight in zip(*self._all_lost):
            program.put(inflow, n, lost, n - 1, -int(shift), weight)
        for shift, weight in zip(*self._short_wait):
            program.put(inflow, n, failing, n, -int(shift), weight)
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

    def _factors(self, *waves: Complexes) -> tuple[Complexes, Complexes, Complexes]:
        """Return what becomes of waves that enter each window; see `kernels.perron.factors`."""
        packet, playback, all_lost, few = waves
        source, b = self.source, self.source.rounds_per_increase
        last = source.windows.searchsorted(np.arange(1, source.max_window + 1))
        mu = playback[:, np.newaxis]
        whole = mu * ((1 - source.loss) * packet[:, np.newaxis]) ** source.windows[last]
        recovers = mu * source.recovering(packet)[:, last]
        fails = mu * few[:, np.newaxis] * source.failing(packet)[:, last]
        times_out = source.all_lost[last] * all_lost[:, np.newaxis] + fails
        return climbs(whole, recovers, times_out, b)

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
