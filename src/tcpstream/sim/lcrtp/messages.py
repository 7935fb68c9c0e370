"""What a cache and a server tell each other to repair a copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..hosts import HEADERS

RTCP, ENTRY, LARGEST_LIST = 12, 5, 1500
"""Bytes of an application-defined RTCP packet, of a sequence number and a layer in it, and of all at most."""

LOSSES, ALL = 0, 1
"""Modes: what was sent and lost is asked for, or all that is missing."""


class Request(NamedTuple):
    """A packet of a list of missing segments.

    Attributes
    ----------
    number : int
        Of the list, 1 for the first.
    mode : {0, 1}
        `LOSSES` or `ALL`.
    segments : tuple of int
        Sequence numbers; they tell the layers.
    part, parts : int
        Which packet of the list it is, from 0 on, and how many there are.
    """

    number: int
    mode: int
    segments: tuple[int, ...]
    part: int = 0
    parts: int = 1

    @property
    def size(self) -> int:
        """Of the packet [bytes]."""
        return HEADERS + RTCP + ENTRY * len(self.segments)


class Bye(NamedTuple):
    """Ends the stream, or, from the cache, the session: 0; or answers a list of what was never sent, its number."""

    answers: int = 0


class Content(NamedTuple):
    """What a segment carries: its bytes, and the number of the list of which it is the last one, or 0."""

    data: bytes
    last: int = 0


def requests(number: int, mode: int, missing: Sequence[int]) -> list[Request]:
    """Return a list of missing segments in as many packets as it takes."""
    room = (LARGEST_LIST - HEADERS - RTCP) // ENTRY
    parts = [tuple(missing[begin : begin + room]) for begin in range(0, len(missing), room)]
    return [Request(number, mode, segments, part, len(parts)) for part, segments in enumerate(parts)]
