"""What a server and a client of an application can do: each its own, since all they share is the network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, real, shown, whole
from .desk import Desk, Stream
from .engine import records
from .traffic import Arrivals, Datagram, Note

HEADERS, LARGEST = 28, 65_535
"""Bytes of a datagram: those of its IP and UDP headers at least."""

MESSAGE = 64
"""Bytes of a message of which nothing is said."""


class Host:
    """What both ends of an application can do.

    Attributes
    ----------
    rng : numpy.random.Generator
        Of this end: what it draws changes nothing else.
    """

    _end, _way = "", 0

    def __init__(self, desk: Desk, number: int, stream: Stream, rng: np.random.Generator) -> None:
        self.rng = rng
        self._desk, self._number, self._stream = desk, number, stream
        self._timers: dict[str, int] = {}
        self._logged = 0

    @property
    def now(self) -> float:
        """Time since the run began [s]."""
        return self._desk.now

    def wake(self, name: str, after: float) -> None:
        """Call `timer` with this name after a time [s]; a timer of the same name is forgotten."""
        at = self.now + _pause(after)

        def expire() -> None:
            if self._timers.get(name) == number:
                del self._timers[name]
                self._timed(name)

        self._timers[name] = number = self._desk.later(expire)
        self._desk.order(records.WAKE, self._number, at, number)

    def cancel(self, name: str) -> None:
        """Forget a timer, if there is one."""
        self._timers.pop(name, None)

    def tell(self, message: Any, size: int = MESSAGE) -> None:
        """Send a message, a packet that may wait in queues and be lost; the other end is called when it arrives.

        Parameters
        ----------
        message : object
            What the other end gets: as it is, so it must not be changed later.
        size : int
            Of the packet [bytes], headers included: 28 to 65535.
        """
        number = self._desk.later(lambda: self._other._told(message))
        self._desk.order(records.PACKET_OUT, self._number, self.now, number, self._way, _bytes(size))

    def note(self, name: str, value: float = 1.0) -> None:
        """Write down that something happens now: `Traffic.notes` has it."""
        self._desk.notes[self._number].append(Note(self.now, self._end, str(name), real("value of a note", value)))

    def meet(self, other: Host, timed: Callable[[str], None], told: Callable[[Any], None]) -> None:
        """Get to know the other end, and whom timers and messages are for."""
        self._other, self._timed, self._told = other, timed, told

    def _row(self) -> Any:
        return self._desk.world.flows[self._number]


class ServerHost(Host):
    """What the server of an application can do: send datagrams, or write to TCP."""

    _end, _way = "server", records.TOLD

    def send(self, size: int, tag: int = 0, after: float = 0.0, header: Any = None) -> int:
        """Send a datagram, and return its number; the client's `arrived` has it if it gets there.

        Parameters
        ----------
        size : int
            [bytes], headers included: 28 to 65535.
        tag : int
            What the client can read in it: a level, a frame.
        after : float
            From now on [s]: so that a timer can send many, one after the other.
        header : object
            What a client reads in it that is called for data, `Client.data`; it must not be changed later.

        Raises
        ------
        InputError
            For a flow over TCP, and values out of range.
        """
        if self._stream.send_buffer is not None:
            raise InputError("datagrams are sent by a flow without TCP: write to this one")
        stream, number = self._stream, len(self._stream.sizes)
        stream.sizes.append(_bytes(size))
        stream.tags.append(_tag(tag))
        if header is not None:
            stream.headers[number] = header
        at = self.now + _pause(after)
        self._desk.order(records.PACKET_OUT, self._number, at, number, records.DATA, stream.sizes[-1])
        return number

    @property
    def room(self) -> int:
        """Packets for which there is room in the socket buffer."""
        if self._stream.send_buffer is None:
            raise InputError("a flow of datagrams has no socket buffer: send them")
        return max(0, self._stream.send_buffer - len(self._stream.tags) + int(self._row()["una"]))

    def write(self, packets: int, tag: int = 0) -> int:
        """Write packets of TCP into the socket buffer, and return how many there was room for.

        Parameters
        ----------
        packets : int
            Of `Tcp.packet_size`.
        tag : int
            What the client can read in them.
        """
        taken = min(whole("packets", packets, 0), self.room)
        if taken:
            self._stream.tags += [_tag(tag)] * taken
            self._desk.order(records.WRITE, self._number, self.now, taken)
        return taken


class ClientHost(Host):
    """What the client of an application can do: look at what arrived."""

    _end, _way = "client", records.REPORT

    def __init__(self, desk: Desk, number: int, stream: Stream, rng: np.random.Generator) -> None:
        super().__init__(desk, number, stream, rng)
        self._next = 0
        self._missing: set[int] = set()
        self._overtaken: list[int] = []
        self._listeners: list[Callable[[Datagram], None]] = []

    def listen(self, told: Callable[[Datagram], None]) -> None:
        """Call `told` for each datagram when it arrives, after those that listened before."""
        self._listeners.append(told)
        self._desk.listen(self._number, self._arrive)

    def _arrive(self, number: int) -> None:
        stream = self._stream
        datagram = Datagram(number, stream.sizes[number], stream.tags[number], stream.headers.pop(number, None))
        for told in self._listeners:
            told(datagram)

    def arrived(self) -> Arrivals:
        """Return what arrived since the last look: datagrams as they come, packets of TCP as they are in order."""
        row, world, begin = self._row(), self._desk.world, self._logged
        if self._stream.send_buffer is not None:
            self._logged = int(row["expected"])
            time = world.log[row["log"], begin : self._logged].copy()
            return told(time, np.arange(begin, self._logged), self._stream)
        self._logged = int(row["logged"])
        log = world.arrivals[row["log"], begin : self._logged]
        found = told(log["time"].copy(), log["number"].copy(), self._stream)
        passed: list[int] = []
        for number in found.number.tolist():
            self._missing.discard(number)
            passed += range(self._next, number)
            self._missing.update(range(self._next, number))
            self._next = max(self._next, number + 1)
        self._overtaken = [number for number in passed if number in self._missing]
        return found

    @property
    def missing(self) -> list[int]:
        """Numbers of datagrams that had not arrived at the last look, though one with a larger number had."""
        return sorted(self._missing)

    @property
    def overtaken(self) -> list[int]:
        """Those of `missing` that had not been missing at the look before."""
        return self._overtaken


def told(time: NDArray[np.float64], number: NDArray[np.int64], stream: Stream) -> Arrivals:
    """Return arrivals with the sizes and tags of their numbers."""
    numbers = number.tolist()
    sizes = [stream.sizes[one] for one in numbers] if stream.sizes else [stream.packet_size] * len(numbers)
    tags = [stream.tags[one] for one in numbers] if stream.tags else [0] * len(numbers)
    return Arrivals(time, number, np.array(sizes, dtype=np.int64), np.array(tags, dtype=np.int64))


def _bytes(size: int) -> int:
    found = whole("size of a packet", size, HEADERS, unit="bytes")
    if found > LARGEST:
        raise InputError(f"size of a packet must be at most {LARGEST} bytes, got {found} bytes")
    return found


def _pause(after: float) -> float:
    found = real("after", after, "s")
    if found < 0:
        raise InputError(f"after must be at least 0 s, got {found:g} s")
    return found


def _tag(tag: int) -> int:
    if not isinstance(tag, int | np.integer):
        raise InputError(f"a tag must be a whole number, got {shown(tag)}")
    return int(tag)
