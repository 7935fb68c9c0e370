"""A queue that is limited, and drops the newest segment of the highest layer."""

from __future__ import annotations

from typing import NamedTuple

from ...errors import whole


class Held(NamedTuple):
    """A segment: its number, and its layer."""

    number: int
    layer: int


class SegmentQueue:
    """First in, first out; where a segment too many is put in, one of the highest layer there leaves, the newest.

    Parameters
    ----------
    room : int
        Segments that it holds.
    """

    def __init__(self, room: int) -> None:
        self._room = whole("room of a queue", room, unit="segments")
        self._held: list[Held] = []

    def __len__(self) -> int:
        return len(self._held)

    def put(self, segment: Held) -> Held | None:
        """Take a segment, and return the one that is dropped for it, which may be itself; None if there is room."""
        self._held.append(segment)
        if len(self._held) <= self._room:
            return None
        newest = max(range(len(self._held)), key=lambda place: (self._held[place].layer, place))
        return self._held.pop(newest)

    def take(self) -> Held | None:
        """Return the oldest segment, which leaves, or None."""
        return self._held.pop(0) if self._held else None
