"""What a client does with media: it waits for some, plays, halts when there is nothing left, and goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

EXACT = 1e-9
"""Rounding of times in the clip [s]."""


class Event(NamedTuple):
    """When playback starts, halts, resumes or ends, since the run began [s]."""

    name: str
    time: float


@dataclass
class Screen:
    """A client's buffer and playback, exact between arrivals.

    Parameters
    ----------
    duration : float
        Of the clip [s].
    preroll : float
        Playback starts, and resumes, when so much is held, or all that is left [s].
    halt : float
        It resumes after so long with what there is [s].
    now : float
        When the client asks for the clip [s].

    Attributes
    ----------
    held, position : float
        Up to where the clip is there, and is played [s]. What is lost on the way is skipped.
    plays, joined : bool
        Whether it plays now, and ever did.
    events : list of Event
    """

    duration: float
    preroll: float
    halt: float
    now: float = 0.0
    held: float = 0.0
    position: float = 0.0
    plays: bool = False
    joined: bool = False
    events: list[Event] = field(default_factory=list)

    @property
    def buffer(self) -> float:
        """Media that are held and not played [s]."""
        return self.held - self.position

    @property
    def ended(self) -> bool:
        """Whether all of the clip is played."""
        return self.position >= self.duration - EXACT

    def arrive(self, time: float, end: float) -> None:
        """Take media that arrive at a time, and end at `end` in the clip [s]."""
        self.advance(time)
        self.held = min(max(self.held, end), self.duration)
        if not self.plays and self.buffer > EXACT and self.buffer >= self._wanted - EXACT:
            self._start(self.now)

    def advance(self, time: float) -> None:
        """Let time go on to a time [s], with nothing new."""
        since = self.events[-1].time if self.events else self.now
        if not self.plays and self.joined and since + self.halt <= time and self.buffer > EXACT:
            self._start(max(self.now, since + self.halt))
        if self.plays:
            shown = min(time - self.now, self.buffer)
            self.position += shown
            if self.buffer <= EXACT and (shown < time - self.now or self.ended):
                self.plays = False
                self.events.append(Event("end" if self.ended else "halt", self.now + shown))
        self.now = time

    @property
    def _wanted(self) -> float:
        return min(self.preroll, self.duration - self.position)

    def _start(self, time: float) -> None:
        self.now, self.plays = time, True
        self.events.append(Event("resume" if self.joined else "start", time))
        self.joined = True
