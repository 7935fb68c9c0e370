"""What one viewer saw: of mpv by its log, of the player of segments by its own account."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


class UnreadableError(ValueError):
    """A player did not say what its viewer saw; the message has its last words."""


@dataclass(frozen=True)
class Session:
    """What one viewer of mpv saw.

    Attributes
    ----------
    boot : float
        From the begin of the player to its first connection [s], by its own clock, as all.
    start : float
        From the first connection to playback [s].
    stalls : list of (float, float)
        When each began, since the start of playback, and how long it was [s].
    played : float
        From the start of playback to its end [s].
    """

    boot: float
    start: float
    stalls: list[tuple[float, float]]
    played: float

    @property
    def stalled(self) -> float:
        """Stalled in total [s]."""
        return sum(length for _, length in self.stalls)

    def to_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Fetched:
    """What one viewer of segments saw.

    Attributes
    ----------
    downloads : list of float
        From each request to the last byte [s].
    stalls : list of float
        How long each was [s].
    overslept : float
        By how much the player woke too late at most [s].
    waited : float
        How long it was ready to run and had no CPU, in all [s].
    """

    downloads: list[float]
    stalls: list[float]
    overslept: float
    waited: float

    def to_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return asdict(self)
