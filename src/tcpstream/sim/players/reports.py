"""Receivers' reports: what a client over UDP tells its server, again and again."""

from __future__ import annotations

from typing import NamedTuple

from ..application import Client
from ..hosts import ClientHost


class Report(NamedTuple):
    """What has come since the last report.

    Attributes
    ----------
    arrived : int
        Bytes.
    packets : int
    missing : tuple of int
        Numbers of packets that are missed since.
    """

    arrived: int
    packets: int
    missing: tuple[int, ...]

    @property
    def loss(self) -> float:
        """Share of the packets that is missing; 1 if nothing came."""
        all_ = self.packets + len(self.missing)
        return len(self.missing) / all_ if self.packets else 1.0


class Reporter(Client):
    """Reports every so many seconds, until a time at which the clip is over.

    Parameters
    ----------
    every, until : float
        [s] from the start of the flow.
    """

    def __init__(self, every: float, until: float) -> None:
        self._every, self._until = every, until

    def start(self, host: ClientHost) -> None:
        """Set the first timer."""
        self._until += host.now
        host.wake("report", self._every)

    def timer(self, host: ClientHost, name: str) -> None:
        """Report what has come."""
        del name
        new = host.arrived()
        host.tell(Report(int(new.size.sum()), len(new), tuple(host.overtaken)))
        if host.now < self._until:
            host.wake("report", self._every)
