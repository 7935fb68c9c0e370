"""Players that watch what arrives round by round: when they start, and where they stall."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NOISE = 1e-9
"""Of a round: rounding noise does not make a stall."""


class Stalls(NamedTuple):
    """Stalls of many sessions, in the order of their sessions and of time.

    Attributes
    ----------
    session : (k,) int array
        In which each was.
    at, lasted : (k,) arrays
        How much had been played, and for how long it lasted [s].
    """

    session: Ints
    at: Floats
    lasted: Floats

    def in_order(self) -> Stalls:
        """Return them by their sessions."""
        order = np.argsort(self.session, kind="stable")
        return Stalls(self.session[order], self.at[order], self.lasted[order])


class Thresholds(NamedTuple):
    """When playback starts, and resumes.

    Attributes
    ----------
    start : float, optional
        After this time [s]; or else
    begin : float
        with so much media held [s].
    resume : float
        Media that is held when it resumes [s], above 0; after a startup delay it resumes with any.
    """

    start: float | None
    begin: float
    resume: float


def watched(media: Iterable[Floats], length: float, rtt: float, when: Thresholds) -> tuple[Floats, Stalls]:
    """Return when playback starts, and its stalls.

    Parameters
    ----------
    media : iterable of (sessions,) arrays
        What is there from the begin of each round on [s of media]; at last the whole video.
    length : float
        Of the video [s].
    rtt : float
        Length of a round [s].
    when : Thresholds

    Returns
    -------
    joins : (sessions,) array
        [s] since the first round.
    stalls : Stalls
    """
    noise, sessions, places, lengths = NOISE * rtt, [], [], []
    for i, there in enumerate(media):
        if i == 0:
            n = len(there)
            played, joins = np.zeros(n), np.full(n, np.nan if when.start is None else when.start)
            playing, since = np.zeros(n, dtype=np.bool_), np.zeros(n)
        held, now, room = there - played, i * rtt, rtt
        if when.start is None:
            ready = (held >= np.where(np.isnan(joins), when.begin, when.resume) - noise) | (there >= length - noise)
            first = ready & np.isnan(joins)
            joins[first], playing[first] = now, True
            again = ready & ~playing
        else:
            if now + rtt <= when.start:
                continue
            first = np.full(n, now <= when.start)
            playing |= first
            room = min(rtt, now + rtt - when.start)
            again = ~playing & (held > noise)
        back = np.flatnonzero(again)
        sessions.append(back)
        places.append(played[back])
        lengths.append(now - since[back])
        playing[back] = True
        wants = np.minimum(room, length - played)
        stands = playing & (held < wants - noise)
        played = np.where(playing, np.where(stands, there, played + wants), played)
        since[stands] = (now + rtt - room + held)[stands]
        playing &= ~stands
    found = Stalls(np.concatenate(sessions), np.concatenate(places), np.concatenate(lengths))
    return joins, found.in_order()
