"""How a player starts, and resumes after a stall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import InputError, choice, whole
from .answer import startup_delay

START = 2.0
"""Startup delay of a player of which nothing is said [s]."""

MOST_SETUP = 1000
"""Round trips before a request."""

ON_STALL = ("wait", "skip")
"""What a player of a live stream does after a stall."""


@dataclass(frozen=True)
class Player:
    """A player: it starts after a delay, or with some media held, and resumes after a stall with some held again.

    After a stall of a live stream it may also skip what came too late.

    Parameters
    ----------
    start : float, optional
        Startup delay tau [s], 0 to 1e8; 2 s unless a start buffer is given.
    start_buffer : float, optional
        Media that is held when playback starts [s], instead; above 0.
    resume_buffer : float
        Media that is held when playback resumes after a stall [s]; 0 for the missing packet alone. It needs a start
        buffer, or a player that skips.
    on_stall : {"wait", "skip"}
        After a stall of a live stream: go on where playback stopped, that much later; or jump to the startup delay
        behind the stream again. A stored video waits.
    setup_round_trips : int, optional
        Of a stored video: count the join time from the connection on, with so many round trips before the request (1
        for a handshake of TCP, 2 with TLS 1.3, 3 with TLS 1.2) and that of the request itself; by default from the
        first round of data on.

    Raises
    ------
    InputError
        For a value out of range, a startup delay beside a buffer, a resume buffer without a start buffer that waits, or
        above the startup delay that skips, and a start buffer of a player that skips.

    Examples
    --------
    >>> import tcpstream
    >>> tcpstream.Player(start=2).to_dict()
    {'start_s': 2.0, 'resume_buffer_s': 0.0}
    >>> tcpstream.Player(start_buffer=2, resume_buffer=5).resume_buffer
    5.0
    """

    start: float | None = None
    start_buffer: float | None = None
    resume_buffer: float = 0.0
    on_stall: str = "wait"
    setup_round_trips: int | None = None

    def __post_init__(self) -> None:
        choice("on_stall", self.on_stall, ON_STALL)
        object.__setattr__(self, "resume_buffer", startup_delay(self.resume_buffer, "resume buffer"))
        if self.setup_round_trips is not None:
            whole("round trips before the request", self.setup_round_trips, 0, most=MOST_SETUP)
        if self.start_buffer is None:
            object.__setattr__(self, "start", startup_delay(START if self.start is None else self.start, "start"))
            if self.on_stall == "skip":
                self._check_skipping()
            elif self.resume_buffer > 0:
                raise InputError(
                    f"a resume buffer of {self.resume_buffer:g} s needs a start buffer as well, as of 2 s; or, of a "
                    "live stream, on_stall=skip"
                )
            return
        if self.start is not None:
            raise InputError("give a startup delay or a start buffer, not both")
        object.__setattr__(self, "start_buffer", startup_delay(self.start_buffer, "start buffer"))
        if self.start_buffer == 0:
            raise InputError("start buffer must be above 0, got 0 s")
        if self.on_stall == "skip":
            raise InputError("a player that skips starts after a delay: leave out the start buffer")

    def _check_skipping(self) -> None:
        assert self.start is not None
        if self.resume_buffer > self.start:
            raise InputError(
                f"the resume buffer of a player that skips must be at most its startup delay of {self.start:g} s, got "
                f"{self.resume_buffer:g} s: more does not exist yet"
            )

    @property
    def rounds_before(self) -> int:
        """Round trips before the first round of data that count as join time."""
        return 0 if self.setup_round_trips is None else 1 + self.setup_round_trips

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, ready for JSON."""
        settings = {
            "start_s": self.start,
            "start_buffer_s": self.start_buffer,
            "resume_buffer_s": self.resume_buffer,
            "setup_round_trips": self.setup_round_trips,
        }
        return {name: value for name, value in settings.items() if value is not None}
