"""How a player starts, resumes after a stall, and stops reading: the settings of `tcpstream.Player`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, choice, positive, real

START = 2.0
"""Startup delay of a player of which nothing is said [s]."""

LONGEST = 1e8
"""Of a startup delay, or a buffer [s]."""

IDLE = ("restart", "keep")
"""What an idle time makes of the window."""

EXACT = 1e-9
"""Of a packet: rounding noise is none."""


@dataclass(frozen=True, kw_only=True)
class Player:
    """A player of a stored video, with the names, units and ranges of `tcpstream.Player` and `tcpstream.PausingPlayer`.

    Its clock is the client's: packets are there half a round trip after they are sent, and the time begins when the
    first one is sent. So playback that starts with some media held starts half a round trip later than on the clock of
    `tcpstream.play`, and a startup delay is worth half a round trip less.

    Parameters
    ----------
    start : float, optional
        Startup delay tau [s], 0 to 1e8; 2 s unless a start buffer is given.
    start_buffer : float, optional
        Media that is held when playback starts [s], instead; above 0.
    resume_buffer : float
        Media that is held when playback resumes after a stall [s]; 0 for the missing packet alone. It needs a start
        buffer.
    client_buffer : float, optional
        Media from which on it stops reading [s], with a start buffer; by default it never stops. What is sent before
        the server hears of it still comes.
    refill_at : float, optional
        Media down to which it plays before it reads again [s]; the client buffer by default.
    idle : {"restart", "keep"}
        Whether the server's window shrinks, and slow start comes back, once nothing was sent for longer than the
        retransmission timer, as in Linux.

    Raises
    ------
    InputError
        For a value out of range, and settings that do not go together, as of `tcpstream.Player`.
    """

    start: float | None = None
    start_buffer: float | None = None
    resume_buffer: float = 0.0
    client_buffer: float | None = None
    refill_at: float | None = None
    idle: str = "restart"

    def __post_init__(self) -> None:
        object.__setattr__(self, "resume_buffer", _seconds("resume buffer", self.resume_buffer))
        choice("idle", self.idle, IDLE)
        if self.start_buffer is None:
            object.__setattr__(self, "start", _seconds("start", START if self.start is None else self.start))
            if self.resume_buffer > 0:
                raise InputError(f"a resume buffer of {self.resume_buffer:g} s needs a start buffer as well, as of 2 s")
        elif self.start is not None:
            raise InputError("give a startup delay or a start buffer, not both")
        else:
            object.__setattr__(self, "start_buffer", _seconds("start buffer", self.start_buffer))
            if self.start_buffer == 0:
                raise InputError("start buffer must be above 0, got 0 s")
        self._check_reading()

    def _check_reading(self) -> None:
        if self.client_buffer is None:
            if self.refill_at is not None or self.idle != IDLE[0]:
                raise InputError("refill_at and idle are of a player with a client buffer: give client_buffer as well")
            return
        if self.start_buffer is None:
            raise InputError("a player with a client buffer starts with some media held: give a start buffer, as 2 s")
        most = positive("client buffer", self.client_buffer, "s")
        refill = positive("refill level", most if self.refill_at is None else self.refill_at, "s")
        for name, one in (
            ("refill level", refill), ("start buffer", self.start_buffer), ("resume buffer", self.resume_buffer),
        ):  # fmt: skip
            if one > most:
                raise InputError(f"{name} must be at most the client buffer of {most:g} s, got {one:g} s")
        object.__setattr__(self, "client_buffer", most)
        object.__setattr__(self, "refill_at", refill)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, ready for JSON."""
        pausing = self.client_buffer is not None
        settings = {
            "start_s": self.start,
            "start_buffer_s": self.start_buffer,
            "resume_buffer_s": self.resume_buffer,
            "client_buffer_s": self.client_buffer,
            "refill_at_s": self.refill_at,
            "idle": self.idle if pausing else None,
        }
        return {name: value for name, value in settings.items() if value is not None}


def packets(media: float | None, packet_rate: float) -> int:
    """Return how many packets some media are [s], one at least."""
    return max(1, math.ceil((media or 0.0) * packet_rate - EXACT))


def _seconds(name: str, value: Any) -> float:
    """Return a time [s], or raise `InputError` unless it is a finite number from 0 to 1e8."""
    found = real(name, value, "s")
    if found < 0:
        raise InputError(f"{name} must not be negative, got {found:g} s")
    if found > LONGEST:
        raise InputError(f"{name} must be at most {LONGEST:g} s, got {found:g} s")
    return found
