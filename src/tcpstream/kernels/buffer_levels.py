"""Values of a player over the rest of a video, back in time: it plays, and it fills its buffer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import kept
from .buffer_deep import play_deep
from .buffer_fill import fill
from .buffer_leads import Deep, put
from .buffer_moves import Lacking, Passing, Totals
from .buffer_play import goes_on, play_far, play_near
from .buffer_state import Filling, Known, Measures

Floats = NDArray[np.float64]


@part(nogil=True)
def _put_empty(empty: Floats, fill: Floats) -> None:
    """Set the values of an empty buffer to those of a fill that holds nothing."""
    for s in range(empty.shape[0]):
        put(empty[s], fill[s, 0])


@part(nogil=True)
def _keep(x: int, known: Known) -> None:
    """Keep the values of place x of states whose values are asked for later."""
    for s in range(len(known.slot)):
        slot = known.slot[s]
        if slot >= 0:
            into, now = known.long[known.first[slot] + x % known.depth[slot]], known.play[x % known.play.shape[0]]
            put(into.reshape(into.size), now[s].reshape(into.size))


@kept(nogil=True)
def fill_again(
    x: int, threshold: int, highest: int, lacks: Lacking, needs: Passing, filling: Filling, known: Known, on: Measures
) -> None:  # fmt: skip
    """Set what a player sees that fills its buffer at place x, and what one does that holds less than a round then.

    Levels from the highest on are those that they were.
    """
    i = known.before[x]
    fill(x, filling, known.fill[i % 2], highest, known, on)
    _put_empty(known.empty[i], known.fill[i % 2])
    play_near(x, threshold, filling.size, needs, lacks, known, on)
    _keep(x, known)


@kept(nogil=True)
def back_in_video(
    first: int, last: int, sparse: int, threshold: int, far: Totals, moves: Totals, deep: Deep, lacks: Lacking,
    needs: Passing, filling: Filling, known: Known, on: Measures,
) -> None:  # fmt: skip
    """Go back from place `first` to place `last` in the video.

    A player that plays on with less than a round may stall again before the next place: then what it sees that fills
    its buffer is told in terms of itself, and here as with the stalls of the place before: `fill_again` adds one more.

    Parameters
    ----------
    first, last : int
    sparse : int
        Fills are followed at places in a ratio of 1 + 1 / sparse, and between at all.
    threshold : int
        Quanta from which a player that stalled plays on.
    far : Totals
        Transitions, smooth, for what is held from two rounds of playback on.
    moves : Totals
        All of them.
    deep : Deep
        Where much is held.
    lacks : Lacking
        Those that stall in their first round.
    needs : Passing
        Of the first round, to play on.
    filling : Filling
    known : Known
        Becomes that of place `last`.
    on : Measures
    """
    for x in range(first, last + 1):
        i = known.before[x - 1] if x > 0 else -1
        known.before[x] = max(i, 0)
        play_far(x, far, moves, known, on)
        play_deep(x, moves, deep, known, on)
        if x == 0 or x >= known.places[i] + max(1, int(known.places[i]) // sparse):
            i += 1
            known.places[i] = x
            if threshold < known.round:  # it plays on with less than a round, and may stall before the next place
                play_near(x, threshold, filling.size, needs, lacks, known, on)
            known.before[x] = i
            fill_again(x, threshold, known.fill.shape[2], lacks, needs, filling, known, on)
        else:
            play_near(x, threshold, filling.size, needs, lacks, known, on)
            _keep(x, known)


@kept(nogil=True)
def back_from_stalls(
    first: int, last: int, threshold: int, far: Totals, moves: Totals, deep: Deep, lacks: Lacking, needs: Passing,
    size: int, stalls: Floats, known: Known, on: Measures,
) -> None:  # fmt: skip
    """Go back from place `first` to place `last` in the video, with values behind a stall that are known.

    Parameters as for `back_in_video`; `size` is that of `Filling`, and `stalls` what `stalls_at` returns, where it is
    the same from place to place: else of no state.
    """
    for x in range(first, last + 1):
        known.before[x] = 0
        play_far(x, far, moves, known, on)
        play_deep(x, moves, deep, known, on)
        if len(stalls) == 0:
            play_near(x, threshold, size, needs, lacks, known, on)
        else:
            now = known.play[x % known.play.shape[0]]
            for s in range(len(stalls)):
                for at in range(known.round):
                    put(now[s, at], stalls[s, at])
            goes_on(x, known.round, needs, known, on)
        _keep(x, known)
