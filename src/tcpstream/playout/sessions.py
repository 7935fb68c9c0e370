"""Sessions of a player with buffer thresholds, over a whole video: one pass back from its end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.buffer_begin import seen_from
from ..kernels.buffer_levels import back_in_video
from ..kernels.buffer_state import Measures
from ..kernels.buffer_times import fill_times
from ..system import watch
from .fineness import Fineness
from .kept_places import fills, room
from .lattice import WHOLE, Joint, totals
from .leads import leads
from .leads import points as points_of
from .leaps import Leaps, followed
from .passing import passing
from .pauses import Pauses
from .player_moves import PlayerMoves
from .resuming import resume_at_once
from .settling import Settling

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
    stop, apart = (math.inf, on) if pauses is None else (pauses.levels(on)[0], pauses.spread(on))
    points, deep, many = leads(found, apart, most, stop)
    if pauses is not None and not pauses.played:
        steady = math.inf  # from pause to pause what is seen changes to and fro
    check(followed(min(last, settled), on.sparse, steady) * len(moves.far.chance) * many * len(asked.base))
    known = room(moves.all, on, filling, last, len(asked.base), points, many)
    pausing = None if pauses is None else pauses.on(on, points, many)
    if pauses is not None:
        known = pauses.known(known, on, moves.far, most)
    begins = [moves.begun(start) for start in starts]
    at_fills = fills(last, on.sparse)
    places = at_fills if math.isfinite(steady) else np.arange(last + 2)  # which no leap crosses
    ends = at_lengths(low, last, lengths, places)
    goals = [begun.goal for begun in begins]
    settling = Settling(known, last, found.start, goals, most // on.quanta, on.exact, asked, places)
    sums, grown = np.flatnonzero(asked.stalled_more.any(axis=0)), {}
    leaps = Leaps(known, asked.base, at_fills, steady, pausing)

    def follow(first: int, until: int) -> None:
        filled = set(at_fills[(at_fills >= first) & (at_fills <= until)].tolist() if threshold < on.quanta else ())
        stops = {*range(first, until, 1 if pausing else CHUNK), until} | filled
        begin = first
        for at in sorted(stops):
            watch.at(at, last + 1, watch.SHORTER)
            back_in_video(
                begin, at, on.sparse, threshold, moves.far, moves.all, deep, moves.lacking, moves.playing, filling,
                known, asked,
            )  # fmt: skip
            if at in filled:
                resume_at_once(at, threshold, moves, filling, known, asked)
            begin = at + 1
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
    seen, of, of_the_end = ended(seen, of, length, low, asked)
    if pausing:
        followed_at, values = list(grown), np.array(list(grown.values()))
        all_grown = np.column_stack([np.interp(np.arange(last + 1), followed_at, one) for one in values.T])
        return Sessions(of, seen, np.zeros((len(begins), len(asked.base))), of_the_end, all_grown)
    slack = np.abs(known.play[(at - 1) % len(known.play), found.start, -1] - asked.base)
    return Sessions(of, seen, slack + settling.left, of_the_end, np.empty((0, 2)))


def at_lengths(low: int, last: int, lengths: int, places: Ints) -> Ints:
    """Return lengths of the video at some places, about so many, up to the whole: between `low` and `last` rounds."""
    ends = np.geomspace(max(low, 1), 1, lengths).astype(np.int64)
    return np.unique(np.append(np.minimum(places[np.searchsorted(places, ends)], low), [max(low - 1, 0), low, last]))


def ended(seen: Floats, lengths: Floats, length: float, low: int, asked: Measures) -> tuple[Floats, Floats, Floats]:
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


def products(moves: PlayerMoves, packets: float, top: float, settled: float, steady: float) -> float:
    """Return the products that a pass takes, about.

    Parameters as for `sessions`.
    """
    on = moves.on
    _, _, many = points_of(on, math.ceil(top / on.quantum))
    places = followed(min(math.ceil(packets / on.due - WHOLE), settled), on.sparse, steady)
    return places * len(moves.far.chance) * many * len(moves.asked.base)


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
        if abs(1 - law.sum()) > LEFT_OUT:
            raise AccuracyError(
                f"the start buffer is not filled within {len(law):,} round trips with probability {1 - law.sum():.1g}, "
                f"more than the {LEFT_OUT:g} that may be left out: take a smaller start buffer"
            )
        laws.append(np.asarray(law))
    return laws


def check(many: float) -> None:
    """Raise `AccuracyError` for a pass of too many `products`, before anything is followed."""
    minutes = many * NANOSECONDS / 60e9
    if minutes > MOST_MINUTES:
        raise AccuracyError(
            f"a player with buffers would take about {minutes:.2g} minutes to follow, more than the limit of "
            f"{MOST_MINUTES:g}: take {watch.SHORTER}, or tcp=reno-sack, whose chain is smaller than that of CUBIC"
        )
