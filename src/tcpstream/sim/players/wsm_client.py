"""The client of Windows Streaming Media: it probes, chooses, buffers, and settles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..application import Client
from ..hosts import ClientHost
from ..traffic import Arrivals
from .wsm_messages import Missing, Play, Probe
from .wsm_server import MICRO

if TYPE_CHECKING:
    from .wsm import Wsm

RETRY = 1.0
"""After a probe that told nothing, the next is given so long [s]."""

SEVERE = 0.5
"""Loss after which a client that has waited long settles on less (assumed)."""


def estimate(probes: Arrivals) -> float:
    """Return the larger rate at which a packet of a probe follows another [bit/s]; 0 if less than two arrived."""
    bits = 8.0 * probes.size[1:] * np.diff(probes.number)
    return float((bits / np.diff(probes.time)).max(initial=0.0))


class WsmClient(Client):
    """Is in one of three phases: probes, buffers, and plays what its buffer holds."""

    def __init__(self, player: Wsm) -> None:
        self.player = player
        self.held = 0.0
        self.arrived, self.next = 0, 0
        self.buffering = True

    @property
    def loss(self) -> float:
        """Share of all packets until now that are missing."""
        return 1 - self.arrived / self.next if self.next else 0.0

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
        self.next = int(probes.number[-1]) + 1
        self.arrived = self.next
        self.level = self.player.clip.level(capacity)
        self.rate = self.player.rate(self.level)
        self.speed = self.player.speed(self.rate, capacity)
        host.note("estimate", capacity)
        host.note("level", self.level)
        host.note("plays")
        self.order(host)
        host.wake("look", self.player.report)
        host.wake("lose_patience", self.player.patience)

    def look(self, host: ClientHost) -> None:
        """Look at what has come, and report what has not."""
        new = host.arrived()
        if len(new):
            end = int(new.number[-1]) + 1
            missing = np.setdiff1d(np.arange(self.next, end), new.number)
            self.arrived += len(new)
            self.next = end
            self.held += new.tag.sum() / MICRO
            if len(missing):
                host.tell(Missing(tuple(missing.tolist())))
        if self.buffering and self.held >= min(self.player.buffer, self.player.clip.duration) - 1e-3:
            self.fill(host)
        host.wake("look", self.player.report)

    def fill(self, host: ClientHost) -> None:
        """Play a full buffer, and have media at their rate."""
        host.note("full")
        self.buffering = False
        if self.speed * (1 - self.loss) < 1 - self.player.tolerated:
            host.wake("settle", self.player.settling)
        self.speed = 1
        self.order(host)

    def lose_patience(self, host: ClientHost) -> None:
        """Settle on less if most packets were lost for long."""
        if self.loss > SEVERE:
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
