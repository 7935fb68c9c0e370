"""Settings of Windows Streaming Media: sections are those of Nichols's thesis."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import InputError, positive, real, shown, whole
from ..clip import Clip

STEADY = Clip(60.0, (340e3,), (40e3,))
"""That of the first experiment (Section 4.1)."""


@dataclass(frozen=True)
class WsmSettings:
    """Settings of a player and its server: see `Wsm`.

    Parameters
    ----------
    clip : Clip
        Each level with its audio (Section 4.2: 128, 48 and 40 kbit/s of 1128, 548 and 340).
    setup : float
        From the first message to the choice [s] (Section 4.1: about 5).
    most_speed : int
        Media are buffered as many times faster than they are played as the estimate allows, a whole number, this at
        most (derived from Section 4.1: 2 to 4 below 548 kbit/s, 1 at 548 on a link of 725).
    buffer : float
        Media that a full buffer holds [s] (derived: 10 s at 500 to 600 kbit/s for 340, Section 4.1, but at 548 it is
        full before 15 s, Section 4.3).
    quick, slow : float
        Between bursts of packets [s]: while media come faster than they are played, and else (Section 4.1).
    spacing : float
        Between packets of a burst [s] (assumed; Section 4.1: within a few milliseconds of each other).
    packet : int
        Of media [bytes], headers included (assumed).
    report : float
        Between reports while packets are missing [s] (Section 4.2: sometimes more than ten a second).
    resends : int
        Of a packet of media at most (derived from Section 4.1: losses over 80% of 1128 over 725).
    clean : float
        The client settles on less if it loses packets all the while that it buffers: in all seconds but this share, at
        most, and what is lost is more than speed makes up for (Section 4.3: random loss of 3% does it sometimes at 548
        and 5% always; Section 4.1: heavy loss now and then does not, nor 40% at twice 340).
    settling : float
        From the full buffer to that [s] (assumed; Section 4.1: not directly after).
    patience : float
        So long after the first media the client settles on less if more than half of all packets are lost [s] (Section
        4.1: almost 40 for 548 over 250).
    """

    clip: Clip = STEADY
    setup: float = 5.0
    most_speed: int = 4
    buffer: float = 14.0
    quick: float = 0.3
    slow: float = 0.475
    spacing: float = 0.001
    packet: int = 1000
    report: float = 0.1
    resends: int = 3
    clean: float = 0.1
    settling: float = 2.0
    patience: float = 40.0

    def __post_init__(self) -> None:
        if not isinstance(self.clip, Clip):
            raise InputError(f"clip of a player must be a Clip, got {shown(self.clip)}")
        if not self.clip.audio[-1] > 0:
            raise InputError("the top level of a clip needs audio: it is what is left of a clip that is thinned")
        for name in ("setup", "buffer", "quick", "slow", "report", "patience"):
            positive(name, getattr(self, name), "s")
        for name in ("spacing", "settling"):
            if real(name, getattr(self, name), "s") < 0:
                raise InputError(f"{name} must be at least 0 s, got {getattr(self, name):g} s")
        if not 0 <= real("clean", self.clean) <= 1:
            raise InputError(f"clean must be 0 to 1, got {self.clean:g}")
        whole("packet", self.packet, 64, unit="bytes")
        whole("most_speed", self.most_speed)
        whole("resends", self.resends, 0)

    def rate(self, level: int) -> float:
        """Return what a level is sent with [bit/s]: its video, and the audio of the top level."""
        return self.clip.video[level] + self.clip.audio[-1]

    def speed(self, rate: float, estimate: float) -> int:
        """Return how many times faster than they are played media of a rate are buffered [both in bit/s]."""
        return max(1, min(self.most_speed, int(estimate / rate)))
