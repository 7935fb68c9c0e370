"""What a client of Windows Streaming Media tells its server."""

from __future__ import annotations

from typing import NamedTuple


class Probe(NamedTuple):
    """Send packets back to back."""


class Play(NamedTuple):
    """Send media from now on so.

    Attributes
    ----------
    rate : float
        Of the media [bit/s].
    speed : float
        Seconds of media in a second.
    pause : float
        Between bursts [s].
    """

    rate: float
    speed: float
    pause: float


class Missing(NamedTuple):
    """Packets did not arrive."""

    numbers: tuple[int, ...]
