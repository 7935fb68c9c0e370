"""The flow that carries the most data in a capture, as arrays in one sequence-number space."""

from __future__ import annotations

import socket
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import CaptureError
from .capture import ACK, RST, SYN, Endpoint, Segment

#: Fewer data packets than this say nothing about a path.
FEWEST_PACKETS = 10
_ETHERNET_PAYLOAD = 1460
_JUMBO_PAYLOAD = 9000
_TIMESTAMP_OPTION = 12
_SMALLEST_MSS = 64
_COLUMNS = {"time": "q", "way": "b", "seq": "I", "ack": "I", "flags": "I", "payload": "q", "size": "q"}
_OPTIONS = {"tsval": "q", "tsecr": "q", "mss": "q"}

Ints = NDArray[np.int64]
Sack = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Flow:
    """A data flow and its acknowledgements, sorted by time.

    Attributes
    ----------
    name : str
        Sender and receiver, "address:port > address:port".
    time : array of float
        Seconds since the first packet of the capture's connection.
    is_data : array of bool
        Data packet (True) or packet of the other direction, whose acknowledgement counts (False).
    mark : array of int
        Sequence number of a data packet, acknowledgement number of another; counted on where 32 bits wrap.
    payload, tsval, tsecr : array of int
        Payload [bytes]; timestamps, -1 where the packet has none.
    sack : list of tuples
        Selectively acknowledged ranges in the space of `mark`.
    mss : int
        Largest payload of one packet on the wire [bytes].
    header : int
        IP and TCP headers of a data packet [bytes].
    handshake : pair of float, or None
        Delays [s] from here to the receiver and back, and to the sender and back, seen in the handshake.
    """

    name: str
    time: NDArray[np.float64]
    is_data: NDArray[np.bool_]
    mark: Ints
    payload: Ints
    tsval: Ints
    tsecr: Ints
    sack: list[Sack]
    mss: int
    header: int
    handshake: tuple[float, float] | None


class _Connection:
    """Everything that two endpoints sent each other, in columns."""

    def __init__(self, ends: tuple[Endpoint, Endpoint]) -> None:
        self.ends = ends
        self.initial: list[int | None] = [None, None]
        self.columns = {name: array(code) for name, code in (_COLUMNS | _OPTIONS).items()}
        self.sack: list[Sack] = []
        self.payload = [0, 0]

    def add(self, segment: Segment, way: int) -> None:
        """Append a packet that end `way` sent."""
        values = (segment.time_ns, way, *segment[3:10], segment.mss)
        order = ("time", "way", "seq", "ack", "flags", "payload", "size", "tsval", "tsecr", "mss")
        for name, value in zip(order, values):
            self.columns[name].append(value)
        self.sack.append(segment.sack)
        self.payload[way] += segment.payload


def find_flow(segments: Iterable[Segment], name: str, notes: list[str]) -> Flow:
    """Return the direction that carries most payload bytes.

    Parameters
    ----------
    segments : iterable of Segment
        The TCP packets of the capture; consumed once.
    name : str
        How messages name the capture.
    notes : list of str
        Receives a sentence if the clock of the capture stepped back.

    Raises
    ------
    CaptureError
        When no flow, or none of at least 10 data packets, is there.
    """
    best = _most_data(segments)
    if best is None or not max(best.payload):
        raise CaptureError(f"{name} holds no TCP packet with payload, only connection set-up and acknowledgements")
    sender = int(best.payload[1] > best.payload[0])
    table = {key: np.array(column, dtype=np.int64) for key, column in best.columns.items()}
    if np.min(np.diff(table["time"]), initial=0) < -1_000_000_000:
        notes.append("the capture's clock stepped back: packets were put in the order of their times")
    order = np.argsort(table["time"], kind="stable")
    table = {key: column[order] for key, column in table.items()}
    sack = [best.sack[i] for i in order]
    time = (table["time"] - table["time"][0]) / 1e9

    connecting = table["flags"] & (SYN | RST) != 0
    sent = table["way"] == sender
    is_data = sent & (table["payload"] > 0) & ~connecting
    if np.count_nonzero(is_data) < FEWEST_PACKETS:
        raise CaptureError(
            f"{name} holds {np.count_nonzero(is_data)} data packets in its largest TCP flow: "
            f"at least {FEWEST_PACKETS} are needed"
        )
    kept = is_data | (~sent & (table["flags"] & ACK != 0) & ~connecting)
    number = np.where(is_data, table["seq"], table["ack"])[kept]
    mark = number[0] + np.concatenate(([0], np.cumsum(_wrapped(np.diff(number)))))
    data_size = table["size"][is_data] - table["payload"][is_data]
    source, target = best.ends[sender], best.ends[1 - sender]
    return Flow(
        name=f"{_text(source)} > {_text(target)}",
        time=time[kept],
        is_data=is_data[kept],
        mark=mark,
        payload=table["payload"][kept],
        tsval=table["tsval"][kept],
        tsecr=table["tsecr"][kept],
        sack=[_unwrap(sack[i], m, n) for i, m, n in zip(np.flatnonzero(kept), mark.tolist(), number.tolist())],
        mss=_segment_size(table, is_data),
        header=int(np.median(data_size)),
        handshake=_handshake(time, table["flags"], sent),
    )


def _most_data(segments: Iterable[Segment]) -> _Connection | None:
    """Return the connection with most payload one way; a port pair used again is a new connection."""
    current: dict[tuple[Endpoint, Endpoint], _Connection] = {}
    largest: _Connection | None = None
    for segment in segments:
        ends = (segment.source, segment.target)
        way = int(ends[0] > ends[1])
        key = ends[::-1] if way else ends
        connection = current.get(key)
        starts = segment.flags & SYN != 0
        if connection is None or (starts and connection.initial[way] not in (None, segment.seq)):
            connection = current[key] = _Connection(key)
        if starts:
            connection.initial[way] = segment.seq
        connection.add(segment, way)
        if largest is None or connection.payload[way] > max(largest.payload):
            largest = connection
    return largest


def _wrapped(difference: Ints) -> Ints:
    """Return differences of 32-bit numbers as the nearest signed ones."""
    return (difference + (1 << 31)) % (1 << 32) - (1 << 31)


def _unwrap(sack: Sack, mark: int, number: int) -> Sack:
    def near(edge: int) -> int:
        return mark + (edge - number + (1 << 31)) % (1 << 32) - (1 << 31)

    return tuple((near(left), near(right)) for left, right in sack)


def _segment_size(table: dict[str, Ints], is_data: NDArray[np.bool_]) -> int:
    """Return the payload of a full packet on the wire; larger ones were split or merged by offloading.

    The handshake limits it (RFC 9293: the MSS option less the other options). Without one, the largest common
    payload that fits Ethernet, or a jumbo frame that is itself the most common.
    """
    payload = table["payload"][is_data]
    limit = int(np.min(table["mss"][table["mss"] > 0], initial=1 << 20))
    if limit < 1 << 20:
        if payload.max() <= limit:
            return max(int(payload.max()), _SMALLEST_MSS)
        return max(limit - _TIMESTAMP_OPTION * bool((table["tsval"][is_data] >= 0).any()), _SMALLEST_MSS)
    sizes, counts = np.unique(payload, return_counts=True)
    if sizes[-1] <= _ETHERNET_PAYLOAD or (sizes[-1] <= _JUMBO_PAYLOAD and counts[-1] == counts.max()):
        return int(sizes[-1])
    common = sizes[(sizes <= _ETHERNET_PAYLOAD) & (counts >= 0.01 * counts.sum())]
    return max(int(common[-1]) if len(common) else _ETHERNET_PAYLOAD - _TIMESTAMP_OPTION, _SMALLEST_MSS)


def _handshake(time: NDArray[np.float64], flags: Ints, sent: NDArray[np.bool_]) -> tuple[float, float] | None:
    """Return the delays to the receiver and back and to the sender and back, if each packet came once."""
    opening = np.flatnonzero(flags & (SYN | ACK) == SYN)
    accepting = np.flatnonzero(flags & (SYN | ACK) == SYN | ACK)
    if len(opening) != 1 or len(accepting) != 1 or accepting[0] < opening[0]:
        return None
    client = sent == sent[opening[0]]
    closing = np.flatnonzero(client & (flags & (SYN | ACK) == ACK))
    if sent[accepting[0]] == sent[opening[0]] or not len(closing) or closing[0] < accepting[0]:
        return None
    first = float(time[accepting[0]] - time[opening[0]])
    second = float(time[closing[0]] - time[accepting[0]])
    return (first, second) if sent[opening[0]] else (second, first)


def _text(end: Endpoint) -> str:
    family = socket.AF_INET6 if len(end[0]) == 16 else socket.AF_INET
    host = socket.inet_ntop(family, end[0])
    return f"[{host}]:{end[1]}" if len(end[0]) == 16 else f"{host}:{end[1]}"
