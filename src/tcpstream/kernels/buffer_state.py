"""What is known of a player's session, and the moves that it makes, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .buffer_leads import Leads
from .buffer_moves import Passing, Totals

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Measures(NamedTuple):
    """What is added up, in C columns.

    Attributes
    ----------
    base : (C,) array
        Once nothing can stall any more.
    of : (C,) int array
        Column whose value behind a stall counts.
    stalled, stalled_more : (T, C) arrays
        Factor of it, and what is added, for a stall that begins with so many quanta of time until a round begins.
    waited, waited_more : (T, C) arrays
        The same of a wait in a stall, of so many rounds.
    """

    base: Floats
    of: Ints
    stalled: Floats
    stalled_more: Floats
    waited: Floats
    waited_more: Floats


class Known(NamedTuple):
    """Values at places in the video, in rounds of playback that are left.

    Attributes
    ----------
    round : int
        Quanta of a round of playback.
    leads : Leads
        n points.
    full : int
        Quanta held at most, beyond which nothing is sent, not even the end of the video.
    top : (S,) int array
        Quanta held from which on a buffer may become full in a transition, by state.
    play : (5, S, n, C) array
        At the last places, by state and lead.
    slot, first, depth : (S,), (s,), (s,) int arrays
        Where values of a state are kept for longer: its number, -1 for none; begin and places of each.
    long : (.., n, C) array
    before : (X,) int array
        The last of the fills at a place or before it, for each place so far.
    places : (f,) array
        Of the fills.
    empty : (f, S, C) array
        While the buffer fills and nothing is held.
    fill : (2, S, h, C) array
        The same of the last two fills, by what is held, in quanta of `Filling`.
    """

    round: int
    leads: Leads
    full: int
    top: Ints
    play: Floats
    slot: Ints
    first: Ints
    depth: Ints
    long: Floats
    before: Ints
    places: Floats
    empty: Floats
    fill: Floats


class Nothing(NamedTuple):
    """Transitions in which nothing arrives, by source, and the inverse of 1 - Z on the states that they lead to.

    Attributes
    ----------
    starts, target, rounds, chance : arrays
    states : (b,) int array
    place : (S,) int array
        Of each of them, or -1.
    inverse : (C, b, b) array
    """

    starts: Ints
    target: Ints
    rounds: Ints
    chance: Floats
    states: Ints
    place: Ints
    inverse: Floats


class Filling(NamedTuple):
    """How a player fills its buffer after a stall.

    Attributes
    ----------
    size : int
        Quanta of playback in one of those that are received.
    threshold : int
        Of the latter, from which it plays on.
    needs : Passing
        Transitions by what their first round must deliver.
    moves : Totals
    nothing : Nothing
    """

    size: int
    threshold: int
    needs: Passing
    moves: Totals
    nothing: Nothing
