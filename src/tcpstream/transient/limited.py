"""The transient of a live chain: round by round, where TCP cannot send what does not exist yet.

Waits are pure delays: mass that enters one comes out later where it went in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from ..numerics.measure import Measure
from ..tcp.silences import LEVELS, Silences, Wait
from .account import Account

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-18
"""Mass dropped at most at each end of the window of positions, each round; what is dropped is counted."""

GONE = 1e-13
"""Mass that is not worth another round."""


class Limited(ABC):
    """Evolution of a chain from its start, one round at a time, with no more to send than exists.

    Positions count delivered packets in steps of ``1 / steps_per_packet``. What exists is a ceiling that grows: TCP
    cannot deliver more, and a chain that has delivered everything pauses. Where backlogs hold a trace the ceiling is
    one position above what exists, and what leaves it goes one down. Once `final`, mass at the ceiling has delivered
    the whole video and is done.

    Parameters
    ----------
    ceiling : int
        Position of what exists at the start.
    steps_per_packet : int
        Positions per packet.
    trace : int
        See `tcpstream.numerics.lattices`.

    Attributes
    ----------
    round : int
        Rounds made.
    account : Account
    """

    def __init__(self, ceiling: int, steps_per_packet: int = 1, trace: int = 0) -> None:
        self.ceiling, self.steps_per_packet, self.trace = ceiling, steps_per_packet, trace
        self.round = 0
        self.account = Account()

    @abstractmethod
    def step(self, ceiling: int, *, final: bool = True) -> None:
        """Make one round.

        Parameters
        ----------
        ceiling : int
            Positions that exist by the end of the round; does not decrease.
        final : bool
            No more will exist: mass at the ceiling is done.
        """

    @abstractmethod
    def distribution(self) -> Measure:
        """Return the measure of the packets delivered in order by now, what is done left out."""

    @abstractmethod
    def rest(self) -> int:
        """Skip the rounds in which all that is left waits, and return how many; for a ceiling that stays."""

    @property
    @abstractmethod
    def left(self) -> float:
        """Probability that is still followed."""

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to follow."""
        return self.left < GONE

    def _behind(self, ceiling: int) -> int:
        """Return the position after this round of what pauses in it."""
        return self.ceiling - (self.trace if ceiling > self.ceiling else 0)


class LimitedWindows(Limited):
    """What chains of windows have in common: mass by state and position, timeouts by level, waits as pure delays.

    Parameters
    ----------
    loss : float
        p.
    silences : Silences
    states : int
        Rows of mass by state.
    start : int
        Row in which a video begins.
    ceiling, steps_per_packet, trace : int
        As for `Limited`.
    """

    def __init__(
        self, loss: float, silences: Silences, states: int, start: int, ceiling: int, steps_per_packet: int, trace: int
    ) -> None:  # fmt: skip
        super().__init__(ceiling, steps_per_packet, trace)
        self._loss, self._silences = loss, silences
        self._x = Measure(ceiling, np.zeros((states, 1)))
        self._x.mass[start, 0] = 1.0
        self._timeouts = Measure(ceiling, np.zeros((2, LEVELS, 1)))  # r = 1, then r = 0
        self._sending = Measure(ceiling, np.zeros((states, 1)))  # what sent in the previous round
        self._pending: dict[int, list[tuple[int, float, Measure]]] = defaultdict(list)
        self._waiting = Measure(0, np.zeros(1))
        self._waiting_mass = 0.0
        self._ended = False

    @property
    def left(self) -> float:
        """Probability that is still followed."""
        return float(self._moving() + max(self._waiting_mass, 0.0))

    def rest(self) -> int:
        """Skip the rounds in which all that is left waits, and return how many; for a ceiling that stays."""
        if self._moving() != 0.0 or self._sending.mass.any():
            return 0
        rounds = min(self._pending, default=self.round + 1) - self.round - 1
        self.round += rounds
        return rounds

    def distribution(self) -> Measure:
        """Return the measure of the packets delivered by now, what is done left out."""
        parts = [
            Measure(self._x.origin, self._x.mass.sum(axis=0)),
            Measure(self._timeouts.origin, self._timeouts.mass.sum(axis=(0, 1))),
            *self._others(),
            self._waiting,
        ]
        origin = min(part.origin for part in parts)
        total = Measure(origin, np.zeros(max(part.end for part in parts) - origin))
        for part in parts:
            total.add(part)
        return total

    def _others(self) -> list[Measure]:
        """Return where mass is that is neither in a state nor in a timeout nor waits, by position."""
        return []

    def _moving(self) -> float:
        """Return the probability of all that does not wait."""
        return float(self._x.mass.sum() + self._timeouts.mass.sum())

    def _finish_others(self) -> None:
        """Remove what is done of `_others`, at the last ceiling."""

    def _wait_after_short(self, few: Measure, ceiling: int, final: bool, nt: Measure) -> None:
        """Let short rounds wait that were too short; what has delivered everything then is done, once `final`."""
        if final:
            finished = take(few, ceiling)
            self.account.done += 0.0 if finished is None else float(finished)
        self._wait(self._silences.unrepaired, 1, few, nt, ceiling)

    def _come_back(self, leaving: list[tuple[int, float, Measure]], nt: Measure) -> None:
        """Let what has waited long enough retransmit next."""
        for level, weight, measure in leaving:
            Measure(nt.origin, nt.mass[0, level - 1]).add(measure, weight)
            self._waiting.add(measure, -weight)
            self._waiting_mass -= weight * float(measure.mass.sum())
        self._waiting = self._waiting.covering(nt.origin - self.trace, nt.end)

    def _send_alone(self, timeouts: Measure, restart: int, nx: Measure, nt: Measure, ceiling: int) -> None:
        """Retransmit, or send the first packet after a retransmission; what is delivered then goes on in `restart`."""
        p = self._loss
        moved = Measure(timeouts.origin + self.steps_per_packet, (1 - p) * timeouts.mass)
        Measure(nt.origin, nt.mass[1]).add(Measure(moved.origin, moved.mass[0]), limit=ceiling)
        Measure(nx.origin, nx.mass[restart]).add(Measure(moved.origin, moved.mass[1].sum(axis=0)), limit=ceiling)
        lost = p * timeouts.mass.sum(axis=0)
        for e in range(1, LEVELS + 1):
            self._wait(self._silences.backoff[e - 1], min(e + 1, LEVELS), Measure(timeouts.origin, lost[e - 1]), nt)

    def _wait(self, waits: Wait, level: int, measure: Measure, nt: Measure, ceiling: int | None = None) -> None:
        """Let `measure` wait, then retransmit at back-off `level`; a wait of one round is over at once.

        What begins to wait at the ceiling is below it a round later.
        """
        trimmed, dropped = measure.trimmed(NEGLIGIBLE)
        self.account.neglected += dropped
        if trimmed is None:
            return
        waiting = trimmed
        if self.trace and ceiling is not None:
            waiting = Measure(trimmed.origin - 1, np.zeros(len(trimmed.mass) + 1))
            waiting.add(trimmed, limit=ceiling - 1)
        for rounds, weight in waits:
            if rounds == 1:
                Measure(nt.origin, nt.mass[0, level - 1]).add(trimmed, weight)
                continue
            self._enter(rounds, level, weight, waiting)

    def _enter(self, rounds: int, level: int, weight: float, waiting: Measure) -> None:
        """Let a measure, times `weight`, wait for so many rounds."""
        self._retransmit_at(self.round + rounds, level, weight, waiting)

    def _retransmit_at(self, end: int, level: int, weight: float, waiting: Measure) -> None:
        """Let a measure, times `weight`, wait until the end of a round."""
        self._pending[end].append((level, weight, waiting))
        self._waiting.add(waiting, weight)
        self._waiting_mass += weight * float(waiting.mass.sum())

    def _settle(self, final: bool) -> None:
        """Remove what is done or negligible, and check that nothing else is missing."""
        account = self.account
        if final:
            for measure in (self._x, self._timeouts):
                finished = take(measure, self.ceiling)
                account.done += 0.0 if finished is None else float(finished.sum())
            self._finish_others()
            if not self._ended and self._waiting.end > self.ceiling >= self._waiting.origin:
                self._finish_waits()
            self._ended = True
        by_position = self._x.mass.sum(axis=0) + self._timeouts.mass.sum(axis=(0, 1))
        kept, dropped = Measure(self._x.origin, by_position).trimmed(NEGLIGIBLE)
        account.neglected += dropped
        if kept is None:
            self._x.mass[:], self._timeouts.mass[:], by_position[:] = 0.0, 0.0, 0.0
            kept = Measure(self._x.origin, by_position[:1])
        cut = slice(kept.origin - self._x.origin, kept.end - self._x.origin)
        self._x = Measure(kept.origin, np.ascontiguousarray(self._x.mass[:, cut]))
        self._timeouts = Measure(kept.origin, self._timeouts.mass[..., cut])
        followed = by_position[cut].sum() + sum(part.mass.sum() for part in self._others()) + self._waiting_mass
        account.close(float(followed))

    def _finish_waits(self) -> None:
        """Take waits at the ceiling out: everything is delivered already."""
        finished = float(self._waiting.mass[self.ceiling - self._waiting.origin])
        if finished == 0.0:
            return
        self._waiting.mass[self.ceiling - self._waiting.origin] = 0.0
        self._waiting_mass -= finished
        self.account.done += finished
        for entries in self._pending.values():
            for _, _, measure in entries:
                take(measure, self.ceiling)


def take(measure: Measure, position: int) -> Floats | None:
    """Take the mass at a position out; None if the position lies outside."""
    k = position - measure.origin
    if not 0 <= k < measure.mass.shape[-1]:
        return None
    taken = measure.mass[..., k].copy()
    measure.mass[..., k] = 0.0
    return taken
