"""What became of the packets of each flow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Count(NamedTuple):
    """Packets, and their bytes; headers are counted.

    Attributes
    ----------
    sent, received, dropped : int
        Packets: dropped by queues and loss processes; what is neither received nor dropped was under way at the end.
    sent_bytes, received_bytes, dropped_bytes : int
    """

    sent: int
    received: int
    dropped: int
    sent_bytes: int
    received_bytes: int
    dropped_bytes: int

    @property
    def under_way(self) -> int:
        """Packets that were under way at the end."""
        return self.sent - self.received - self.dropped

    @property
    def loss(self) -> float:
        """Dropped over sent packets; NaN if none was sent."""
        return self.dropped / self.sent if self.sent else math.nan


@dataclass(frozen=True)
class Arrivals:
    """What arrived.

    Attributes
    ----------
    time : (n,) array
        Since the run began [s]; nondecreasing.
    number : (n,) array
        Of each packet, from 0 on in the order in which they were sent.
    size : (n,) array
        [bytes].
    tag : (n,) array
        What the server wrote on it.
    """

    time: NDArray[np.float64]
    number: Ints
    size: Ints
    tag: Ints

    def __len__(self) -> int:
        return len(self.time)


class Datagram(NamedTuple):
    """A datagram that arrives.

    Attributes
    ----------
    number : int
        From 0 on in the order in which they were sent.
    size : int
        [bytes].
    tag : int
    header : object
        What the server wrote on it.
    """

    number: int
    size: int
    tag: int
    header: Any


@dataclass(frozen=True)
class Bins:
    """Bytes that the sender sent, in time bins, which begin with the run.

    Attributes
    ----------
    width : float
        Of a bin [s]; the last one may be cut off by the end of the run.
    sent, received, dropped : (n,) arrays
        [bytes].
    """

    width: float
    sent: Ints
    received: Ints
    dropped: Ints


class Note(NamedTuple):
    """What an application wrote down.

    Attributes
    ----------
    time : float
        Since the run began [s].
    end : {"server", "client"}
    name : str
    value : float
    """

    time: float
    end: str
    name: str
    value: float


@dataclass(frozen=True)
class Traffic:
    """What became of the packets of one flow.

    Attributes
    ----------
    there : Count
        What the sender sent, and sent again: data, and messages of an application's server.
    back : Count
        Messages of an application's client; acknowledgements are not counted.
    bins : Bins, optional
        If the scenario has time bins.
    arrivals : Arrivals, optional
        Of a measured flow of datagrams.
    notes : tuple of Note
        Of an application.
    """

    there: Count
    back: Count
    bins: Bins | None = None
    arrivals: Arrivals | None = None
    notes: tuple[Note, ...] = ()

    def noted(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return times [s] and values of the notes with a name."""
        found = [(note.time, note.value) for note in self.notes if note.name == name]
        times, values = np.array(found, dtype=np.float64).reshape(-1, 2).T
        return times, values
