"""Sessions of a player with large buffers, stall by stall: a Markov renewal process.

A player that resumes with much media has received so much since it stalled that what follows hardly depends on how it
did: on the state of TCP, and on that by the mean time of the fill alone. Then a session is a renewal process, of which
two laws are asked for: of the time until the next stall, after a usual one, and what it changes by where the fill takes
longer (E. Cinlar, Adv. Appl. Probab. 1, 1969).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..coarse.outlook import stationary
from ..kernels.buffer_fill import fill_alone
from ..kernels.buffer_leads import Leads
from ..kernels.buffer_state import Filling, Measures
from .first_stalls import FirstStalls, first_stalls
from .kept_places import fills, room
from .late_stalls import LateStalls
from .lattice import WHOLE
from .pauses import Pauses
from .player_moves import PlayerMoves
from .sessions import Sessions, at_lengths, ended

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DENSER = 4
"""Times as close as fills of other players are places at which stalls are told, and what comes after them."""

ALIKE = 1e-6
"""Variance of the time of a fill over its mean's square, below which all fills are alike."""

LEFT = 0.5
"""Of what the time of a fill tells of the stalls after it, what else may tell at most: a quarter or less was seen."""

TURNS, NEAR = 200, 1e-13
"""Of what is seen at a place in terms of itself, at most, and the change that ends them."""


def renewals(
    moves: PlayerMoves, counts: int, factors: Floats, packets: float, starts: Sequence[float], resume: float,
    top: float, lengths: int, steady: float, late: LateStalls | None = None, pauses: Pauses | None = None,
    doubt: float = 0.0,
) -> Sessions:  # fmt: skip
    """Solve for what viewers see, as `sessions.sessions`; `counts` and `factors` are those of `measures`.

    Where a player resumes too soon to forget how it stalled, what later stalls add is told to be off by a part `doubt`.

    Raises
    ------
    AccuracyError
        Where it takes too much time or memory.
    """
    on = moves.on
    length = packets / on.due
    low = math.floor(length + WHOLE)
    last = low + (length - low > WHOLE)
    filling = moves.filling(resume, whole=False)
    after = _after_stalls(moves, filling, factors, last)
    laws = [after.usual] if after.spread == 0 else [after.usual, after.usual + after.spread * after.longer]
    begins = moves.begun_from(resume, laws) + [moves.begun(start) for start in starts]
    places = np.unique(np.minimum(fills(last, DENSER * on.sparse), last))
    found = first_stalls(moves, begins, filling, after.filled, top, places, steady, late, pauses)
    ends = at_lengths(low, last, lengths, fills(last, on.sparse))
    all_seen = _Renewals(after, found.chance, found.time, len(laws), places, counts)
    seen = all_seen.at(ends)
    slack, unsure = (
        _changed(after, found, len(laws), places, counts, by, seen[-1]) for by in (found.slack, found.unsure)
    )
    if len(laws) > 1:
        forgotten = _Renewals(after, found.chance, found.time, len(laws), places, counts, forgotten=True)
        unsure = unsure + LEFT * np.abs(forgotten.at(ends[-1:])[-1] - seen[-1])
    if doubt:
        chance, time = found.chance.copy(), found.time.copy()
        chance[: len(laws)] = time[: len(laws)] = 0.0
        first = _Renewals(after, chance, time, len(laws), places, counts)
        unsure = unsure + doubt * np.abs(first.at(ends[-1:])[-1] - seen[-1])
    grown = np.empty((0, 2))
    if pauses is not None:
        from_full = all_seen.at(places)[:, -1, counts : counts + 2]
        grown = np.column_stack([np.interp(np.arange(last + 1), places, one) for one in from_full.T])
        seen, slack, unsure = seen[:, :-1], slack[:-1], unsure[:-1]
    seen, of, of_the_end = ended(seen, ends.astype(np.float64), length, low, moves.asked)
    return Sessions(of, seen, slack, of_the_end + unsure, grown)


def _changed(
    after: _AfterStalls, found: FirstStalls, laws: int, places: Ints, counts: int, by: Floats, seen: Floats
) -> Floats:  # fmt: skip
    """Return how far what is seen of the whole video moves where stalls are by so much more probable."""
    if not by.max() > 0:
        return np.zeros_like(seen)
    last = int(places[-1])
    more = np.minimum(found.chance + np.outer(by, np.arange(last + 1) / max(last, 1)), 1.0)
    moved: Floats = np.abs(_Renewals(after, more, found.time, laws, places, counts).at(places[-1:])[-1] - seen)
    return moved


@dataclass(frozen=True, eq=False)
class _AfterStalls:
    """How stalls begin, and how long they last.

    Attributes
    ----------
    usual, longer : (S,) arrays
        Distribution of the state behind a stall, and what it changes by where the mean fill takes a round longer.
    spread : float
        Standard deviation of that time; 0 where all are alike.
    filled : (S, k) array
        Mean rounds that a fill takes, by the quanta of `Filling` that are missing.
    within : float
        Part of a round that is played when it stalls, on average.
    time, longer_time : (last + 1,) arrays
        Mean rounds of a stall by the video that is left, and what they change by, as `longer`.
    factors, longer_factors : (last + 1, f) arrays
        The same of E[f^S].
    """

    usual: Floats
    longer: Floats
    spread: float
    filled: Floats
    within: float
    time: Floats
    longer_time: Floats
    factors: Floats
    longer_factors: Floats


def _after_stalls(moves: PlayerMoves, filling: Filling, factors: Floats, last: int) -> _AfterStalls:
    usual, wait = _usual(moves)
    filled = _fills(moves, filling, factors)
    times = filled[:, -1, 0]
    mean = float(usual @ times)
    variance = float(usual @ (times - mean) ** 2)
    longer, spread = np.zeros_like(usual), 0.0
    if variance > ALIKE * mean**2:
        longer, spread = usual * (times - mean) / variance, math.sqrt(variance)
    left = np.arange(last + 1) * moves.on.quanta
    missing = np.minimum(filling.threshold, -(-left // filling.size))
    by_missing, longer_by_missing = (np.tensordot(law, filled, 1) for law in (usual, longer))
    waited = factors**wait
    return _AfterStalls(
        usual, longer, spread, filled[..., 0], (moves.on.quanta - 1) / (2 * moves.on.quanta),
        by_missing[missing, 0] + wait, longer_by_missing[missing, 0],
        by_missing[missing, 1:] * waited, longer_by_missing[missing, 1:] * waited,
    )  # fmt: skip


def _usual(moves: PlayerMoves) -> tuple[Floats, float]:
    """Return the states behind stalls, and the mean rounds until their first round begins.

    The state before is that of the long run, and all leads over playback of a few rounds are as probable.
    """
    one, q, lacks = moves.all, moves.on.quanta, moves.lacking
    states = len(one.starts) - 1
    source = np.repeat(np.arange(states), np.diff(one.starts))
    before = np.maximum(stationary(source, one.target, one.chance, states), 0.0)
    row = np.repeat(np.arange(states * q), np.diff(lacks.starts))
    held = q - 1 - row % q + lacks.ordered  # of what is due in the round in which it stalls
    soon, soon_waits = before[row // q] * lacks.chance, np.maximum(q - held, 0) / q + lacks.rounds - 1
    further = np.maximum(one.rounds * q - one.received - q, 0)  # leads of a round or more that end in a longer wait
    late = before[source] * one.chance * further
    law = np.bincount(lacks.target, soon, states) + np.bincount(one.target, late, states)
    wait = float(soon @ soon_waits + late @ ((further + 1) / 2) / q) / float(law.sum())
    law = np.maximum(law, 0.0)
    return law / law.sum(), wait


def _fills(moves: PlayerMoves, filling: Filling, factors: Floats) -> Floats:
    """Return the mean rounds, and E[f^rounds], to receive 0, 1, ... quanta, up to the threshold, by state."""
    on, asked = moves.on, moves.asked
    base = np.append(0.0, np.ones(len(factors)))
    rounds = np.arange(len(asked.waited), dtype=np.float64)
    waited = np.column_stack([np.ones_like(rounds), factors ** rounds[:, np.newaxis]])
    more = np.zeros_like(waited)
    more[:, 0] = rounds
    ones = np.ones((len(asked.stalled), len(base)))
    seen = Measures(base, np.arange(len(base)), ones, np.zeros_like(ones), waited, more)
    place = (filling.threshold + int(filling.moves.received.max()) + 1) * filling.size // on.quanta + len(rounds) + 1
    known = room(moves.all, on, filling, place, len(base), Leads(1, 1, 1, np.zeros((1, 4))), 1)
    for values in (known.play, known.long, known.empty):
        values[:] = base
    fill_alone(place, moves.with_waits(filling, waited), known.fill[0], known, seen)
    found: Floats = known.fill[0, :, filling.threshold :: -1]
    return found


class _Renewals:
    """What is seen after a fill, and from the beginning, by the rounds of the video that are left.

    Parameters
    ----------
    after : _AfterStalls
    chance, time : arrays
        Those of `FirstStalls`, of so many `laws` after a fill, then of each start buffer.
    laws : int
        1, or 2 with what a longer fill changes.
    places : (n,) int array
        From 0 to the whole video, at which what is seen after a fill is solved for; in between it is linear.
    counts : int
        Of `measures`.
    forgotten : bool
        Whether stalls after a fill do not depend on how long it took.
    """

    def __init__(
        self, after: _AfterStalls, chance: Floats, time: Floats, laws: int, places: Ints, counts: int,
        forgotten: bool = False,
    ) -> None:  # fmt: skip
        self._after, self._laws, self._places, self._counts = after, laws, places, counts
        self._remembered, self._within = 1 if forgotten else laws, after.within
        chance, time = chance.copy(), time.copy()
        if laws > 1:
            for one in (chance, time):
                one[1] = (one[1] - one[0]) / after.spread
        self._chance = chance
        centred = time - after.time[-1] * chance
        self._stalls = np.stack((chance, centred) if laws > 1 else (chance,))
        every = np.arange(places[-1] + 1)
        self._below = np.searchsorted(places, every, "right") - 1
        gap = np.append(np.diff(places), 1)
        self._share = (every - places[self._below]) / gap[self._below]
        columns = counts + 2 + after.factors.shape[1]
        self._base: Floats = np.zeros(columns)
        self._base[0] = self._base[counts + 2 :] = 1.0
        self._filled = np.zeros((len(places), 2, columns))
        self._stalled = np.zeros_like(self._filled)
        for i, x in enumerate(places.tolist()):
            self._solve(i, x)

    def at(self, lengths: Ints) -> Floats:
        """Return what is seen from the beginning of videos of some rounds: (lengths, starts, columns)."""
        return np.array([self._seen(x, self._weights(x))[self._laws :] for x in lengths.tolist()])

    def _solve(self, i: int, x: int) -> None:
        """Set what is seen after a fill at a place, which may stall again before the place before."""
        weights = self._weights(x)[: self._laws]
        known, own = self._seen(x, weights), weights[:, :, i]  # of its own values, 0 so far
        now = known
        for _ in range(TURNS):
            before = now
            self._filled[i, : self._remembered] = now[: self._remembered]
            self._stalled[i] = self._behind(i, x)
            now = known + own @ self._stalled[i, : own.shape[1]]
            if np.abs(now - before).max() <= NEAR * (1 + np.abs(now).max()):
                return

    def _behind(self, i: int, x: int) -> Floats:
        """Return what is seen from a stall on at a place: usual, and what a longer fill changes."""
        after, n = self._after, self._counts
        (one, more), found = self._filled[i], np.zeros((2, len(self._base)))
        found[:, 1:n] = self._filled[i, :, : n - 1]
        found[:, n : n + 2] = self._filled[i, :, n : n + 2]
        found[0, n] += 1.0
        found[:, n + 1] += after.time[x], after.longer_time[x]
        found[0, n + 2 :] = after.factors[x] * one[n + 2 :]
        found[1, n + 2 :] = after.factors[x] * more[n + 2 :] + after.longer_factors[x] * one[n + 2 :]
        return found

    def _seen(self, x: int, weights: Floats) -> Floats:
        """Return what is seen of a video of x rounds from each beginning, or what it changes by, with `_weights`."""
        unstalled = 1 - self._chance[: len(weights), x]
        unstalled[1 : self._laws] -= 1
        many, parts = weights.shape[2], weights.shape[1]
        behind = np.einsum("lpn,npc->lc", weights, self._stalled[:many, :parts])
        return np.asarray(unstalled[:, np.newaxis] * self._base + behind)

    def _weights(self, x: int) -> Floats:
        """Return the weights of what is seen from stalls on at each place: (beginnings, parts, places).

        Stalls are told apart in stretches that are short at the beginning and near the end. A stall is in the middle of
        a round, about.
        """
        places = self._places[self._places <= x]
        ends = np.unique(np.concatenate([places, x - places]))
        rounds = np.diff(ends)
        chance = np.diff(self._stalls[:, :, ends], axis=2)
        later = (rounds - 1 + 2 * self._within) / (2 * rounds)
        many = min(int(self._below[x]) + 2, len(self._places))
        moves = np.zeros((len(rounds), many + 1))
        number = np.arange(len(rounds))
        for left, part in ((x - ends[:-1], 1 - later), (x - ends[1:], later)):
            below, share = self._below[left], self._share[left]
            moves[number, below] += part * (1 - share)
            moves[number, below + 1] += part * share
        return (chance @ moves[:, :many]).transpose(1, 0, 2)
