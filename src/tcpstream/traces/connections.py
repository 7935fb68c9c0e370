"""The TCP connections of a capture, each in columns of few bytes per packet."""

from __future__ import annotations

import socket
from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .capture import NO_SCALE, SYN, Endpoint, Segment

Ints = NDArray[np.int64]

_COLUMNS = {
    **{"time": "q", "way": "b", "seq": "I", "ack": "I", "flags": "H"},
    **{"payload": "I", "header": "I", "window": "H", "tsval": "I", "tsecr": "I", "blocks": "B", "ident": "H"},
}
#: Bit of `flags` of a packet with timestamps; TCP's own flags are the lower ones.
STAMPED = 1 << 15


class Connection:
    """Everything that two endpoints sent each other.

    Attributes
    ----------
    ends : pair of (address, port)
        End 0 and end 1; a packet's `way` is the end that sent it.
    columns : dict of array
        One entry per packet: time [ns], way, sequence and acknowledgement number, flags, payload and header [bytes],
        window as in the header, timestamps, number of selectively acknowledged blocks, IP identification.
    edges : array of int
        Left and right edges of these blocks, one packet's after the other's.
    payload, data : list of int
        Payload bytes and packets with payload that each end sent.
    mss : list of int
        Maximum segment size that each end announced in its SYN [bytes]; 0 if that was not seen.
    scales : list of int
        Window scale that each end announced; -1 if it announced none.
    """

    def __init__(self, ends: tuple[Endpoint, Endpoint]) -> None:
        self.ends = ends
        self.initial: list[int | None] = [None, None]
        self.columns = {name: array(code) for name, code in _COLUMNS.items()}
        self.edges = array("I")
        self.payload = [0, 0]
        self.data = [0, 0]
        self.mss = [0, 0]
        self.scales = [NO_SCALE, NO_SCALE]

    def add(self, segment: Segment, way: int) -> None:
        """Append a packet that end `way` sent."""
        columns = self.columns
        columns["time"].append(segment.time_ns)
        columns["way"].append(way)
        columns["seq"].append(segment.seq)
        columns["ack"].append(segment.ack)
        columns["flags"].append(segment.flags & (STAMPED - 1) | STAMPED * (segment.tsval >= 0))
        columns["payload"].append(segment.payload)
        columns["header"].append(segment.size - segment.payload)
        columns["window"].append(segment.window)
        columns["tsval"].append(max(segment.tsval, 0))
        columns["tsecr"].append(max(segment.tsecr, 0))
        columns["blocks"].append(len(segment.sack))
        columns["ident"].append(segment.ident)
        for block in segment.sack:
            self.edges.extend(block)
        self.payload[way] += segment.payload
        self.data[way] += segment.payload > 0
        if segment.flags & SYN:
            self.scales[way] = segment.scale
        if segment.mss and segment.flags & SYN:
            self.mss[way] = segment.mss

    @property
    def sender(self) -> int:
        """The end that sent more payload."""
        return int(self.payload[1] > self.payload[0])

    @property
    def scale(self) -> int | None:
        """By how many bits the windows of the receiver are shifted; None if its handshake was not seen (RFC 7323)."""
        if None in self.initial:
            return None
        return self.scales[1 - self.sender] if NO_SCALE not in self.scales else 0

    @property
    def name(self) -> str:
        """Sender and receiver, "address:port > address:port"."""
        return f"{_text(self.ends[self.sender])} > {_text(self.ends[1 - self.sender])}"

    def column(self, name: str) -> NDArray[Any]:
        """Return a column as an array that shares its memory."""
        return np.frombuffer(self.columns[name], dtype=_COLUMNS[name])

    def take(self, name: str) -> NDArray[Any]:
        """Return a column as an array, and forget it."""
        return np.frombuffer(self.columns.pop(name), dtype=_COLUMNS[name])

    def blocks(self) -> NDArray[np.uint32]:
        """Return the edges of the selectively acknowledged blocks, one row each."""
        return np.frombuffer(self.edges or b"", dtype=np.uint32).reshape(-1, 2)

    def sort(self) -> float:
        """Put the packets in the order of their times; return the largest step back that there was [s]."""
        stamps = self.column("time")
        back = -float(min(np.diff(stamps).min(initial=0), 0)) / 1e9
        if back:
            order = np.argsort(stamps, kind="stable")
            rank = np.argsort(order)
            picked = np.argsort(np.repeat(rank, self.column("blocks")), kind="stable")
            self.edges = array("I", self.blocks()[picked].tobytes())
            for name, code in _COLUMNS.items():
                self.columns[name] = array(code, self.column(name)[order].tobytes())
        return back


def connections(segments: Iterable[Segment]) -> list[Connection]:
    """Return the connections that carry payload, the one with most payload in one direction first.

    Parameters
    ----------
    segments : iterable of Segment
        The TCP packets of a capture; consumed once. A port pair used again is a new connection.
    """
    current: dict[tuple[Endpoint, Endpoint], Connection] = {}
    found: list[Connection] = []
    for segment in segments:
        ends = (segment.source, segment.target)
        way = int(ends[0] > ends[1])
        key = ends[::-1] if way else ends
        connection = current.get(key)
        starts = segment.flags & SYN != 0
        if connection is None or (starts and connection.initial[way] not in (None, segment.seq)):
            connection = current[key] = Connection(key)
            found.append(connection)
        if starts:
            connection.initial[way] = segment.seq
        connection.add(segment, way)
    return sorted((c for c in found if max(c.payload)), key=lambda c: -max(c.payload))


def _text(end: Endpoint) -> str:
    family = socket.AF_INET6 if len(end[0]) == 16 else socket.AF_INET
    host = socket.inet_ntop(family, end[0])
    return f"[{host}]:{end[1]}" if len(end[0]) == 16 else f"{host}:{end[1]}"
