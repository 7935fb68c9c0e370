"""A player that fetches a video in segments, one after the other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, choice, positive, whole, within
from .player import MOST_SETUP

IDLE = ("restart", "keep")
"""What an idle time makes of the window."""

MOST_HELD = 1000
"""Segments that a player may hold."""


@dataclass(frozen=True)
class SegmentPlayer:
    """A player that fetches segments over one connection, and stops fetching while it has no room for another one.

    Parameters
    ----------
    segment : float
        Media in a segment [s], above 0.
    client_buffer : float
        Media that the player holds at most [s]: the next segment is asked for when it has room for it. More than a
        segment, at most a thousand.
    start_buffer, resume_buffer : float, optional
        Media held when playback starts, and when it resumes after a stall [s]: rounded up to whole segments, one by
        default, and at most the client buffer.
    idle : {"restart", "keep"}
        Whether the server's window shrinks, and slow start comes back, once nothing was sent for longer than the
        retransmission timer: Linux's default, or as with ``tcp_slow_start_after_idle = 0``.
    setup_round_trips : int
        Round trips before the first request, which count as join time: 1 for a handshake of TCP, 2 with TLS 1.3, 3 with
        TLS 1.2.

    Raises
    ------
    InputError
        For a value out of range.

    Examples
    --------
    >>> import tcpstream
    >>> player = tcpstream.SegmentPlayer(segment=4, start_buffer=6)
    >>> player.client_buffer  # seconds
    30.0
    """

    segment: float
    client_buffer: float = 30.0
    start_buffer: float | None = None
    resume_buffer: float | None = None
    idle: str = "restart"
    setup_round_trips: int = 0

    def __post_init__(self) -> None:
        """Judge every value."""
        segment = positive("segment", self.segment, "s")
        most = positive("client buffer", self.client_buffer, "s")
        if not segment < most <= MOST_HELD * segment:
            raise InputError(
                f"client buffer must be above the segment of {segment:g} s and at most {MOST_HELD:,} segments, got "
                f"{most:g} s"
            )
        choice("idle", self.idle, IDLE)
        whole("round trips before the request", self.setup_round_trips, 0, most=MOST_SETUP)
        held = math.floor(most / segment + 1e-9) * segment * (1 + 1e-12)  # three segments of 3.739 s are 11.217 s
        for name in ("start_buffer", "resume_buffer"):
            given = getattr(self, name)
            if given is not None:
                within(name.replace("_", " "), given, 0.0, held, "s")
        object.__setattr__(self, "segment", segment)
        object.__setattr__(self, "client_buffer", most)

    @property
    def rounds_before(self) -> int:
        """Round trips before the first request."""
        return self.setup_round_trips

    @property
    def starts_with(self) -> int:
        """Segments with which playback starts."""
        return self._whole(self.start_buffer)

    @property
    def resumes_with(self) -> int:
        """Segments with which playback resumes after a stall."""
        return self._whole(self.resume_buffer)

    @property
    def most_held(self) -> int:
        """Whole segments that the player holds at most."""
        return math.floor(self.client_buffer / self.segment + 1e-9)

    def _whole(self, buffer: float | None) -> int:
        return 1 if buffer is None else max(1, math.ceil(buffer / self.segment - 1e-9))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, ready for JSON."""
        return {
            "segment_s": self.segment,
            "client_buffer_s": self.client_buffer,
            "start_buffer_s": self.starts_with * self.segment,
            "resume_buffer_s": self.resumes_with * self.segment,
            "idle": self.idle,
            "setup_round_trips": self.setup_round_trips,
        }
