"""What is asked of every session, and a session as far as answers depend on it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ..answers.from_throughput import Path
from ..errors import unremarked
from ..video import Video


@dataclass(frozen=True)
class Question:
    """What is the same for all sessions.

    Attributes
    ----------
    start : float
        Startup delay of the player [s].
    target : float
        Late fraction whose startup delay is wanted.
    sender : dict
        What `Path` takes beside loss, round trip time and timer.
    packet_size : float
        [bytes].
    accuracy : str or None
        As `stored` takes it; None for exact where that is quick, else fast.
    time_limit : float
        Of one solve [s].
    """

    start: float = 2.0
    target: float = 1e-4
    sender: dict[str, Any] = field(default_factory=dict)
    packet_size: float = 1500
    accuracy: str | None = None
    time_limit: float = 120.0

    def to_dict(self) -> dict[str, Any]:
        """Return what answers depend on, ready for JSON; the time that a solve may take is not part of it."""
        told = asdict(self)
        del told["time_limit"]
        return told


@dataclass(frozen=True)
class Case:
    """What answers of a session depend on.

    Attributes
    ----------
    given : {"loss", "throughput"}
        Whether `carries` is a loss rate, or a throughput T [packets/s] that stands for it.
    carries, rtt, rto, rate, duration : float
        Loss rate or T; R and R_TO [s], None for Linux's timer; playback rate [packets/s] and length [s].
    """

    given: str
    carries: float
    rtt: float
    rto: float | None
    rate: float
    duration: float

    def path(self, question: Question) -> Path:
        """Return the path, or raise `InputError`."""
        chosen = dict(question.sender)
        if self.rto is not None:
            chosen["rto"] = self.rto
        with unremarked():
            if self.given == "loss":
                return Path(loss=self.carries, rtt=self.rtt, **chosen)
            return Path.from_throughput(self.carries, rtt=self.rtt, **chosen)

    def video(self, question: Question) -> Video:
        """Return the video, or raise `InputError`."""
        with unremarked():
            return Video(packet_rate=self.rate, packet_size=question.packet_size, duration=self.duration)
