"""A player that starts with a buffer and waits for each missing packet: what its viewers see, on coarse lattices.

Its stalls shift all later deadlines, as those of a player that starts after a delay. So the total stalled time is what
the media held at the start lacks of those with which no packet is late.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coarse.late_from import LateFrom, late_from
from ..coarse.never_late import NeverLate
from ..coarse.never_late_after import Started, late_after, on_entries
from ..coarse.resolution import FAST, FINE
from ..numerics.tails import Tail
from ..playout.player_moves import PlayerMoves
from ..system import watch
from ..system.threads import on_cores
from ..tcp import Varying
from .coarse_alpha import NeverLateCurve, by_whole_packets
from .coarse_arrivals import CoarseArrivals
from .coarse_stored import ALPHA_FACTOR, NO_LATE_FLOOR
from .delayed_play import STEP, TOLERANCE
from .quadrature import between_points
from .seen_by_viewers import Seen
from .timeline import Timeline
from .two_finenesses import TwoFinenesses
from .two_lattices import stated

Floats = NDArray[np.float64]

NEARLY = 0.999
"""Of all that ever stall, from which on later lengths of the video are not followed."""

LOOKS = 24
"""Lengths of the video, at least, at which is looked whether these are nearly all."""

LEAST_ROUNDS = 4.0
"""Of playback in a start buffer at least: else single packets of its last round decide."""

SLOWEST, FURTHEST = 0.5, 1.5
"""T/mu at least, and times the length of the video up to which it may stall."""

MOST = 2e7
"""Entries times steps of a whole video, above which it is followed less finely: a minute or two."""

LATER = 0.5
"""Of the length of a video, from which on the time to settle is so long that most losses come before."""

BEYOND, PARTS = 1e-4, 24
"""Part of those that stall who may do so for longer than is followed; and parts of a time, of which one at most lies to
the next that is looked at."""


class WaitingFromBuffer(TwoFinenesses):
    """A path, a video and a player that resumes with the missing packet alone; parameters as for `TwoFinenesses`.

    Where players would be followed for more than some seconds, what starts with a buffer is told by the probability
    that no packet is late, over the state and the lead. Stalls are not counted: their numbers are NaN.
    """

    def _followed(
        self, starts: Sequence[float], resume: float, lengths: int, at_once: Callable[..., Iterable[Any]]
    ) -> list[Seen]:  # fmt: skip
        mine = [start for start in starts if self._suits(start)]
        others = [start for start in starts if start not in mine]
        told = iter(self._told(mine, lengths) if mine else [])
        seen = iter(super()._followed(others, resume, lengths, at_once) if others else [])
        return [next(told if start in mine else seen) for start in starts]

    def _told(self, starts: Sequence[float], lengths: int) -> list[Seen]:
        """Return what viewers see who start with some media [s]."""
        packets, arrivals = [self._packets(start) for start in starts], self._arrivals
        if self._reach.settled > LATER * self._length:
            both = self._at_two(self._by_one_mode, arrivals, packets, lengths)
            if None not in both:
                return self._seen_by_all(both, arrivals)
        if arrivals.steps.entries * self._length / arrivals.steps.step > MOST:
            arrivals = CoarseArrivals(self._path, arrivals.cases, FAST)
        return self._seen_by_all(self._at_two(self._tails, arrivals, packets, lengths), arrivals)

    def _at_two(
        self, follow: Callable[..., Any], arrivals: CoarseArrivals, packets: Sequence[float], lengths: int
    ) -> list[Any]:
        """Return what a way to follow them says at two resolutions."""
        both = (arrivals, self._fine), (arrivals.coarser(), self._fine.coarser())
        return on_cores(lambda one: follow(one[0].curve(one[0].cases[0]), self._moves(one[1]), packets, lengths), both)

    @cached_property
    def _arrivals(self) -> CoarseArrivals:
        """The path and the video."""
        return CoarseArrivals(self._path, [Timeline.of(self._path, self._video)], FINE)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_arrivals"}

    def _suits(self, start: float) -> bool:
        """Return whether a start buffer [s] has enough rounds, and following the player takes long."""
        if isinstance(self._path, Varying) or self._packets(start) < LEAST_ROUNDS * self._due:
            return False
        if self._chain.packets_per_round < SLOWEST * self._due:
            return False
        return not self.is_quick

    def _seen_by_all(self, both: Sequence[list[_Tail]], arrivals: CoarseArrivals) -> list[Seen]:
        """Return what viewers see with each start buffer, by two resolutions."""
        least = arrivals.resolution.least_no_late
        return [self._seen_by(fine, rough, least) for fine, rough in zip(*both)]

    def _seen_by(self, fine: _Tail, rough: _Tail, least: float) -> Seen:
        R, length = self._rtt, self._length * self._rtt

        def longer(seconds: Floats) -> tuple[Floats, Floats]:
            p, q = (np.clip(one.longer(seconds / R), 0.0, 1.0) for one in (fine, rough))
            missed = ALPHA_FACTOR * fine.wrong * p * (1 - p)
            return p, np.array([_off(*pair, least) for pair in zip(p, q)]) + missed

        tail = Tail(longer, max(R, STEP))
        (stalled,), (off,) = tail.at(np.zeros(1))
        (mean, mean_off), (ratio, ratio_off) = (
            tail.mean(0.0, of, TOLERANCE) for of in (lambda x: x, lambda x: x / (x + length))
        )
        numbers = [math.nan] * self._counts
        rounds, unstalled = fine.rounds, 1 - np.maximum.accumulate(fine.stalled)
        other = 1 - np.interp(rounds, rough.rounds, rough.stalled)
        between = max(ALPHA_FACTOR * float(np.abs(unstalled - other).max()), off) + between_points(rounds, unstalled)
        none = np.empty((0, 2))
        return Seen(
            np.array([stalled, *numbers, mean, ratio]), np.array([off, *numbers, mean_off, ratio_off]), rounds * R,
            unstalled, between, none, none,
        )  # fmt: skip

    def _tails(
        self, curve: NeverLateCurve, moves: PlayerMoves, packets: Sequence[float], lengths: int
    ) -> list[_Tail]:  # fmt: skip
        """Return P(S > x) of each start buffer, all from one pass.

        Without end where nearly all have stalled before the end, else to the end of playback.
        """
        m, length = self._due, self._length
        values, settled, more = curve.at_first(), curve.in_the_long_run(), by_whole_packets(m, 0.0, length)
        laws = [on_entries(values.steps, begun(moves, one)) for one in packets]
        step, most = float(values.steps.step), math.ceil(length / values.steps.step)
        ever: Floats = np.full(len(laws), math.inf)
        if settled is not None:
            ever = _late(settled, laws, 0.0, more)
        ends, stalled = [0], [np.zeros(len(laws))]
        for end in np.unique(np.geomspace(most, 1, max(lengths, LOOKS)).astype(np.int64)).tolist():
            stalled.append(_late(_followed(values, end, most), laws, 0.0, more))
            ends.append(end)
            if settled is not None and end < most and np.all((stalled[-1] >= NEARLY * ever) | (ever < NO_LATE_FLOOR)):
                rounds, columns = np.append(np.array(ends) * step, length), np.array([*stalled, ever]).T
                return [
                    _Tail(partial(_longer, settled, law, m, more), rounds, column) for law, column in zip(laws, columns)
                ]
        x, longer, apart = [0.0], [stalled[-1]], 1
        while np.any(longer[-1] > BEYOND * stalled[-1]) and x[-1] < FURTHEST * length:
            x.append(x[-1] + apart * step)
            longer.append(_late(_followed(values, values.number + apart, most), laws, m * x[-1], more))
            apart = max(apart, int(x[-1] / step / PARTS))
        rounds = np.minimum(np.array(ends) * step, length)
        return [
            _Tail(partial(_between, x, row), rounds, column)
            for row, column in zip(np.array(longer).T, np.array(stalled).T)
        ]

    def _by_one_mode(
        self, curve: NeverLateCurve, moves: PlayerMoves, packets: Sequence[float], lengths: int
    ) -> list[_Tail] | None:
        """Return the same where few losses are followed, as one mode tells the others; None where it does not."""
        m, length = self._due, self._length
        followed = curve.first_losses(length * max(1.0, m / self._chain.packets_per_round))
        if followed is None:
            return None
        plan, values, _ = followed
        more = by_whole_packets(m, 0.0, length)
        step, most = float(values.steps.step), math.ceil(length / values.steps.step)
        begins = [begun(moves, one) for one in packets]
        laws = [on_entries(values.steps, one) for one in begins]
        ends = np.unique(np.append(np.geomspace(most, 1, max(lengths, LOOKS)).astype(np.int64), plan.numbers))
        stalled = [np.zeros(len(laws))]
        for end in ends.tolist():
            if end > plan.numbers[-1]:
                return None
            stalled.append(_late(_followed(values, end, plan.numbers[-1]), laws, 0.0, more))
            if end not in plan.numbers:
                continue
            told = [late_from(followed, *both, more, (1 + FURTHEST) * length) for both in zip(begins, packets)]
            if None not in told:
                break
        later, rounds = [one for one in told if one is not None], np.minimum(np.append(0, ends) * step, length)
        left = rounds[len(stalled) :].tolist()
        rows = [np.append(known, [one.after(at, 0.0) for at in left]) for one, known in zip(later, np.array(stalled).T)]
        return [
            _Tail(partial(_longer_by_mode, one, m, length), rounds, row, one.wrong) for one, row in zip(later, rows)
        ]


@dataclass(frozen=True, eq=False)
class _Tail:
    """P(S > x) at one resolution.

    Attributes
    ----------
    longer : callable
        P(S > x) for some x [rounds].
    rounds, stalled : (l,) arrays
        From 0 to the length of the video, and P(a stall in so many rounds).
    wrong : float
        Part of what happens after many losses by which one mode misses it.
    """

    longer: Callable[[Floats], Floats]
    rounds: Floats
    stalled: Floats
    wrong: float = 0.0


def _followed(values: NeverLate, end: int, most: int) -> NeverLate:
    """Follow values up to some steps, and return them."""
    while values.number < end:
        watch.at(values.number, max(most, end), watch.SHORTER)
        values.step()
    values.start_row()  # levels learn each other's values
    return values


def _late(values: NeverLate, laws: Sequence[Started], further: float, more: float) -> Floats:
    """Return the probability of a late packet of each beginning, with leads that are further ahead [packets]."""
    return np.array([float(late_after(values, law, np.array([further]), more)[0]) for law in laws])


def _longer(values: NeverLate, law: Started, due: float, more: float, rounds: Floats) -> Floats:
    """Return P(S > x) for some x [rounds]."""
    return late_after(values, law, due * rounds, more)


def _longer_by_mode(late: LateFrom, due: float, length: float, rounds: Floats) -> Floats:
    """Return P(S > x) for some x [rounds], after many losses."""
    return np.array([late.after(length + x, due * x) for x in rounds.tolist()])


def _between(x: Sequence[float], values: Floats, rounds: Floats) -> Floats:
    """Return P(S > x) for some x [rounds], from what it is at others; nobody stalls for longer."""
    return np.interp(rounds, x, values, right=0.0)


def begun(moves: PlayerMoves, packets: float) -> Started:
    """Return how playback begins with so many packets: the first state that sends a whole round, and the lead then."""
    on, found = moves.on, moves.begun(packets)
    numbers = moves.found.numbers
    state = found.which[:, 1] if numbers is None else numbers[found.which[:, 1]]
    rounds = found.lengths[found.which[:, 0]]
    return Started(state, (found.goal + found.which[:, 2]) * on.quantum - on.due * rounds, found.chance)


def _off(fine: float, rough: float, least: float) -> float:
    """Return by how much a probability may be off."""
    return stated(fine, rough, least, NO_LATE_FLOOR, ALPHA_FACTOR) * fine if fine > NO_LATE_FLOOR else NO_LATE_FLOOR
