"""The buffer of a player of segments, which plays each once it is there whole."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Playback:
    """What a player holds, and what its viewer saw.

    It starts, and resumes after a stall, with one segment.

    Attributes
    ----------
    segment, held : float
        Media of a segment, and held at most [s].
    buffer : float
        Media held [s].
    downloads, stalls : list of float
        How long each download and each stall was [s].
    """

    segment: float
    held: float
    buffer: float = 0.0
    downloads: list[float] = field(default_factory=list)
    stalls: list[float] = field(default_factory=list)

    @property
    def until_room(self) -> float:
        """Time until there is room for another segment [s]."""
        return max(0.0, self.buffer + self.segment - self.held)

    def waited(self, seconds: float) -> None:
        """Play for so long without a download; no longer than what is held."""
        self.buffer -= seconds

    def fetched(self, seconds: float) -> None:
        """Play while a segment comes, and add it."""
        if self.downloads and seconds > self.buffer:
            self.stalls.append(seconds - self.buffer)
        self.downloads.append(seconds)
        self.buffer = max(0.0, self.buffer - seconds) + self.segment
