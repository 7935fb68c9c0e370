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

from .kernels.epoch import back_off, climb
from .kernels.losses import lose
from .kernels.recovery import recover
from .tcp.reno import LEVELS, RenoSource, Wait

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def spread(distance: float) -> tuple[int, Floats]:
    """Return the nearest whole number and the weights of its neighbours below, itself and above.

    The weights keep the mean and the square of `distance`, so a distance between lattice points adds no variance;
    one of them is then slightly negative.
    """
    nearest = round(distance)
    rest = distance - nearest
    if abs(rest) < 1e-9 * max(1.0, distance):
        return nearest, np.array([0.0, 1.0, 0.0])
    return nearest, np.array([(rest * rest - rest) / 2, 1 - rest * rest, (rest * rest + rest) / 2])


@dataclass
class Epoch:
    """All that happens between one window entry and the next, as mass by position (packets above `-depth`)."""

    x: Floats
    short: Floats
    few: Floats
    visits: Floats
    entries: Floats


class Backlog:
    """The operator of one loss epoch on a lattice of backlogs 0 .. depth.

    Parameters
    ----------
    source : RenoSource
        What sends.
    packets_due : float
        m, packets generated per round.
    stride : int
        Lattice steps per packet.
    depth : int
        Largest backlog kept [lattice steps].
    """

    def __init__(self, source: RenoSource, packets_due: float, stride: int, depth: int) -> None:
        self.source = source
        self.stride = stride
        self.n = depth + 1
        self.step = packets_due * stride
        self.drop, self.spread = spread(self.step)
        self._success: Floats = np.power(1 - source.loss, source.windows, dtype=np.float64)
        recovering = source.recover_to[source.recover_to >= 0]
        self.entered = np.unique(np.append(recovering, source.restart))
        row_of_window = np.searchsorted(self.entered, np.maximum(source.recover_to, 0))
        self._row_of_state = row_of_window[source.windows]
        self._restart_row = int(np.searchsorted(self.entered, source.restart))
        ways = [self._ways(wait) for wait in source.backoff_wait]
        longest = max(len(shifts) for shifts, _ in ways)
        self._shifts = np.array([np.pad(shifts, (0, longest - len(shifts))) for shifts, _ in ways])
        self._weights = np.array([np.pad(weights, (0, longest - len(weights))) for _, weights in ways])
        self._all_lost = self._ways(source.all_lost_wait)
        self._short_wait = self._ways(tuple((d - 1, weight) for d, weight in source.short_wait))

    def _ways(self, wait: Wait) -> tuple[Ints, Floats]:
        """Ways down during a wait: shifts and their weights."""
        shifts: list[int] = []
        weights: list[float] = []
        for rounds, probability in wait:
            centre, law = spread(rounds * self.step)
            for i in range(3):
                if law[i] != 0.0:
                    shifts.append(centre + i - 1)
                    weights.append(probability * law[i])
        return np.array(shifts), np.array(weights)

    @cached_property
    def _feedback(self) -> Floats:
        """Returns of the largest window to the ceiling, per unit that paused there."""
        b = self.source.rounds_per_increase
        n = 2 * self.drop + 4
        top = self.source.size - b
        one_return = np.zeros((b, b))
        for c in range(b):
            entries = np.zeros((self.source.size, n))
            entries[top + c, n - 1] = 1.0
            x = np.empty_like(entries)
            self._climb(entries, np.eye(b), x, np.empty_like(entries))
            one_return[c] = x[top:, n - 1]
            one_return[c, c] -= 1.0
        return np.asarray(np.linalg.inv(np.eye(b) - one_return), dtype=np.float64)

    def _climb(self, entries: Floats, feedback: Floats, x: Floats, sending: Floats) -> None:
        source = self.source
        climb(
            entries, source.windows, source.grow_to, self._success, self.stride, self.drop, self.spread,
            feedback, x, sending,
        )  # fmt: skip

    def epoch(self, entries: Floats) -> Epoch:
        """Make one loss epoch.

        Parameters
        ----------
        entries : (len(entered), n) array
            Mass that enters each window, by position; the last position is an empty backlog.
        """
        source, n, stride, p = self.source, self.n, self.stride, self.source.loss
        q = 1 - p
        cap = n - 1
        all_entries = np.zeros((source.size, n))
        all_entries[self.entered] = entries
        x = np.empty_like(all_entries)
        sending = np.empty_like(all_entries)
        self._climb(all_entries, self._feedback, x, sending)
        active = x[:, :cap].sum(axis=0)

        width = max(n, n + stride * source.max_window)
        short = np.empty((3, width))
        lose(sending, source.windows, self._success, p, stride, cap, short)
        short = short[:, :n]
        recovered = np.zeros((len(self.entered), n + 2 * stride * source.max_window))
        frozen = np.zeros((len(self.entered), source.max_window))
        recover(sending, source.windows, self._row_of_state, p, stride, -width, cap, recovered, frozen)
        paused = short[:, cap].copy()
        for i in range(3):
            short[:, cap - self.drop - i + 1] += self.spread[i] * paused
        self._resume(frozen, recovered)

        going = short.copy()
        going[:, cap] = 0.0
        laws = np.array([[p, q, 0.0], [p, p * q, q * q], [p, p * q, p * q * q]])
        few = np.zeros(n)
        for i in range(3):
            _add(few, self._down(laws[:, i] @ going), i * stride)
        inflow = np.zeros(n)
        for shift, weight in zip(*self._all_lost):
            inflow[: cap - shift if shift < cap else 0] += p * weight * active[shift:]
        for shift, weight in zip(*self._short_wait):
            inflow[: n - shift if shift < n else 0] += weight * few[shift:]
        visits = np.empty((2, LEVELS, n))
        restart = np.empty(n)
        back_off(inflow, p, stride, self.drop, self.spread, self._shifts, self._weights, visits, restart)
        following = np.zeros_like(entries)
        for i in range(3):
            if self.spread[i] != 0.0:
                _add(following, self.spread[i] * recovered, -(self.drop + i - 1))
        following[self._restart_row] += restart
        return Epoch(x=x, short=short, few=few, visits=visits, entries=following)

    def _down(self, row: Floats) -> Floats:
        """One round of playback lower."""
        out = np.zeros_like(row)
        for i in range(3):
            if self.spread[i] != 0.0:
                _add(out, self.spread[i] * row, -(self.drop + i - 1))
        return out

    def _resume(self, frozen: Floats, recovered: Floats) -> None:
        """Short rounds that paused at the ceiling go on, one round of playback lower, to their fast retransmit."""
        p, width = self.source.loss, self.source.max_window
        later = np.cumsum(frozen[:, ::-1], axis=1)[:, ::-1] - frozen
        law = (1 - p) ** np.arange(width) * (p * later + frozen)
        for i in range(3):
            start = self.n - 1 - self.drop - i + 1
            for j in range(3, width):
                recovered[:, start + j * self.stride] += self.spread[i] * law[:, j]

    def law(self, epoch: Epoch) -> Floats:
        """Return the time spent at each position [rounds], counted at the ends of rounds."""
        p, n = self.source.loss, self.n
        cap = n - 1
        law: Floats = epoch.x.sum(axis=0) + epoch.visits.sum(axis=(0, 1)) + epoch.short.sum(axis=0)
        active = epoch.x[:, :cap].sum(axis=0)
        self._add_waits(law, p * active, self.source.all_lost_wait, 1)
        self._add_waits(law, epoch.few, self.source.short_wait, 0)
        for e in range(LEVELS):
            lost = p * epoch.visits[:, e, :cap].sum(axis=0)
            self._add_waits(law, lost, self.source.backoff_wait[e], 1)
        return law

    def overflow(self, epoch: Epoch) -> float:
        """Return a bound on the mass that left through the deepest backlog in an epoch."""
        p, bottom = self.source.loss, self.drop + 1
        active = epoch.x.sum(axis=0)
        timeouts = epoch.visits.sum(axis=0)
        lost = active[:bottom].sum() + epoch.short[:, :bottom].sum() + timeouts[:, :bottom].sum()
        lost += sum(p * weight * active[:shift].sum() for shift, weight in zip(*self._all_lost))
        lost += sum(weight * epoch.few[:shift].sum() for shift, weight in zip(*self._short_wait))
        for e in range(LEVELS):
            ways = zip(self._shifts[e], self._weights[e])
            lost += sum(p * weight * timeouts[e, :shift].sum() for shift, weight in ways)
        return float(abs(lost))

    def _add_waits(self, law: Floats, entering: Floats, wait: Wait, first: int) -> None:
        """Add the rounds of a wait but its last one, which is counted on arrival."""
        longest = max(d for d, _ in wait)
        for r in range(first, longest - 1 + first):
            still = sum(weight for d, weight in wait if d - 1 + first > r)
            centre, weights = spread(r * self.step)
            if centre > len(law):
                break
            for i in range(3):
                if weights[i] != 0.0:
                    _add(law, still * weights[i] * entering, -(centre + i - 1))


def _add(target: Floats, mass: Floats, shift: int) -> None:
    """Add `mass` moved by `shift` along the last axis; what passes the last position stays there, below is lost."""
    n = target.shape[-1]
    first = max(0, -shift)
    last = max(first, min(mass.shape[-1], n - shift))
    target[..., first + shift : last + shift] += mass[..., first:last]
    if last < mass.shape[-1]:
        target[..., n - 1] += mass[..., max(last, 0) :].sum(axis=-1)
