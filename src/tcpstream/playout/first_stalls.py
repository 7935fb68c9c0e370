"""When playback first stalls, from some beginnings, and how long that takes: one pass back over a video."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..coarse.resolution import FACTOR
from ..errors import AccuracyError
from ..kernels.buffer_begin import seen_from
from ..kernels.buffer_levels import back_from_stalls
from ..kernels.buffer_play import stalls_at
from ..kernels.buffer_state import Filling, Known, Measures
from ..system import watch
from .kept_places import fills, room
from .late_stalls import LateStalls
from .leads import leads
from .leaps import Leaps
from .pauses import Pauses
from .player_moves import Begun, PlayerMoves
from .readings import Reading
from .settling import Settling

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CHANCE, TIME = 0, 1
"""Columns: how probable a stall is, and the mean of its time, 0 without one [rounds]."""

CERTAIN = 1 - 1e-12
"""Probability of a stall that is 1."""


@dataclass(frozen=True, eq=False)
class FirstStalls:
    """What a player sees of its first stall.

    Attributes
    ----------
    chance, time : (l, last + 1) arrays
        Probability that playback stalls, and the mean of the stall's time [rounds], 0 without one, by the beginning and
        the rounds of the video; of a player that pauses also from a full buffer on, last.
    slack, unsure : (l,) arrays
        By how much the probability may be larger, as more is held than is followed or the rest of the video is not; and
        how far it may be off, as one mode tells it.
    """

    chance: Floats
    time: Floats
    slack: Floats
    unsure: Floats


def first_stalls(
    moves: PlayerMoves, begins: Sequence[Begun], filling: Filling, filled: Floats, top: float, places: Ints,
    steady: float, late: LateStalls | None = None, pauses: Pauses | None = None,
) -> FirstStalls:  # fmt: skip
    """Follow players from some beginnings until they stall.

    Parameters
    ----------
    moves : PlayerMoves
    begins : sequence of Begun
        The first one after a stall.
    filling : Filling
    filled : (S, k) array
        Mean rounds that a state takes to receive so many quanta, as `Filling` has them, up to the threshold.
    top : float
        Packets held from which more makes no difference.
    places : (n,) int array
        From 0 to the rounds of the video, at which the answers are read, and told between by a line.
    steady : float
        See `sessions.sessions`.
    late : LateStalls, optional
        What tells stalls after many losses.
    pauses : Pauses, optional
        Of a player that holds no more than so much; `top` is told by it.

    Raises
    ------
    AccuracyError
        Where it takes too much memory.
    """
    if late is not None:
        lead = max(begin.goal for begin in begins) * moves.on.quantum
        top_then = late.top(lead)
        followed = _Followed(moves, begins, filling, filled, top_then, late.until(places), math.inf)
        told = _later(followed, late, places)
        if told is not None:
            return told
    return _Followed(moves, begins, filling, filled, top, places, steady, pauses=pauses).stalls


class _Followed:
    """A pass; parameters as for `first_stalls`."""

    def __init__(
        self, moves: PlayerMoves, begins: Sequence[Begun], filling: Filling, filled: Floats, top: float, places: Ints,
        steady: float, pauses: Pauses | None = None,
    ) -> None:  # fmt: skip
        self.moves, self.begins = moves, begins
        found, on, last = moves.found, moves.on, int(places[-1])
        most = math.ceil(top / on.quantum) if pauses is None else pauses.top(on, int(moves.all.received.max()))
        if pauses is not None and not pauses.played:
            steady = math.inf  # from pause to pause what is seen changes to and fro
        apart = pauses.spread(on) if pauses is not None else on
        stop = math.inf if pauses is None else pauses.levels(on)[0]
        points, deep, many = leads(found, apart, most, stop)
        self._asked = asked = _asked(on.quanta, int(found.rounds.max()))
        self._known = known = _with_fills(room(moves.all, on, filling, last, len(asked.base), points, many), filled)
        self._pausing = pausing = None if pauses is None else pauses.on(on, points, many)
        if pauses is not None:
            self._known = known = pauses.known(known, on, moves.far, most)
        at_fills = fills(last, on.sparse)
        looked = at_fills if math.isfinite(steady) else np.arange(last + 2)
        goals = [begun.goal for begun in begins]
        settling = Settling(known, last, found.start, goals, most // on.quanta, on.exact, asked, looked, _hazard)
        leaps = Leaps(known, asked.base, at_fills, steady, pausing)
        self._stalls: Floats = np.zeros((0, on.quanta, len(asked.base)))
        self._alike = _alike(moves, goals[0])
        self._readings = [Reading(begun, known) for begun in begins]
        rounds: list[int] = []
        seen: list[list[Floats]] = []

        def follow(first: int, until: int) -> None:
            read = {first, until, *places[(places > first) & (places < until)].tolist()}
            begin = first
            for at in sorted(read) if pausing is None else range(first, until + 1):
                watch.at(at, last + 1, watch.SHORTER)
                if not len(self._stalls) and begin >= self._alike:
                    self._stalls = stalls_at(begin, goals[0], filling.size, moves.lacking, known, asked)
                back_from_stalls(
                    begin, at, goals[0], moves.far, moves.all, deep, moves.lacking, moves.playing, filling.size,
                    self._stalls, known, asked,
                )  # fmt: skip
                begin = at + 1
                if pausing is not None:
                    pausing.at(at, known)
                if at in read:
                    rounds.append(at)
                    seen.append(self._row(at))

        at = 0
        while at <= last and not settling.over:
            until = leaps.until(at, min(last, settling.look))
            if not leaps.over(at, until, follow):
                follow(at, until)
            if rounds[-1] < until:  # a leap ends there
                rounds.append(until)
                seen.append(self._row(until))
            settling.at(until)
            at = until + 1
        every = np.arange(last + 1)
        chance, time = (
            np.array([np.interp(every, rounds, one) for one in column.T])
            for column in np.moveaxis(np.array(seen), 2, 0)
        )
        self._end = at - 1
        slack = settling.left[:, CHANCE]
        if pausing is None:
            slack = slack + np.abs(self._now(self._end, found.start, -1)[CHANCE])
        else:
            chance, time = _as_before(chance, time, self._end, settling.pace)
            slack = np.append(slack, slack.max())
        self.stalls = FirstStalls(chance, time, slack, np.zeros(len(chance)))

    def at(self, begun: Begun, leads: Floats) -> Floats:
        """Return the columns at the last place, had playback begun with other leads [packets]: (leads, 2)."""
        goals = np.rint(leads / self.moves.on.quantum).astype(np.int64)
        return np.array([self._seen(self._end, begun, goal) for goal in goals.tolist()])

    def _row(self, place: int) -> list[Floats]:
        """Return the columns at a place, by the beginning; of a player that pauses also from a full buffer on, last."""
        both = zip(self.begins, self._readings)
        row = [one.at(place, self._known) if place >= one.least else self._seen(place, b, b.goal) for b, one in both]
        start = self.moves.found.start
        return row if self._pausing is None else [*row, self._now(place, start, self._pausing.first)]

    def _now(self, place: int, state: int, point: int) -> Floats:
        """Return the columns at a place, by the state and the lead."""
        now: Floats = self._known.play[place % len(self._known.play), state, point].copy()
        return now

    def _seen(self, place: int, begun: Begun, goal: int) -> Floats:
        found: Floats = seen_from(place, goal, begun.lengths, begun.which, begun.chance, self._known, self._asked)
        return found


def _later(followed: _Followed, late: LateStalls, places: Ints) -> FirstStalls | None:
    """Return what is followed, and from there on told by one mode; None where that does not tell it."""
    first, begins, quantum = followed.stalls, followed.begins, followed.moves.on.quantum
    known, every = first.chance.shape[1] - 1, np.arange(places[-1] + 1)
    later, leads = places[places > known], np.rint(late.leads / quantum) * quantum
    seen = followed.at(begins[0], leads)
    try:
        end = late.fitted(begins[0], leads, seen[:, CHANCE])
        told = [late.chance(one, end, float(first.chance[i, -1]), later) for i, one in enumerate(begins)]
    except AccuracyError:
        return None
    rounds = np.append(np.arange(known + 1), later)
    chance = np.array([np.interp(every, rounds, np.append(*both)) for both in zip(first.chance, told)])
    mean = seen[:, TIME].sum() / seen[:, CHANCE].sum()  # what a stall takes changes no more
    time = first.time[:, np.minimum(every, known)] + mean * (chance - chance[:, np.minimum(every, known)])
    return FirstStalls(chance, time, first.slack, FACTOR * end.wrong * chance[:, -1] * (1 - chance[:, -1]))


def _alike(moves: PlayerMoves, threshold: int) -> float:
    """Return the place from which on what stalls in a first round lead to is the same: none resumes within it."""
    lacking, quanta = moves.lacking, moves.on.quanta
    soon = (lacking.rounds > 1) & (lacking.held >= threshold)
    return math.inf if soon.any() else threshold / quanta + 3  # no video that is left is shorter than what is missing


def _as_before(chance: Floats, time: Floats, end: int, pace: float) -> tuple[Floats, Floats]:
    """Return both with as many stalls in each round after `end` of those that have seen none as `pace` tells."""
    later = np.maximum(np.arange(chance.shape[1]) - end, 0)
    before = end - end // 5  # as far as from look to look
    more = chance[:, [end]] - chance[:, [before]]
    mean = np.divide(time[:, [end]] - time[:, [before]], more, out=np.zeros_like(more), where=more > 0)
    told = 1 - (1 - chance) * np.exp(-pace * later)
    return told, time + mean * (told - chance)


def _hazard(seen: Floats) -> Floats:
    """Return what adds up from place to place: all that has not stalled yet may stall."""
    found: Floats = -np.log1p(-np.minimum(seen[..., [CHANCE, CHANCE]], CERTAIN))
    return found


def _asked(quanta: int, longest: int) -> Measures:
    """Return the columns `CHANCE` and `TIME` as what is added up."""
    time = np.arange((longest + 2) * quanta + 1) / quanta
    ones, none = np.ones((longest + 2, 2)), np.zeros((longest + 2, 2))
    stalled = np.column_stack([np.zeros_like(time), np.ones_like(time)])
    more = np.column_stack([np.ones_like(time), time])
    return Measures(np.zeros(2), np.arange(2), stalled, more, ones, none)


def _with_fills(known: Known, filled: Floats) -> Known:
    """Return what is known with the time of a fill behind each stall, wherever in the video it is."""
    states, height = known.fill.shape[1:3]
    empty, fill = np.zeros((2, states, 2)), np.zeros((2, states, height, 2))
    threshold = filled.shape[1] - 1
    empty[..., TIME] = filled[:, -1]
    fill[..., TIME] = filled[:, np.maximum(threshold - np.arange(height), 0)]
    return known._replace(places=np.array([0.0, 1.0]), empty=empty, fill=fill)
