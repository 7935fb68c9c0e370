"""The cache of LC-RTP: stores what comes, and asks for what does not."""

from __future__ import annotations

from typing import Any

from ..application import Client
from ..hosts import ClientHost
from ..tfrc.tfrc_receiver import TfrcReceiver
from ..traffic import Datagram
from .copy_of_video import Copy
from .messages import Bye, requests

FAREWELLS = 3
"""So often the cache says BYE: nobody tells it whether one arrived, and a server that hears none stays idle."""


class CollectingClient(Client):
    """After the stream, sends lists of what is missing until nothing is, tries are used up, or BYE answers one.

    A list follows the one before when the last segment that it brings comes, or when nothing has come for some time.

    Parameters
    ----------
    receiver : TfrcReceiver
    copy : Copy
    mode : {0, 1}
    tries : int
        Lists at most.
    patience : float
        How long nothing comes before the next list [s].
    """

    def __init__(self, receiver: TfrcReceiver, copy: Copy, mode: int, tries: int, patience: float) -> None:
        self._receiver, self._copy = receiver, copy
        self._mode, self._tries, self._patience = mode, tries, patience
        self._lists, self._collects, self._done = 0, False, False

    def start(self, host: ClientHost) -> None:
        """Wait for the stream."""
        host.wake("patience", self._patience)

    def data(self, host: ClientHost, datagram: Datagram) -> None:
        """Store a segment."""
        if self._done:
            return
        self._receiver.data(host, datagram)
        found = datagram.header.payload
        self._copy.write(datagram.tag, found.data)
        host.wake("patience", self._patience)
        if self._collects and found.last == self._lists:
            self._ask(host)

    def message(self, host: ClientHost, message: Any) -> None:
        """Begin to collect at the end of the stream; end when the server has nothing more."""
        if self._done or not isinstance(message, Bye):
            return
        if message.answers:
            self._end(host, bye=True)
        elif not self._collects:
            self._ask(host)

    def timer(self, host: ClientHost, name: str) -> None:
        """Ask again, or let the receiver report."""
        if self._done:
            return
        if name == "patience":
            self._ask(host)
        else:
            self._receiver.timer(host, name)

    def _ask(self, host: ClientHost) -> None:
        missing = self._copy.missing
        self._collects = True
        if not missing or self._lists == self._tries:
            self._end(host)
            return
        self._lists += 1
        host.note("missing", len(missing))
        for request in requests(self._lists, self._mode, missing):
            host.tell(request, request.size)
        host.wake("patience", self._patience)

    def _end(self, host: ClientHost, *, bye: bool = False) -> None:
        self._done = True
        for _ in range(FAREWELLS):
            host.tell(Bye())
        host.note("lists", self._lists)
        host.note("lacking", len(self._copy.missing))
        host.note("same", float(self._copy.same))
        host.note("bye", float(bye))
