"""A player of a stored video that stops reading while it holds enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import InputError, choice, positive
from .player import Player
from .segment_player import IDLE

HELD = 30.0
"""Media that a player holds at most of which nothing is said [s]."""


@dataclass(frozen=True, kw_only=True)
class PausingPlayer(Player):
    """A player that starts and resumes with some media held, and stops reading while it holds enough: TCP pauses.

    Parameters
    ----------
    start_buffer, resume_buffer : float
        As of `Player` [s]; at most the client buffer.
    client_buffer : float
        Media from which on it stops reading [s]. What is under way still comes.
    refill_at : float, optional
        Media down to which it plays before it reads again [s], a round trip at least; the client buffer by default, as
        where a full receive window lets TCP send as fast as is played.
    idle : {"restart", "keep"}
        Whether the server's window shrinks, and slow start comes back, once nothing was sent for longer than the
        retransmission timer: Linux's default, or as with ``tcp_slow_start_after_idle = 0``.

    Raises
    ------
    InputError
        For a value out of range, and without a start buffer.

    Examples
    --------
    >>> import tcpstream
    >>> player = tcpstream.PausingPlayer(start_buffer=1, resume_buffer=2, client_buffer=10, refill_at=5)
    >>> player.refill_at
    5.0
    """

    client_buffer: float = HELD
    refill_at: float | None = None
    idle: str = "restart"

    def __post_init__(self) -> None:
        """Judge every value."""
        super().__post_init__()
        if self.start_buffer is None:
            raise InputError("a player with a client buffer starts with some media held: give a start buffer, as 2 s")
        choice("idle", self.idle, IDLE)
        most = positive("client buffer", self.client_buffer, "s")
        refill = positive("refill level", most if self.refill_at is None else self.refill_at, "s")
        for name, one in (
            ("refill level", refill), ("start buffer", self.start_buffer), ("resume buffer", self.resume_buffer),
        ):  # fmt: skip
            if one > most:
                raise InputError(f"{name} must be at most the client buffer of {most:g} s, got {one:g} s")
        object.__setattr__(self, "client_buffer", most)
        object.__setattr__(self, "refill_at", refill)

    @property
    def refill(self) -> float:
        """Media down to which it plays before it reads again [s]."""
        assert self.refill_at is not None
        return self.refill_at

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, ready for JSON."""
        return super().to_dict() | {
            "client_buffer_s": self.client_buffer,
            "refill_at_s": self.refill_at,
            "idle": self.idle,
        }
