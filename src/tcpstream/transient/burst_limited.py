"""The transient of a live chain with bursts of losses, in (state, packets delivered)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.growth import grow
from ..kernels.limited_losses import lose
from ..kernels.recovery import recover
from ..numerics.measure import Measure
from ..tcp.burst import DUPLICATE_ACKS, BurstChain
from ..tcp.silences import LEVELS
from .limited import LimitedWindows, take

Floats = NDArray[np.float64]


@dataclass
class PausedShortRounds:
    """Short rounds held at the ceiling, since nothing new exists to be sent: by row and j, and by class of j."""

    position: int
    pairs: Floats
    classes: Floats


class LimitedBurst(LimitedWindows):
    """Evolution of a chain with bursts of losses, one round at a time; parameters as for `Limited`.

    Parameters
    ----------
    chain : BurstChain
        What sends.
    """

    def __init__(self, chain: BurstChain, ceiling: int, steps_per_packet: int = 1, trace: int = 0) -> None:
        self.chain = chain
        self._success: Floats = np.power(1 - chain.loss, chain.graph.windows, dtype=np.float64)
        self._rows, inverse = np.unique(chain.recover_to[chain.recover_to >= 0], return_inverse=True)
        row_of_window = np.zeros(chain.graph.max_window + 1, dtype=np.int64)
        row_of_window[chain.recover_to >= 0] = inverse
        self._row_of_window = row_of_window
        super().__init__(
            chain.loss, chain.silences, chain.graph.size, chain.graph.start, ceiling, steps_per_packet, trace
        )
        self._short = Measure(ceiling, np.zeros((3, 1)))
        self._held = PausedShortRounds(0, np.zeros((len(self._rows), chain.graph.max_window)), np.zeros(3))

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

        most = steps_per_packet * max(chain.graph.max_window, 2)
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
        nx = Measure(origin, np.zeros((chain.graph.size, end - origin)))
        nt = Measure(origin, np.zeros((2, LEVELS, end - origin)))
        nshort = Measure(x.origin, np.zeros((3, end - x.origin)))

        growth = chain.graph.growth
        grow(
            x.mass, chain.graph.windows, self._success, growth.from_state, growth.to_state, growth.share,
            steps_per_packet, ceiling - origin, x.origin - origin, nx.mass,
        )  # fmt: skip
        usual = slice(chain.n_initial_slow_start, None)
        windows, success = chain.graph.windows[usual], self._success[usual]
        lose(x.mass[usual], windows, success, p, steps_per_packet, ceiling - x.origin, nshort.mass)
        self._lose_in_slow_start(x, nshort, ceiling)
        for row, state in enumerate(self._rows):
            Measure(origin, nx.mass[state]).add(Measure(recovered.origin, recovered.mass[row]), limit=ceiling)
        self._release(release, nx, ceiling)
        if paused_x is not None:
            nx.mass[:, behind - origin] += paused_x
        if paused_timeouts is not None:
            nt.mass[..., behind - origin] += paused_timeouts

        self._come_back(leaving, nt)
        self._wait(chain.silences.whole_loss, 1, Measure(x.origin, p * x.mass.sum(axis=0)), nt)
        self._wait_after_short(self._few(short, release, ceiling), ceiling, final, nt)
        self._send_alone(timeouts, chain.graph.restart, nx, nt, ceiling)

        self.round += 1
        self.ceiling, self._x, self._timeouts, self._short, self._held = ceiling, nx, nt, nshort, held
        self._sending = x
        self._settle(final)

    def _others(self) -> list[Measure]:
        return [
            Measure(self._short.origin, self._short.mass.sum(axis=0)),
            Measure(self._held.position, np.array([self._held.classes.sum()])),
        ]

    def _moving(self) -> float:
        return super()._moving() + float(self._short.mass.sum() + self._held.classes.sum())

    def _finish_others(self) -> None:
        finished = take(self._short, self.ceiling)
        self.account.done += 0.0 if finished is None else float(finished.sum())
        if self._held.position == self.ceiling:
            self.account.done += float(self._held.classes.sum())
            self._held = PausedShortRounds(self.ceiling, np.zeros_like(self._held.pairs), np.zeros(3))

    def _recover(self, now: int) -> tuple[Measure, Floats]:
        """Second round of losing and recovering, of what sent in the previous round."""
        chain, sending = self.chain, self._sending
        n = sending.mass.shape[1]
        out = np.zeros((len(self._rows), n + 2 * self.steps_per_packet * chain.graph.max_window))
        frozen = np.zeros((len(self._rows), chain.graph.max_window))
        windows = chain.graph.windows[chain.n_initial_slow_start :]
        recover(
            sending.mass[chain.n_initial_slow_start :], windows, self._row_of_window[windows], chain.loss,
            self.steps_per_packet, 0, now - sending.origin, out, frozen,
        )  # fmt: skip
        self._recover_in_slow_start(sending, now - sending.origin, out, frozen)
        return Measure(sending.origin, out), frozen

    def _lose_in_slow_start(self, x: Measure, short: Measure, ceiling: int) -> None:
        """Add the short rounds after losses in the first slow start, by position and class of what they send."""
        p, cap = self.chain.loss, ceiling - x.origin
        state, j, sent, _ = self.chain.first_slow_start_losses
        lost = p * (1 - p) ** j
        for k in np.flatnonzero(x.mass[: self.chain.n_initial_slow_start].any(axis=0)):
            at = (np.minimum(sent, 3) - 1, np.minimum(k + j * self.steps_per_packet, cap))
            np.add.at(short.mass, at, lost * x.mass[state, k])

    def _recover_in_slow_start(self, sending: Measure, cap: int, out: Floats, frozen: Floats) -> None:
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
        p, width = self.chain.loss, self.chain.graph.max_window
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
