"""How a player starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .answer import startup_delay


@dataclass(frozen=True)
class Player:
    """A player that starts after a delay, and waits for each packet that is missing.

    Parameters
    ----------
    start : float
        Startup delay tau [s], 0 to 1e8.

    Raises
    ------
    InputError
        For a value out of range.
    """

    start: float = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", startup_delay(self.start, "start"))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, ready for JSON."""
        return {"start_s": self.start}
