"""The transient of a live chain in (state, packets delivered): one pass, round by round.

TCP cannot send what does not exist yet. Waits are pure delays: mass that enters one comes out later where it went in.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..kernels.growth import grow
from ..kernels.limited_losses import lose
from ..kernels.recovery import recover
from ..numerics.measure import Measure
from ..tcp.reno import DUPLICATE_ACKS, BurstChain
from ..tcp.silences import LEVELS, Wait

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-18
"""Mass dropped at most at each end of the window of positions, each round; what is dropped is counted."""

GONE = 1e-13
"""Mass that is not worth another round."""


@dataclass
class PausedShortRounds:
    """Short rounds held at the ceiling, since nothing new exists to be sent: by row and j, and by class of j."""

    position: int
    pairs: Floats
    classes: Floats


@dataclass
class LimitedTransient:
    """Evolution of a chain from its start, one round at a time.

    Positions count delivered packets in steps of ``1 / steps_per_packet``. What exists is a ceiling that grows: TCP
    cannot deliver more, and a chain that has delivered everything pauses. Where backlogs hold a trace the ceiling is
    one position above what exists, and what leaves it goes one down. Once `final`, mass at the ceiling has delivered
    the whole video and is `done`.

    Parameters
    ----------
    chain : BurstChain
        What sends.
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
    done : float
        Probability that the whole video is delivered.
    neglected : float
        Probability dropped because it was negligible.
    residual : float
        Largest departure of the total probability from 1 so far.
    """

    chain: BurstChain
    ceiling: int
    steps_per_packet: int = 1
    trace: int = 0
    round: int = 0
    done: float = 0.0
    neglected: float = 0.0
    residual: float = 0.0
    _pending: dict[int, list[tuple[int, float, Measure]]] = field(default_factory=lambda: defaultdict(list))
    _waiting_mass: float = 0.0
    _ended: bool = False

    def __post_init__(self) -> None:
        chain = self.chain
        self._success: Floats = np.power(1 - chain.loss, chain.windows, dtype=np.float64)
        self._rows, inverse = np.unique(chain.recover_to[chain.recover_to >= 0], return_inverse=True)
        row_of_window = np.zeros(chain.max_window + 1, dtype=np.int64)
        row_of_window[chain.recover_to >= 0] = inverse
        self._row_of_window = row_of_window
        self._x = Measure(self.ceiling, np.zeros((chain.size, 1)))
        self._x.mass[chain.start, 0] = 1.0
        self._timeouts = Measure(self.ceiling, np.zeros((2, LEVELS, 1)))  # r = 1, then r = 0
        self._sending = Measure(self.ceiling, np.zeros((chain.size, 1)))  # what sent in the previous round
        self._short = Measure(self.ceiling, np.zeros((3, 1)))
        self._held = PausedShortRounds(0, np.zeros((len(self._rows), chain.max_window)), np.zeros(3))
        self._waiting = Measure(0, np.zeros(1))

    def step(self, ceiling: int, *, final: bool = True) -> None:
        """Make one round.

        Parameters
        ----------
        ceiling : int
            Positions that exist by the end of the round; does not decrease.
        final : bool
            No more will exist: mass at the ceiling is done.
        """
        chain, steps_per_packet, p = self.chain, self.steps_per_packet, self.chain.loss
        now, behind = self.ceiling, self._behind(ceiling)
        x, timeouts, short = self._x, self._timeouts, self._short
        paused_x = take(x, now)
        paused_timeouts = take(timeouts, now)
        recovered, frozen = self._recover(now)
        frozen_classes = take(short, now)
        release, held = self._hold(behind, frozen, frozen_classes)
        leaving = self._pending.pop(self.round + 1, [])

        most = steps_per_packet * max(chain.max_window, 2)
        origins = [x.origin, short.origin, recovered.origin] + [measure.origin for _, _, measure in leaving]
        ends = [x.end + most, recovered.end, short.end + most]
        if paused_x is not None:
            origins.append(behind)
            ends.append(now + 1)
        if release.classes.any():
            origins.append(release.position)
            ends.append(release.position + 1 + most)
        origin = min(origins)
        end = min(ceiling + 1, max(ends))
        nx = Measure(origin, np.zeros((chain.size, end - origin)))
        nt = Measure(origin, np.zeros((2, LEVELS, end - origin)))
        nshort = Measure(x.origin, np.zeros((3, end - x.origin)))

        growth = chain.growth
        grow(
            x.mass, chain.windows, self._success, growth.from_state, growth.to_state, growth.share, steps_per_packet,
            ceiling - origin, x.origin - origin, nx.mass,
        )  # fmt: skip
        usual = slice(chain.n_initial_slow_start, None)
        windows, success = chain.windows[usual], self._success[usual]
        lose(x.mass[usual], windows, success, p, steps_per_packet, ceiling - x.origin, nshort.mass)
        self._lose_in_opening(x, nshort, ceiling)
        for row, state in enumerate(self._rows):
            Measure(origin, nx.mass[state]).add(Measure(recovered.origin, recovered.mass[row]), limit=ceiling)
        self._release(release, nx, ceiling)
        if paused_x is not None:
            nx.mass[:, behind - origin] += paused_x
        if paused_timeouts is not None:
            nt.mass[..., behind - origin] += paused_timeouts

        self._come_back(leaving, nt)
        self._wait(chain.all_lost_wait, 1, Measure(x.origin, p * x.mass.sum(axis=0)), nt)
        self._wait_after_short(self._few(short, release, ceiling), ceiling, final, nt)
        self._send_alone(timeouts, chain.restart, nx, nt, ceiling)

        self.round += 1
        self.ceiling, self._x, self._timeouts, self._short, self._held = ceiling, nx, nt, nshort, held
        self._sending = x
        self._settle(final)

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to follow."""
        return self.left < GONE

    @property
    def left(self) -> float:
        """Probability that is still followed."""
        active = self._x.mass.sum() + self._timeouts.mass.sum() + self._short.mass.sum() + self._held.classes.sum()
        return float(active + max(self._waiting_mass, 0.0))

    def rest(self) -> int:
        """Skip the rounds in which all that is left waits, and return how many; for a ceiling that stays."""
        active = (self._x.mass, self._timeouts.mass, self._short.mass, self._held.classes, self._sending.mass)
        if any(mass.any() for mass in active):
            return 0
        rounds = min(self._pending, default=self.round + 1) - self.round - 1
        self.round += rounds
        return rounds

    def distribution(self) -> Measure:
        """Return the distribution of the packets delivered by now, what is done left out."""
        parts = [
            Measure(self._x.origin, self._x.mass.sum(axis=0)),
            Measure(self._timeouts.origin, self._timeouts.mass.sum(axis=(0, 1))),
            Measure(self._short.origin, self._short.mass.sum(axis=0)),
            Measure(self._held.position, np.array([self._held.classes.sum()])),
            self._waiting,
        ]
        origin = min(part.origin for part in parts)
        total = Measure(origin, np.zeros(max(part.end for part in parts) - origin))
        for part in parts:
            total.add(part)
        return total

    def _behind(self, ceiling: int) -> int:
        """Return the position after this round of what pauses in it."""
        return self.ceiling - (self.trace if ceiling > self.ceiling else 0)

    def _wait_after_short(self, few: Measure, ceiling: int, final: bool, nt: Measure) -> None:
        """Let short rounds wait that were too short; what has delivered everything then is done, once `final`."""
        if final:
            finished = take(few, ceiling)
            self.done += 0.0 if finished is None else float(finished)
        self._wait(self.chain.short_wait, 1, few, nt, ceiling)

    def _come_back(self, leaving: list[tuple[int, float, Measure]], nt: Measure) -> None:
        """Let what has waited long enough retransmit next."""
        for level, weight, measure in leaving:
            Measure(nt.origin, nt.mass[0, level - 1]).add(measure, weight)
            self._waiting.add(measure, -weight)
            self._waiting_mass -= weight * float(measure.mass.sum())
        self._waiting = self._waiting.covering(nt.origin - self.trace, nt.end)

    def _send_alone(self, timeouts: Measure, restart: int, nx: Measure, nt: Measure, ceiling: int) -> None:
        """Retransmit, or send the first packet after a retransmission; what is delivered then goes on in `restart`."""
        p = self.chain.loss
        moved = Measure(timeouts.origin + self.steps_per_packet, (1 - p) * timeouts.mass)
        Measure(nt.origin, nt.mass[1]).add(Measure(moved.origin, moved.mass[0]), limit=ceiling)
        Measure(nx.origin, nx.mass[restart]).add(Measure(moved.origin, moved.mass[1].sum(axis=0)), limit=ceiling)
        lost = p * timeouts.mass.sum(axis=0)
        for e in range(1, LEVELS + 1):
            self._wait(self.chain.backoff_wait[e - 1], min(e + 1, LEVELS), Measure(timeouts.origin, lost[e - 1]), nt)

    def _recover(self, now: int) -> tuple[Measure, Floats]:
        """Second round of losing and recovering, of what sent in the previous round."""
        chain, sending = self.chain, self._sending
        n = sending.mass.shape[1]
        out = np.zeros((len(self._rows), n + 2 * self.steps_per_packet * chain.max_window))
        frozen = np.zeros((len(self._rows), chain.max_window))
        windows = chain.windows[chain.n_initial_slow_start :]
        recover(
            sending.mass[chain.n_initial_slow_start :], windows, self._row_of_window[windows], chain.loss,
            self.steps_per_packet, 0, now - sending.origin, out, frozen,
        )  # fmt: skip
        self._recover_in_opening(sending, now - sending.origin, out, frozen)
        return Measure(sending.origin, out), frozen

    def _lose_in_opening(self, x: Measure, short: Measure, ceiling: int) -> None:
        """Add the short rounds after losses in the first slow start, by position and class of what they send."""
        p, cap = self.chain.loss, ceiling - x.origin
        state, j, sent, _ = self.chain.first_slow_start_losses
        lost = p * (1 - p) ** j
        for k in np.flatnonzero(x.mass[: self.chain.n_initial_slow_start].any(axis=0)):
            at = (np.minimum(sent, 3) - 1, np.minimum(k + j * self.steps_per_packet, cap))
            np.add.at(short.mass, at, lost * x.mass[state, k])

    def _recover_in_opening(self, sending: Measure, cap: int, out: Floats, frozen: Floats) -> None:
        """Add the second round of losing in the first slow start and recovering, as `recover`."""
        p, steps_per_packet = self.chain.loss, self.steps_per_packet
        state, j, sent, window = self.chain.first_slow_start_losses
        lost = p * (1 - p) ** j
        rows = self._row_of_window[window]
        for k in np.flatnonzero(sending.mass[: self.chain.n_initial_slow_start].any(axis=0)):
            chance = lost * sending.mass[state, k]
            stopped = k + j * steps_per_packet >= cap
            for n in np.flatnonzero((sent >= DUPLICATE_ACKS) & (chance > 0)):
                if stopped[n]:
                    frozen[rows[n], sent[n]] += chance[n]
                    continue
                measure = p * (1 - p) ** np.arange(DUPLICATE_ACKS, sent[n] + 1)
                measure[-1] /= p
                first = k + (j[n] + DUPLICATE_ACKS) * steps_per_packet
                out[rows[n], first : first + len(measure) * steps_per_packet : steps_per_packet] += chance[n] * measure

    def _hold(self, behind: int, frozen: Floats, classes: Floats | None) -> tuple[PausedShortRounds, PausedShortRounds]:
        """Return the short rounds that are held no longer, and those that are held during this round."""
        fresh = PausedShortRounds(behind, frozen, np.zeros(3) if classes is None else classes)
        if self._held.position < self.ceiling:
            return self._held, fresh
        fresh.pairs = fresh.pairs + self._held.pairs
        fresh.classes = fresh.classes + self._held.classes
        return PausedShortRounds(behind, np.zeros_like(frozen), np.zeros(3)), fresh

    def _release(self, held: PausedShortRounds, nx: Measure, ceiling: int) -> None:
        """Let held short rounds of three and more packets go on to their fast retransmit."""
        if not held.classes.any():
            return
        p, width = self.chain.loss, self.chain.max_window
        power = (1 - p) ** np.arange(width)
        later = np.cumsum(held.pairs[:, ::-1], axis=1)[:, ::-1] - held.pairs
        measure = power * (p * later + held.pairs)
        for i in range(3, width):
            nx.mass[self._rows, min(held.position + i * self.steps_per_packet, ceiling) - nx.origin] += measure[:, i]

    def _few(self, short: Measure, release: PausedShortRounds, ceiling: int) -> Measure:
        """Short rounds that deliver fewer than three packets, by position after them."""
        p = self.chain.loss
        q = 1 - p
        pmfs = np.array([[p, q, 0.0], [p, p * q, q * q], [p, p * q, p * q * q]])
        parts = [(short.origin, short.mass)]
        if release.classes.any():
            parts.append((release.position, release.classes[:, np.newaxis]))
        origin = min(start for start, _ in parts)
        end = max(start + mass.shape[1] for start, mass in parts) + 2 * self.steps_per_packet
        total = Measure(origin, np.zeros(min(end, ceiling + 1) - origin))
        for start, mass in parts:
            for i in range(3):
                total.add(Measure(start + i * self.steps_per_packet, pmfs[:, i] @ mass), limit=ceiling)
        return total

    def _wait(self, waits: Wait, level: int, measure: Measure, nt: Measure, ceiling: int | None = None) -> None:
        """Let `measure` wait, then retransmit at back-off `level`; a wait of one round is over at once.

        What begins to wait at the ceiling is below it a round later.
        """
        trimmed, dropped = measure.trimmed(NEGLIGIBLE)
        self.neglected += dropped
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
            self._pending[self.round + rounds].append((level, weight, waiting))
            self._waiting.add(waiting, weight)
            self._waiting_mass += weight * float(waiting.mass.sum())

    def _settle(self, final: bool) -> None:
        """Remove what is done or negligible, and check that nothing else is missing."""
        active = (self._x, self._timeouts, self._short)
        if final:
            for measure in active:
                finished = take(measure, self.ceiling)
                self.done += 0.0 if finished is None else float(finished.sum())
            if self._held.position == self.ceiling:
                self.done += float(self._held.classes.sum())
                self._held = PausedShortRounds(self.ceiling, np.zeros_like(self._held.pairs), np.zeros(3))
            if not self._ended and self._waiting.end > self.ceiling >= self._waiting.origin:
                self._finish_waits()
            self._ended = True
        by_position = self._x.mass.sum(axis=0) + self._timeouts.mass.sum(axis=(0, 1))
        kept, dropped = Measure(self._x.origin, by_position).trimmed(NEGLIGIBLE)
        self.neglected += dropped
        if kept is None:
            self._x.mass[:], self._timeouts.mass[:], by_position[:] = 0.0, 0.0, 0.0
            kept = Measure(self._x.origin, by_position[:1])
        cut = slice(kept.origin - self._x.origin, kept.end - self._x.origin)
        self._x = Measure(kept.origin, np.ascontiguousarray(self._x.mass[:, cut]))
        self._timeouts = Measure(kept.origin, self._timeouts.mass[..., cut])
        total = by_position[cut].sum() + self._short.mass.sum() + self._held.classes.sum()
        total += self._waiting_mass + self.done + self.neglected
        self.residual = max(self.residual, abs(float(total) - 1))

    def _finish_waits(self) -> None:
        """Take waits at the ceiling out: everything is delivered already."""
        finished = float(self._waiting.mass[self.ceiling - self._waiting.origin])
        if finished == 0.0:
            return
        self._waiting.mass[self.ceiling - self._waiting.origin] = 0.0
        self._waiting_mass -= finished
        self.done += finished
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
