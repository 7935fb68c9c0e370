"""The client of Windows Streaming Media: it probes, chooses, buffers, and settles."""

from __future__ import annotations

import numpy as np

from ..application import Client
from ..hosts import ClientHost
from ..traffic import Arrivals
from .wsm_messages import Missing, Play, Probe
from .wsm_server import MICRO
from .wsm_settings import WsmSettings

RETRY = 1.0
"""After a probe that told nothing, the next is given so long [s]."""

SECOND = 1.0

SEVERE = 0.5
"""Loss after which a client that has waited long settles on less (assumed)."""


def estimate(probes: Arrivals) -> float:
    """Return the larger rate at which a packet of a probe follows another [bit/s]; 0 if less than two arrived."""
    return float((8.0 * probes.size[1:] / np.diff(probes.time)).max(initial=0.0))


class Reception:
    """Counts packets of media that arrived, and those that did not.

    Parameters
    ----------
    first : int
        Number of the first one: what comes before are probes.
    """

    def __init__(self, first: int) -> None:
        self._first = first
        self.arrived = self.missing = 0

    def look(self, host: ClientHost) -> tuple[Arrivals, list[int]]:
        """Return what arrived since the last look, and the numbers of packets that were passed over."""
        new = host.arrived()
        passed = [number for number in host.overtaken if number >= self._first]
        self.arrived += len(new)
        self.missing += len(passed)
        return new, passed

    @property
    def loss(self) -> float:
        """Share of all packets until now that are missing."""
        return self.missing / max(self.missing + self.arrived, 1)


class WsmClient(Client):
    """Probes, buffers, and plays what its buffer holds."""

    def __init__(self, player: WsmSettings) -> None:
        self.player = player
        self.held = 0.0
        self.lossy: list[bool] = []
        self.counted = (0, 0)
        self.buffering = True

    def start(self, host: ClientHost) -> None:
        """Have the server probe the network."""
        host.tell(Probe())
        host.wake("choose", self.player.setup)

    def timer(self, host: ClientHost, name: str) -> None:
        """Act when a timer expires."""
        getattr(self, name)(host)

    def choose(self, host: ClientHost) -> None:
        """Choose a level by what arrived of a probe, and play."""
        probes = host.arrived()
        capacity = estimate(probes)
        if not capacity:
            host.tell(Probe())
            host.wake("choose", RETRY)
            return
        self.seen = Reception(int(probes.number[-1]) + 1)
        self.level = self.player.clip.level(capacity)
        self.rate = self.player.rate(self.level)
        self.speed = self.player.speed(self.rate, capacity)
        host.note("estimate", capacity)
        host.note("level", self.level)
        host.note("plays")
        self.order(host)
        host.wake("look", self.player.report)
        host.wake("count", SECOND)
        host.wake("lose_patience", self.player.patience)

    def look(self, host: ClientHost) -> None:
        """Look at what has come, and report what has not."""
        new, missing = self.seen.look(host)
        if missing:
            host.tell(Missing(tuple(missing)))
        self.held += new.tag.sum() / MICRO
        if self.buffering and self.held >= min(self.player.buffer, self.player.clip.duration) - 1e-3:
            self.fill(host)
        host.wake("look", self.player.report)

    def count(self, host: ClientHost) -> None:
        """Note whether packets were lost in a second in which some came, while media are buffered."""
        if self.buffering:
            missing, arrived = self.seen.missing, self.seen.arrived
            if arrived > self.counted[1]:
                self.lossy.append(missing > self.counted[0])
            self.counted = missing, arrived
            host.wake("count", SECOND)

    def fill(self, host: ClientHost) -> None:
        """Play a full buffer, and have media at their rate."""
        host.note("full")
        self.buffering = False
        always = self.lossy.count(False) <= self.player.clean * len(self.lossy)
        if always and self.speed * (1 - self.seen.loss) < 1:
            host.wake("settle", self.player.settling)
        self.speed = 1
        self.order(host)

    def lose_patience(self, host: ClientHost) -> None:
        """Settle on less if most packets were lost for long."""
        if self.seen.loss > SEVERE:
            self.settle(host)

    def settle(self, host: ClientHost) -> None:
        """Take the next lower level; audio alone if there is none."""
        host.note("less")
        if self.level:
            self.level -= 1
            host.note("level", self.level)
            self.rate = self.player.rate(self.level)
        else:
            self.rate = self.player.clip.audio[-1]
        self.order(host)

    def order(self, host: ClientHost) -> None:
        """Tell the server how to send."""
        pause = self.player.quick if self.speed > 1 else self.player.slow
        host.tell(Play(self.rate, self.speed, pause))
