"""What is played: paths, videos and players."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

MSS = 1448
"""Payload of a packet of 1500 bytes, with timestamps."""

HEADER = 240
"""Of an answer of nginx, about [bytes]."""


@dataclass(frozen=True)
class Case:
    """A path, a video of constant rate, and a player.

    Attributes
    ----------
    p : float
        Loss probability of each data packet.
    rtt : float
        Round trip propagation delay [s].
    packet_rate : float
        Of the video [packets/s].
    seconds : float
        Length of the video [s].
    wait : float
        mpv's ``cache-pause-wait``: it starts, and resumes, with so much media in its cache [s]; 0 for segments.
    segment, held : float
        Of a player of segments: media in one, and media held at most [s].
    tcp : {"reno", "cubic"}
        Congestion control of the server.
    """

    p: float
    rtt: float
    packet_rate: float
    seconds: float
    wait: float = 0.0
    segment: float = 0.0
    held: float = 0.0
    tcp: str = "reno"

    @property
    def kind(self) -> str:
        """Who plays: "mpv" or "segments"."""
        return "segments" if self.segment else "mpv"

    @property
    def name(self) -> str:
        """What tells a case from others."""
        return " ".join(f"{value}" for value in asdict(self).values())

    @property
    def path(self) -> dict[str, Any]:
        """What another connection over the same path shares."""
        return {"p": self.p, "rtt": self.rtt, "tcp": self.tcp}

    @property
    def bytes(self) -> int:
        """Bytes of a file: the video as 16 bit samples of one channel, or whole packets of a segment."""
        if self.segment:
            return round(self.packet_rate * self.segment) * MSS - HEADER
        return 2 * self.samples_per_second * round(self.seconds)

    @property
    def samples_per_second(self) -> int:
        """Of the video, one channel of 16 bits: its bit rate is constant."""
        return round(self.packet_rate * MSS / 2)

    @property
    def rate(self) -> float:
        """Packet rate, to the sample [packets/s]."""
        return self.packet_rate if self.segment else 2 * self.samples_per_second / MSS

    def to_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return asdict(self)


CASES = (
    Case(0.04, 0.1, 55.0, 50.0, wait=2.0),
    Case(0.02, 0.1, 80.0, 50.0, wait=1.0),
    Case(0.01, 0.16, 75.0, 50.0, wait=1.0),
    Case(0.04, 0.06, 95.0, 50.0, wait=1.0),
    Case(0.02, 0.1, 86.0, 50.0, wait=2.0),
    Case(0.02, 0.1, 90.0, 50.0, wait=2.0),
    Case(0.04, 0.1, 60.0, 50.0, wait=1.0),
    Case(0.04, 0.1, 63.0, 50.0, wait=1.0),
    Case(0.02, 0.1, 70.0, 50.0, wait=2.0, tcp="cubic"),
    Case(0.02, 0.1, 60.75, 88.0, segment=4.0, held=8.0),
    Case(0.04, 0.06, 68.5, 60.0, segment=2.0, held=4.0),
    Case(0.01, 0.16, 55.0, 88.0, segment=4.0, held=8.0),
)
"""P(any stall) of the first eight is 0.1 to 0.9; over CUBIC only the start is predicted."""
