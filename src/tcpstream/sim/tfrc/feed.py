"""What a TFRC flow carries: an application gives a segment when one may leave."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..traffic import Datagram


class Segment(NamedTuple):
    """What is sent in a packet.

    Attributes
    ----------
    size : int
        Of the packet [bytes], headers included.
    tag : int
        What the receiver can read in it.
    payload : object
        What else it carries; it must not be changed later.
    """

    size: int
    tag: int = 0
    payload: Any = None


class Feed:
    """What a sender pulls from; a subclass says what it has."""

    def pull(self, now: float) -> Segment | None:
        """Return the segment that leaves now [s], or None: there is none."""
        raise NotImplementedError

    def came(self, datagram: Datagram) -> None:
        """Take a datagram of another flow, which this one relays."""

    def due(self, now: float) -> float:
        """Return when to pull again after None [s]; infinite: when `TfrcSender.ready` is called."""
        del now
        return math.inf


class Endless(Feed):
    """Always has a segment.

    Parameters
    ----------
    size : int
        [bytes].
    """

    def __init__(self, size: int) -> None:
        self._segment = Segment(size)

    def pull(self, now: float) -> Segment:
        """Return a segment."""
        del now
        return self._segment
