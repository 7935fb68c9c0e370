"""A server that paces: how fast it lets TCP have a stored video."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import within
from .answer import startup_delay

LARGEST = 1e6
"""Pace from which on it makes no difference."""


@dataclass(frozen=True)
class Pacing:
    """A server that hands a stored video to TCP at a pace, after a burst: by time t it has burst + pace x mu t.

    Parameters
    ----------
    pace : float
        Times the rate of the video, 1 to 1e6.
    burst : float
        Media that is handed over at once at the start [s], 0 to 1e8.

    Raises
    ------
    InputError
        For a value out of range.

    Examples
    --------
    >>> import tcpstream
    >>> tcpstream.Pacing(1.25, burst=5)
    Pacing(pace=1.25, burst=5.0)
    """

    pace: float
    burst: float = 0.0

    def __post_init__(self) -> None:
        """Judge both."""
        object.__setattr__(self, "pace", within("pace", self.pace, 1.0, LARGEST, "times the rate"))
        object.__setattr__(self, "burst", startup_delay(self.burst, "burst"))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, ready for JSON."""
        return {"pace": self.pace, "burst_s": self.burst}
