"""The operator of one loss epoch of a chain of windows: a list of array operations, recorded once and run often."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..kernels.shifts import put
from ..numerics.lattices import Lattice
from ..tcp.silences import LEVELS, Silences, Wait
from ..tcp.window_graph import WindowGraph
from .operator import Complexes, E, EpochOperator, Floats, Ints
from .perron import perron
from .program import Program
from .windows import one_return


class WindowEpochs(EpochOperator[E]):
    """What chains of windows have in common: entries by state, timeouts by level, waits as pure delays.

    Parameters
    ----------
    loss : float
        p.
    graph : WindowGraph
    silences : Silences
    recover_to : array
        States after recoveries, -1 for none.
    lattice : Lattice
        Of the backlog, and what is generated per round.
    """

    def __init__(self, loss: float, graph: WindowGraph, silences: Silences, recover_to: Ints, lattice: Lattice) -> None:
        super().__init__(lattice)
        self.loss, self.graph, self.silences = loss, graph, silences
        recovering = recover_to[recover_to >= 0]
        self.entered = np.unique(np.append(recovering, graph.restart))
        self._over_row = (
            None if graph.overflow_state is None else int(np.searchsorted(self.entered, graph.overflow_state))
        )
        self._rows = np.searchsorted(self.entered, np.maximum(recover_to, 0))  # of entries, as `recover_to`
        self._restart_row = int(np.searchsorted(self.entered, graph.restart))
        ways = [self._ways(wait) for wait in silences.backoff]
        longest = max(len(shifts) for shifts, _ in ways)
        self._shifts = np.array([np.pad(shifts, (0, longest - len(shifts))) for shifts, _ in ways])
        self._weights = np.array([np.pad(weights, (0, longest - len(weights))) for _, weights in ways])
        self._all_lost = self._ways(silences.whole_loss)
        self._short_wait = self._ways(tuple((d - 1, weight) for d, weight in silences.unrepaired))
        self._recorded: tuple[Program, Floats, E] | None = None

    def fall(self, chance: float) -> int:
        """Return how far as many waits in a row move down as follow each other with that chance [lattice steps]."""
        p = self.loss
        distance, left, e = 0, 1.0, 0
        while left > chance:
            distance += int(self._shifts[e].max())
            left *= p * (2 - p)
            e = min(e + 1, LEVELS - 1)
        return distance

    def _ways(self, wait: Wait) -> tuple[Ints, Floats]:
        """Ways down during a wait: shifts and their weights."""
        return np.array([rounds * self.drop for rounds, _ in wait]), np.array([weight for _, weight in wait])

    @cached_property
    def _feedback(self) -> Floats:
        """Returns of the largest window to the ceiling, per unit that paused there."""
        b, w = self.graph.rounds_per_increase, self.graph.max_window
        back = one_return(b, w, self.steps_per_packet, self.drop, self.lattice.trace, (1 - self.loss) ** w)
        return np.asarray(np.linalg.inv(np.eye(b) - back), dtype=np.float64)

    def epoch(self, entries: Floats) -> E:
        """Make one loss epoch; see `EpochOperator.epoch`."""
        if self._recorded is None or self._recorded[1].shape != entries.shape:
            self._recorded = self._record(entries.shape[1])
        program, start, epoch = self._recorded
        start[:] = entries
        program.run()
        return epoch

    @abstractmethod
    def _record(self, n: int) -> tuple[Program, Floats, E]:
        """Return a program that makes an epoch, with views of its entries and of what it makes."""

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
        """Return what an epoch does to waves exp(t D) of the backlog; see `EpochOperator.waves`."""
        p = self.loss

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
            self._factors, *self._links, moves if self.graph.n_preamble else None, self._restart_row,
            packet, playback,
            wait(self._all_lost) * timeout, wait(self._short_wait) * timeout, self._over_row,
        )  # fmt: skip

    @property
    @abstractmethod
    def _links(self) -> tuple[Ints, Ints, Floats, NDArray[np.bool_]]:
        """How states lead to each other: see `stationary.perron.perron`."""

    @abstractmethod
    def _factors(self, *waves: Complexes) -> tuple[Complexes, Complexes, Complexes]:
        """Return what becomes of waves that enter each state; see `stationary.perron.climbs`."""

    @property
    def _states(self) -> int:
        """States, those of the largest window as one."""
        return self.graph.size - self.graph.rounds_per_increase + 1

    @property
    def _preamble_moves(self) -> tuple[Ints, Ints, Floats]:
        """Where the first states lead: see `stationary.perron.perron`."""
        n_preamble, growth = self.graph.n_preamble, self.graph.growth
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
