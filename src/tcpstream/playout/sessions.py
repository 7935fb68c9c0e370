"""Sessions of a player with buffer thresholds, over a whole video: one pass back from its end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.buffer_begin import seen_from
from ..kernels.buffer_leads import Leads, points_below
from ..kernels.buffer_levels import back_in_video
from ..kernels.buffer_moves import Totals
from ..kernels.buffer_state import Filling, Known, Measures
from ..kernels.buffer_times import fill_times
from ..system import watch
from .fineness import Fineness
from .lattice import WHOLE, Joint, totals
from .leads import leads
from .leads import points as points_of
from .leaps import Leaps, followed
from .passing import passing
from .pauses import Pauses
from .player_moves import PlayerMoves

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CHUNK = 256
"""Places between two looks at the watch."""

NEGLIGIBLE, MOST_FILLING, FAINT, RARE = 1e-12, 1_000_000, 1e-25, 1e-15
"""Probability and rounds at which the law of a join time ends; and probability below which a state with so much held is
left out: in a million rounds less than rounding, and more where quanta are not packets."""

LEFT_OUT = 1e-6
"""Probability that all of these may have together; errors of join times have it."""

NANOSECONDS, MOST_MINUTES = 0.4, 20.0
"""Of a product in a pass, about; and minutes that it may take."""

MOST_BYTES = 8 * 2**30
"""Memory that a pass may take."""

UNBOUNDED = 1 << 40
"""Quanta held at most of a player that holds all of a video."""

SETTLED, NOTHING, LATER, LARGEST = 1e-4, 1e-11, 4, 0.9
"""How much of E[N] and E[S], and how much at all, the first part of a long video may change that is not followed; after
which part of a video they are looked at again; and by which factor the change is taken to get less then, at most."""


@dataclass(frozen=True, eq=False)
class Sessions:
    """What viewers see of a video.

    Attributes
    ----------
    lengths : (l,) array
        Of the video [rounds], the last one its own.
    seen : (l, b, C) array
        The columns of `measures`, by length and start buffer.
    slack : (b, C) array
        What is still seen with the most that is followed, from which on more would make a difference of as much, and
        what is left out of a long video.
    of_the_end : (b, C) array
        What the last round of playback may change: within a round of the end stalls lie between places that are
        followed.
    grown : (n, 2) array
        E[N] and E[S] from a full buffer on, by the rounds of playback that are left, of a player that pauses.
    """

    lengths: Floats
    seen: Floats
    slack: Floats
    of_the_end: Floats
    grown: Floats


def sessions(
    moves: PlayerMoves, packets: float, starts: Sequence[float], resume: float, top: float, lengths: int,
    settled: float = math.inf, pauses: Pauses | None = None, steady: float = math.inf,
) -> Sessions:  # fmt: skip
    """Solve for what viewers see.

    Parameters
    ----------
    moves : PlayerMoves
    packets : float
        Of the whole video.
    starts, resume : float
        Packets that are held when playback begins, and when it goes on after a stall; 1 or more.
    top : float
        Packets held from which more makes no difference.
    lengths : int
        Lengths of the video, up to the whole, at which answers are kept, about.
    settled : float
        Rounds of playback after which more make little difference, about: for the forecast only.
    pauses : Pauses, optional
        Of a player that holds no more than so much; `top` is told by it.
    steady : float
        Rounds of playback after which what changes quickly from place to place has faded, where some are leapt over.

    Raises
    ------
    AccuracyError
        Where it takes too much time or memory.
    """
    found, on, asked = moves.found, moves.on, moves.asked
    threshold, _ = on.needed(resume)
    filling = moves.filling(resume, whole=pauses is not None or threshold < on.quanta)
    length = packets / on.due
    low = math.floor(length + WHOLE)
    last = low + (length - low > WHOLE)
    most = math.ceil(top / on.quantum) if pauses is None else pauses.top(on, int(moves.all.received.max()))
    points, deep, many = leads(found, on, most)
    if pauses is not None and not pauses.played:
        steady = math.inf  # from pause to pause what is seen changes to and fro
    places = followed(min(last, settled), on.sparse, steady)
    _check(places * len(moves.far.chance) * many * len(asked.base))
    known = _known(moves.all, on, filling, last, len(asked.base), points, many)
    pausing = None if pauses is None else pauses.on(on, points, many)
    if pauses is not None and pauses.played:
        known = known._replace(full=most)
    begins = [moves.begun(start) for start in starts]
    ends = np.geomspace(max(low, 1), 1, lengths).astype(np.int64)
    fills = _fills(last, on.sparse) if math.isfinite(steady) else np.arange(last + 2)  # which no leap crosses
    ends = np.unique(np.append(np.minimum(fills[np.searchsorted(fills, ends)], low), [max(low - 1, 0), low, last]))
    goals = [begun.goal for begun in begins]
    settling = _Settling(known, last, found.start, goals, most // on.quanta, on.exact, asked, fills)
    sums, grown = np.flatnonzero(asked.stalled_more.any(axis=0)), {}
    leaps = Leaps(known, asked.base, on.sparse, steady, pausing)

    def follow(first: int, until: int) -> None:
        chunk = CHUNK if pausing is None else 1
        for at in range(first, until + 1, chunk):
            watch.at(at, last + 1, watch.SHORTER)
            back_in_video(
                at, min(at + chunk - 1, until), on.sparse, threshold, moves.far, moves.all, deep, moves.lacking,
                moves.playing, filling, known, asked,
            )  # fmt: skip
            if pausing is not None:
                pausing.at(at, known)
                grown[at] = known.play[at % len(known.play), found.start, pausing.first, sums]

    rows, at = [], 0
    for end in ends.tolist():
        while at <= end and not settling.over:
            until = leaps.until(at, end if pausing else min(end, settling.look))
            if not leaps.over(at, until, follow):
                follow(at, until)
            if pausing is None:
                settling.at(until)
            at = until + 1
        rows.append([seen_from(min(end, at - 1), *begun[:4], known, asked) for begun in begins])
    seen, of = np.array(rows), ends.astype(np.float64)
    seen, of, of_the_end = _ended(seen, of, length, low, asked)
    if pausing:
        known_at, values = list(grown), np.array(list(grown.values()))
        all_grown = np.column_stack([np.interp(np.arange(last + 1), known_at, one) for one in values.T])
        return Sessions(of, seen, np.zeros((len(begins), len(asked.base))), of_the_end, all_grown)
    slack = np.abs(known.play[(at - 1) % len(known.play), found.start, -1] - asked.base)
    return Sessions(of, seen, slack + settling.left, of_the_end, np.empty((0, 2)))


def _ended(seen: Floats, lengths: Floats, length: float, low: int, asked: Measures) -> tuple[Floats, Floats, Floats]:
    """Return what is seen up to a length that may lie between two places, the lengths, and what the end may change.

    Within a round of the end what comes after a stall is told from the places around it, so it is off by no more than
    what that round changes; P(no stall) is not. Where the length lies between two places, so does what is seen.
    """
    at = int(np.searchsorted(lengths, low))
    change = np.abs(seen[at] - (seen[at - 1] if at > 0 else asked.base))
    change[:, ~(asked.stalled.any(axis=0) | asked.stalled_more.any(axis=0))] = 0.0
    if at + 1 < len(lengths):
        share, step = length - low, seen[at + 1] - seen[at]
        change += max(share, 1 - share) * np.abs(step)
        seen, lengths = seen.copy(), lengths.copy()
        seen[-1], lengths[-1] = seen[at] + share * step, length
    return seen, lengths, change


def check(moves: PlayerMoves, packets: float, top: float, settled: float, steady: float) -> None:
    """Raise `AccuracyError` where a pass would take too much time, before anything is followed.

    Parameters as for `sessions`.
    """
    on = moves.on
    _, _, many = points_of(on, math.ceil(top / on.quantum))
    places = followed(min(math.ceil(packets / on.due - WHOLE), settled), on.sparse, steady)
    _check(places * len(moves.far.chance) * many * len(moves.asked.base))


def join_times(whole: Joint, state: int, on: Fineness, packets: float, starts: Sequence[float]) -> list[Floats]:
    """Return the chance that playback begins after 0, 1, 2, ... rounds, of each start buffer.

    Parameters
    ----------
    whole : Joint
        Transitions on the lattice.
    state : int
        In which a video begins.
    on : Fineness
    packets, starts : float
        As for `sessions`.

    Raises
    ------
    AccuracyError
        Where it has not begun after a million rounds.
    """
    moves, begin = totals(whole), np.eye(1, len(whole.starts) - 1, state)[0]
    laws = []
    for start in starts:
        goal, more = on.needed(start)
        needs, least = passing(whole, more, on.exact, goal), min(goal, math.ceil(packets / on.quantum))
        law = fill_times(least, MOST_FILLING, needs, moves, begin, NEGLIGIBLE, FAINT if on.exact else RARE)
        if 1 - law.sum() > LEFT_OUT:
            raise AccuracyError(
                f"the start buffer is not filled within {len(law):,} round trips with probability {1 - law.sum():.1g}, "
                f"more than the {LEFT_OUT:g} that may be left out: take a smaller start buffer"
            )
        laws.append(np.asarray(law))
    return laws


def _check(products: float) -> None:
    """Raise `AccuracyError` for a pass of too many products."""
    minutes = products * NANOSECONDS / 60e9
    if minutes > MOST_MINUTES:
        raise AccuracyError(
            f"a player with buffers would take about {minutes:.2g} minutes to follow, more than the limit of "
            f"{MOST_MINUTES:g}: take {watch.SHORTER}, or tcp=reno-sack, whose chain is smaller than that of CUBIC"
        )


class _Settling:
    """Whether more video before a place makes a difference: TCP that is faster than the video runs away from stalls.

    E[N] and E[S] are looked at where the video is a quarter as long again each time. What they change by from each lead
    is compared with what they do from the largest one, which `Sessions.slack` tells: where no other changes by more, it
    is the only reason for any stall that is left. Where leads are whole packets, at the pace of the last change the
    rest of the video may change them by `SETTLED` of what they are with the largest start buffer. Elsewhere each may
    change by so much of itself, and changes get less by the same factor from look to look.
    """

    def __init__(
        self, known: Known, last: int, start: int, goals: Sequence[int], rounds: int, exact: bool, asked: Measures,
        places: Ints,
    ) -> None:  # fmt: skip
        self._play, self._last, self._start, self._exact = known.play, last, start, exact
        self._places = places
        self._before, self._changed = np.empty(0), np.empty(0)
        self._sums = np.flatnonzero(asked.stalled_more.any(axis=0))
        self._points = [points_below(goal + 1, known.play.shape[2], known.leads) - 1 for goal in goals]
        self.look, self.over = self._place(max(4, rounds + 1)), False
        self.left, self._rates = np.zeros((len(goals), len(asked.base))), -np.log(asked.waited[1])

    def at(self, place: int) -> None:
        """Look at the values of a place, where it is time."""
        if place != self.look:
            return
        now = self._play[place % len(self._play)][:, :, self._sums]
        if len(self._before):
            change = now - self._before
            changed = np.abs(change - change[self._start, -1])
            left = changed / (place / LATER) * (self._last - place)
            if self._exact:
                left, least = left.max(axis=(0, 1), keepdims=True), now[self._start, max(self._points)]
            else:
                least = np.maximum(np.abs(now), np.abs(now[:, [max(self._points)]]))
                if len(self._changed):
                    factor = np.minimum(changed / np.maximum(self._changed, 1e-300), LARGEST)
                    left = np.minimum(left, changed * factor / (1 - factor))
            self.over = bool((left <= NOTHING + SETTLED * least).all())
            self._changed = changed
            if self.over:
                self._leave(left)
        self._before, self.look = now, self._place(place + place // LATER)

    def _place(self, least: int) -> int:
        """Return the first place, of those that are looked at, from one on."""
        return int(self._places[min(int(np.searchsorted(self._places, least)), len(self._places) - 1)])

    def _leave(self, left: Floats) -> None:
        """Set what each start buffer may still change by, from that of E[N] and E[S] by state and point."""
        for row, point in zip(self.left, self._points):
            most = left[:, min(point, left.shape[1] - 1)].max(axis=0)
            row[:] = np.minimum(most[0], np.where(self._rates > 0, self._rates * most[1], math.inf))
            row[self._sums] = most  # no probability changes by more than E[N], and E[f^S] by log(1/f) E[S]


def _known(
    moves: Totals, on: Fineness, filling: Filling, last: int, columns: int, points: Leads, n: int
) -> Known:  # fmt: skip
    """Return room for what is known at n points."""
    states, C = len(moves.starts) - 1, columns
    waits = np.unique(moves.target[moves.rounds > 2])
    slot = np.full(states, -1)
    slot[waits] = np.arange(len(waits))
    depth = np.array([int(moves.rounds[moves.target == one].max()) + 3 for one in waits], dtype=np.int64)
    first = np.append(0, np.cumsum(depth))
    fills = max(2, len(_fills(last, on.sparse)) - 1)
    height = filling.threshold + int(max(filling.moves.received.max(), filling.needs.received.max())) + 1
    size = 8.0 * C * (n * (5 * states + int(first[-1])) + states * (fills + 2 * height))
    if size > MOST_BYTES:
        raise AccuracyError(
            f"a player with buffers would take {size / 2**30:.3g} GiB of memory to follow, more than the limit of "
            f"{MOST_BYTES / 2**30:g}: take a smaller max_window, smaller buffers or a shorter timer"
        )
    return Known(
        on.quanta, points, UNBOUNDED, np.zeros((5, states, n, C)), slot, first[:-1], depth,
        np.zeros((int(first[-1]), n, C)),
        np.zeros(last + 2, dtype=np.int64), np.zeros(fills), np.zeros((fills, states, C)),
        np.zeros((2, states, height, C)),
    )  # fmt: skip


def _fills(last: int, sparse: int) -> Ints:
    """Return the places up to the last one, and one beyond, at which `back_in_video` follows fills."""
    places = [0]
    while places[-1] <= last:
        places.append(places[-1] + max(1, places[-1] // sparse))
    return np.array(places)
