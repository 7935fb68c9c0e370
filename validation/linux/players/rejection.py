"""Which sessions do not count: those whose machine did not let the player play, whatever their viewers saw."""

from __future__ import annotations

from .session import Fetched, Session

BOOT = 1.0
"""mpv that needed longer [s] from its begin to its first connection was starved of CPU."""

LONGER, PER_STALL = 0.15, 0.05
"""So was one whose playback took longer [s] than its media and the stalls that it counted, and than the blocks of up to
0.046 s in which its output begins to play again."""

SHORTER = 0.25
"""And less is no playback of all the media [s]: a log may lack its last line, and with it the 0.2 s of the output."""

OVERSLEPT, WAITED = 0.05, 0.01
"""So was a player of segments that woke up later than this [s], or that had no CPU for such a share of its media."""

LATE = 0.15
"""A path that forwarded a packet later than this [s] may have made a timeout: Linux's timer has 0.2 s to spare."""


def starved(session: Session | Fetched, media: float) -> str | None:
    """Return why a player was starved of CPU, by its own clock; None where it was not.

    Parameters
    ----------
    session : Session or Fetched
    media : float
        Length of what it played [s].
    """
    if isinstance(session, Fetched):
        if session.overslept > OVERSLEPT:
            return f"it woke up {session.overslept:.3f} s too late"
        return f"it had no CPU for {session.waited:.2f} s" if session.waited > WAITED * media else None
    if session.boot > BOOT:
        return f"it needed {session.boot:.2f} s to begin"
    took = session.played - session.stalled
    if not -SHORTER <= took - media <= LONGER + PER_STALL * len(session.stalls):
        return f"{media:g} s of media took {took:.2f} s beside the stalls"
    return None


def delayed(stalls: list[tuple[float, float]], begin: float, end: float) -> bool:
    """Tell whether the path itself stalled during a session.

    Parameters
    ----------
    stalls : list of (float, float)
        When packets were due, and how late they were [s].
    begin, end : float
        Of the session, by the same clock [s].
    """
    return any(late > LATE and begin < due < end for due, late in stalls)
