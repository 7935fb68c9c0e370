"""How a player starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import InputError, real

LONGEST = 1e8
"""Longest startup delay [s]."""


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
        start = real("start", self.start, "s")
        if not 0 <= start <= LONGEST:
            raise InputError(f"start must be between 0 and {LONGEST:g} s, got {start:g} s")
        object.__setattr__(self, "start", start)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, ready for JSON."""
        return {"start_s": self.start}
