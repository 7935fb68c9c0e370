"""A layered video for a cache that repairs its copy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import choice, positive, whole
from ..application import Client, Server
from ..layers import Layered
from ..tfrc.tfrc_receiver import TfrcReceiver
from ..traffic import Traffic
from .collecting_client import CollectingClient
from .collecting_server import CollectingFeed, CollectingServer
from .copy_of_video import Copy
from .messages import ALL, LOSSES


@dataclass(frozen=True)
class LcRtp(Layered):
    """A stream under TFRC to a cache, which then asks for what is missing until its copy is whole.

    Notes of a run are, besides those of `Tfrc`, ``missing`` with each list, how many segments it names, ``sent`` at the
    end of the stream, how many segments it brought onto the network, and at the end of all: ``lists``, ``lacking``,
    segments that are not there, ``same``, whether the others are the server's bit for bit, and ``bye``, whether the
    server ended it.

    Parameters
    ----------
    mode : {0, 1}
        The server sends again what it had sent, or all that is missing.
    tries : int
        Lists at most.
    patience : float
        The next list is sent when nothing has come for so long [s].

    Notes
    -----
    M. Zink, C. Griwodz, J. Schmitt and R. Steinmetz, "Scalable TCP-friendly video distribution for heterogeneous
    clients", SPIE Multimedia Computing and Networking 2003, Section 4.1.3. Of messages that are lost it says nothing:
    `patience` is ours, as is that BYE carries the number of the list that it answers.
    """

    mode: int = ALL
    tries: int = 60
    patience: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("mode", self.mode, (LOSSES, ALL))
        object.__setattr__(self, "tries", whole("tries", self.tries))
        positive("patience", self.patience, "s")

    def server(self) -> Server:
        """Return the server of a run."""
        feed = CollectingFeed(self.video, self.room)
        return CollectingServer(feed, self.sender(feed))

    def client(self) -> Client:
        """Return the cache of a run."""
        receiver = TfrcReceiver(self.size, discounting=self.discounting)
        return CollectingClient(receiver, Copy(self.video), self.mode, self.tries, self.patience)

    def figures(self, traffic: Traffic, duration: float) -> dict[str, float]:
        """Return those of `Layered`, and ``lists`` and ``lacking``; NaN for a run that ends before."""
        found = super().figures(traffic, duration)
        for name in ("lists", "lacking"):
            values = traffic.noted(name)[1]
            found[name] = float(values[0]) if len(values) else math.nan
        return found
