"""The transient of a live source in (state, packets delivered): one pass, round by round.

TCP cannot send what does not exist yet. Waits are pure delays: mass that enters one comes out later where it went in.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..kernels.growth import grow
from ..kernels.losses import lose
from ..kernels.recovery import recover
from ..numerics.measure import Law
from ..tcp.reno import DUPLICATE_ACKS, RenoSource
from ..tcp.silences import LEVELS, Wait

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-18
"""Mass dropped at most at each end of the window of positions, each round; what is dropped is counted."""

GONE = 1e-13
"""Mass that is not worth another round."""


@dataclass
class Held:
    """Short rounds held at the ceiling, since nothing new exists to be sent: by row and j, and by class of j."""

    position: int
    pairs: Floats
    classes: Floats


@dataclass
class Transient:
    """Evolution of a source from its start, one round at a time.

    Positions count delivered packets in steps of ``1 / stride``. What exists is a ceiling that grows: TCP cannot
    deliver more, and a source that has delivered everything pauses. Where backlogs hold a trace the ceiling is one
    position above what exists, and what leaves it goes one down. Once `final`, mass at the ceiling has delivered the
    whole video and is `done`.

    Parameters
    ----------
    source : RenoSource
        What sends.
    ceiling : int
        Position of what exists at the start.
    stride : int
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

    source: RenoSource
    ceiling: int
    stride: int = 1
    trace: int = 0
    round: int = 0
    done: float = 0.0
    neglected: float = 0.0
    residual: float = 0.0
    _pending: dict[int, list[tuple[int, float, Law]]] = field(default_factory=lambda: defaultdict(list))
    _waiting_mass: float = 0.0
    _ended: bool = False

    def __post_init__(self) -> None:
        source = self.source
        self._success: Floats = np.power(1 - source.loss, source.windows, dtype=np.float64)
        self._rows, inverse = np.unique(source.recover_to[source.recover_to >= 0], return_inverse=True)
        row_of_window = np.zeros(source.max_window + 1, dtype=np.int64)
        row_of_window[source.recover_to >= 0] = inverse
        self._row_of_window = row_of_window
        self._x = Law(self.ceiling, np.zeros((source.size, 1)))
        self._x.mass[source.start, 0] = 1.0
        self._timeouts = Law(self.ceiling, np.zeros((2, LEVELS, 1)))  # r = 1, then r = 0
        self._sending = Law(self.ceiling, np.zeros((source.size, 1)))  # what sent in the previous round
        self._short = Law(self.ceiling, np.zeros((3, 1)))
        self._held = Held(0, np.zeros((len(self._rows), source.max_window)), np.zeros(3))
        self._waiting = Law(0, np.zeros(1))

    def step(self, ceiling: int, *, final: bool = True) -> None:
        """Make one round.

        Parameters
        ----------
        ceiling : int
            Positions that exist by the end of the round; does not decrease.
        final : bool
            No more will exist: mass at the ceiling is done.
        """
        source, stride, p = self.source, self.stride, self.source.loss
        now, behind = self.ceiling, self._behind(ceiling)
        x, timeouts, short = self._x, self._timeouts, self._short
        paused_x = take(x, now)
        paused_timeouts = take(timeouts, now)
        recovered, frozen = self._recover(now)
        frozen_classes = take(short, now)
        release, held = self._hold(behind, frozen, frozen_classes)
        leaving = self._pending.pop(self.round + 1, [])

        most = stride * max(source.max_window, 2)
        origins = [x.origin, short.origin, recovered.origin] + [law.origin for _, _, law in leaving]
        ends = [x.end + most, recovered.end, short.end + most]
        if paused_x is not None:
            origins.append(behind)
            ends.append(now + 1)
        if release.classes.any():
            origins.append(release.position)
            ends.append(release.position + 1 + most)
        origin = min(origins)
        end = min(ceiling + 1, max(ends))
        nx = Law(origin, np.zeros((source.size, end - origin)))
        nt = Law(origin, np.zeros((2, LEVELS, end - origin)))
        nshort = Law(x.origin, np.zeros((3, end - x.origin)))

        growth = source.growth
        grow(
            x.mass, source.windows, self._success, growth.source, growth.target, growth.share, stride,
            ceiling - origin, x.origin - origin, nx.mass,
        )  # fmt: skip
        usual = slice(source.opening, None)
        windows, success = source.windows[usual], self._success[usual]
        lose(x.mass[usual], windows, success, p, stride, ceiling - x.origin, nshort.mass)
        self._lose_in_opening(x, nshort, ceiling)
        for row, state in enumerate(self._rows):
            Law(origin, nx.mass[state]).add(Law(recovered.origin, recovered.mass[row]), limit=ceiling)
        self._release(release, nx, ceiling)
        if paused_x is not None:
            nx.mass[:, behind - origin] += paused_x
        if paused_timeouts is not None:
            nt.mass[..., behind - origin] += paused_timeouts

        self._come_back(leaving, nt)
        self._wait(source.all_lost_wait, 1, Law(x.origin, p * x.mass.sum(axis=0)), nt)
        self._wait_after_short(self._few(short, release, ceiling), ceiling, final, nt)
        self._send_alone(timeouts, source.restart, nx, nt, ceiling)

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

    def law(self) -> Law:
        """Return the law of the packets delivered by now, what is done left out."""
        parts = [
            Law(self._x.origin, self._x.mass.sum(axis=0)),
            Law(self._timeouts.origin, self._timeouts.mass.sum(axis=(0, 1))),
            Law(self._short.origin, self._short.mass.sum(axis=0)),
            Law(self._held.position, np.array([self._held.classes.sum()])),
            self._waiting,
        ]
        origin = min(part.origin for part in parts)
        total = Law(origin, np.zeros(max(part.end for part in parts) - origin))
        for part in parts:
            total.add(part)
        return total

    def _behind(self, ceiling: int) -> int:
        """Return the position after this round of what pauses in it."""
        return self.ceiling - (self.trace if ceiling > self.ceiling else 0)

    def _wait_after_short(self, few: Law, ceiling: int, final: bool, nt: Law) -> None:
        """Let short rounds wait that were too short; what has delivered everything then is done, once `final`."""
        if final:
            finished = take(few, ceiling)
            self.done += 0.0 if finished is None else float(finished)
        self._wait(self.source.short_wait, 1, few, nt, ceiling)

    def _come_back(self, leaving: list[tuple[int, float, Law]], nt: Law) -> None:
        """Let what has waited long enough retransmit next."""
        for level, weight, law in leaving:
            Law(nt.origin, nt.mass[0, level - 1]).add(law, weight)
            self._waiting.add(law, -weight)
            self._waiting_mass -= weight * float(law.mass.sum())
        self._waiting = self._waiting.covering(nt.origin - self.trace, nt.end)

    def _send_alone(self, timeouts: Law, restart: int, nx: Law, nt: Law, ceiling: int) -> None:
        """Retransmit, or send the first packet after a retransmission; what is delivered then goes on in `restart`."""
        p = self.source.loss
        moved = Law(timeouts.origin + self.stride, (1 - p) * timeouts.mass)
        Law(nt.origin, nt.mass[1]).add(Law(moved.origin, moved.mass[0]), limit=ceiling)
        Law(nx.origin, nx.mass[restart]).add(Law(moved.origin, moved.mass[1].sum(axis=0)), limit=ceiling)
        lost = p * timeouts.mass.sum(axis=0)
        for e in range(1, LEVELS + 1):
            self._wait(self.source.backoff_wait[e - 1], min(e + 1, LEVELS), Law(timeouts.origin, lost[e - 1]), nt)

    def _recover(self, now: int) -> tuple[Law, Floats]:
        """Second round of losing and recovering, of what sent in the previous round."""
        source, sending = self.source, self._sending
        n = sending.mass.shape[1]
        out = np.zeros((len(self._rows), n + 2 * self.stride * source.max_window))
        frozen = np.zeros((len(self._rows), source.max_window))
        windows = source.windows[source.opening :]
        recover(
            sending.mass[source.opening :], windows, self._row_of_window[windows], source.loss, self.stride,
            0, now - sending.origin, out, frozen,
        )  # fmt: skip
        self._recover_in_opening(sending, now - sending.origin, out, frozen)
        return Law(sending.origin, out), frozen

    def _lose_in_opening(self, x: Law, short: Law, ceiling: int) -> None:
        """Add the short rounds after losses in the first slow start, by position and class of what they send."""
        p, cap = self.source.loss, ceiling - x.origin
        state, j, sent, _ = self.source.opening_losses
        lost = p * (1 - p) ** j
        for k in np.flatnonzero(x.mass[: self.source.opening].any(axis=0)):
            at = (np.minimum(sent, 3) - 1, np.minimum(k + j * self.stride, cap))
            np.add.at(short.mass, at, lost * x.mass[state, k])

    def _recover_in_opening(self, sending: Law, cap: int, out: Floats, frozen: Floats) -> None:
        """Add the second round of losing in the first slow start and recovering, as `recover`."""
        p, stride = self.source.loss, self.stride
        state, j, sent, window = self.source.opening_losses
        lost = p * (1 - p) ** j
        rows = self._row_of_window[window]
        for k in np.flatnonzero(sending.mass[: self.source.opening].any(axis=0)):
            chance = lost * sending.mass[state, k]
            stopped = k + j * stride >= cap
            for n in np.flatnonzero((sent >= DUPLICATE_ACKS) & (chance > 0)):
                if stopped[n]:
                    frozen[rows[n], sent[n]] += chance[n]
                    continue
                law = p * (1 - p) ** np.arange(DUPLICATE_ACKS, sent[n] + 1)
                law[-1] /= p
                first = k + (j[n] + DUPLICATE_ACKS) * stride
                out[rows[n], first : first + len(law) * stride : stride] += chance[n] * law

    def _hold(self, behind: int, frozen: Floats, classes: Floats | None) -> tuple[Held, Held]:
        """Return the short rounds that are held no longer, and those that are held during this round."""
        fresh = Held(behind, frozen, np.zeros(3) if classes is None else classes)
        if self._held.position < self.ceiling:
            return self._held, fresh
        fresh.pairs = fresh.pairs + self._held.pairs
        fresh.classes = fresh.classes + self._held.classes
        return Held(behind, np.zeros_like(frozen), np.zeros(3)), fresh

    def _release(self, held: Held, nx: Law, ceiling: int) -> None:
        """Let held short rounds of three and more packets go on to their fast retransmit."""
        if not held.classes.any():
            return
        p, width = self.source.loss, self.source.max_window
        power = (1 - p) ** np.arange(width)
        later = np.cumsum(held.pairs[:, ::-1], axis=1)[:, ::-1] - held.pairs
        law = power * (p * later + held.pairs)
        for i in range(3, width):
            nx.mass[self._rows, min(held.position + i * self.stride, ceiling) - nx.origin] += law[:, i]

    def _few(self, short: Law, release: Held, ceiling: int) -> Law:
        """Short rounds that deliver fewer than three packets, by position after them."""
        p = self.source.loss
        q = 1 - p
        laws = np.array([[p, q, 0.0], [p, p * q, q * q], [p, p * q, p * q * q]])
        parts = [(short.origin, short.mass)]
        if release.classes.any():
            parts.append((release.position, release.classes[:, np.newaxis]))
        origin = min(start for start, _ in parts)
        end = max(start + mass.shape[1] for start, mass in parts) + 2 * self.stride
        total = Law(origin, np.zeros(min(end, ceiling + 1) - origin))
        for start, mass in parts:
            for i in range(3):
                total.add(Law(start + i * self.stride, laws[:, i] @ mass), limit=ceiling)
        return total

    def _wait(self, waits: Wait, level: int, law: Law, nt: Law, ceiling: int | None = None) -> None:
        """Let `law` wait, then retransmit at back-off `level`; a wait of one round is over at once.

        What begins to wait at the ceiling is below it a round later.
        """
        trimmed, dropped = law.trimmed(NEGLIGIBLE)
        self.neglected += dropped
        if trimmed is None:
            return
        waiting = trimmed
        if self.trace and ceiling is not None:
            waiting = Law(trimmed.origin - 1, np.zeros(len(trimmed.mass) + 1))
            waiting.add(trimmed, limit=ceiling - 1)
        for rounds, weight in waits:
            if rounds == 1:
                Law(nt.origin, nt.mass[0, level - 1]).add(trimmed, weight)
                continue
            self._pending[self.round + rounds].append((level, weight, waiting))
            self._waiting.add(waiting, weight)
            self._waiting_mass += weight * float(waiting.mass.sum())

    def _settle(self, final: bool) -> None:
        """Remove what is done or negligible, and check that nothing else is missing."""
        active = (self._x, self._timeouts, self._short)
        if final:
            for law in active:
                finished = take(law, self.ceiling)
                self.done += 0.0 if finished is None else float(finished.sum())
            if self._held.position == self.ceiling:
                self.done += float(self._held.classes.sum())
                self._held = Held(self.ceiling, np.zeros_like(self._held.pairs), np.zeros(3))
            if not self._ended and self._waiting.end > self.ceiling >= self._waiting.origin:
                self._finish_waits()
            self._ended = True
        by_position = self._x.mass.sum(axis=0) + self._timeouts.mass.sum(axis=(0, 1))
        kept, dropped = Law(self._x.origin, by_position).trimmed(NEGLIGIBLE)
        self.neglected += dropped
        if kept is None:
            self._x.mass[:], self._timeouts.mass[:], by_position[:] = 0.0, 0.0, 0.0
            kept = Law(self._x.origin, by_position[:1])
        cut = slice(kept.origin - self._x.origin, kept.end - self._x.origin)
        self._x = Law(kept.origin, np.ascontiguousarray(self._x.mass[:, cut]))
        self._timeouts = Law(kept.origin, self._timeouts.mass[..., cut])
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
            for _, _, law in entries:
                take(law, self.ceiling)


def take(law: Law, position: int) -> Floats | None:
    """Take the mass at a position out; None if the position lies outside."""
    k = position - law.origin
    if not 0 <= k < law.mass.shape[-1]:
        return None
    taken = law.mass[..., k].copy()
    law.mass[..., k] = 0.0
    return taken
