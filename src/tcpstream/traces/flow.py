"""One flow of a capture: data one way, acknowledgements the other, as arrays in one sequence-number space."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import CaptureError
from .capture import ACK, RST, SYN
from .connections import Connection, Ints

#: Fewer data packets than this say nothing about a path.
FEWEST_PACKETS = 10
_ETHERNET_PAYLOAD = 1460
_JUMBO_PAYLOAD = 9000
_TIMESTAMP_OPTION = 12
_SMALLEST_MSS = 64


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
    first_block : array of int
        Packet i acknowledges selectively the blocks from ``first_block[i]`` to before ``first_block[i + 1]``.
    blocks : (n, 2) array of int
        Their left and right edges, in the space of `mark`.
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
    first_block: Ints
    blocks: Ints
    mss: int
    header: int
    handshake: tuple[float, float] | None

    def part(self, start: int, stop: int) -> Flow:
        """Return the packets from number `start` to before `stop`, as if only they had been captured."""
        columns = ("time", "is_data", "mark", "payload", "tsval", "tsecr")
        first = self.first_block[start : stop + 1]
        return replace(
            self,
            **{name: getattr(self, name)[start:stop] for name in columns},
            first_block=first - first[0],
            blocks=self.blocks[first[0] : first[-1]],
        )


def read_flow(connection: Connection, name: str, notes: list[str]) -> Flow:
    """Return the direction of a connection that carries most payload bytes.

    Parameters
    ----------
    connection : Connection
        One that carries payload.
    name : str
        How messages name the flow.
    notes : list of str
        Receives a sentence if the clock of the capture stepped back.

    Raises
    ------
    CaptureError
        When it has fewer than 10 data packets.
    """
    stamps = connection.column("time").astype(np.int64, copy=False)
    order = np.arange(len(stamps))
    steps = np.diff(stamps)
    if np.min(steps, initial=0) < 0:
        order = np.argsort(stamps, kind="stable")
        if steps.min() < -1_000_000_000:
            notes.append("the capture's clock stepped back: packets were put in the order of their times")
    time = (stamps[order] - stamps[order[0]]) / 1e9
    flags = connection.column("flags")[order]
    connecting = flags & (SYN | RST) != 0
    sent = connection.column("way")[order] == connection.sender
    is_data = sent & (connection.column("payload")[order] > 0) & ~connecting
    require_data(is_data, name)
    kept = np.flatnonzero(is_data | (~sent & (flags & ACK != 0) & ~connecting))
    rows, is_data = order[kept], is_data[kept]
    number = np.where(is_data, connection.column("seq")[rows], connection.column("ack")[rows]).astype(np.int64)
    mark = number[0] + np.concatenate(([0], np.cumsum(_wrapped(np.diff(number)))))
    payload = connection.column("payload")[rows]
    tsval = connection.column("tsval")[rows]
    first_block, blocks = _blocks(connection, rows, mark, number)
    return Flow(
        name=connection.name,
        time=time[kept],
        is_data=is_data,
        mark=mark,
        payload=payload.astype(np.int64),
        tsval=tsval,
        tsecr=connection.column("tsecr")[rows],
        first_block=first_block,
        blocks=blocks,
        mss=_segment_size(connection.mss, payload[is_data], bool((tsval[is_data] >= 0).any())),
        header=int(np.median(connection.column("header")[rows][is_data])),
        handshake=_handshake(time, flags, sent),
    )


def require_data(is_data: NDArray[np.bool_], name: str) -> None:
    """Raise `CaptureError` if there are fewer than 10 data packets."""
    if (count := np.count_nonzero(is_data)) < FEWEST_PACKETS:
        raise CaptureError(f"{name} holds {count} data packets: at least {FEWEST_PACKETS} are needed")


def _blocks(connection: Connection, rows: Ints, mark: Ints, number: Ints) -> tuple[Ints, Ints]:
    """Return the selectively acknowledged blocks of some packets in the space of their marks."""
    counts = connection.column("blocks").astype(np.int64)
    edges = np.frombuffer(connection.edges, dtype=np.uint32).reshape(-1, 2) if len(connection.edges) else None
    first = np.concatenate(([0], np.cumsum(counts[rows])))
    if edges is None:
        return first, np.empty((0, 2), dtype=np.int64)
    start = np.cumsum(counts) - counts
    picked = np.repeat(start[rows] - first[:-1], counts[rows]) + np.arange(first[-1])
    owner = np.repeat(np.arange(len(rows)), counts[rows])
    near = _wrapped(edges[picked].astype(np.int64) - number[owner, None])
    return first, mark[owner, None] + near


def _wrapped(difference: Ints) -> Ints:
    """Return differences of 32-bit numbers as the nearest signed ones."""
    return (difference + (1 << 31)) % (1 << 32) - (1 << 31)


def _segment_size(limit: int, payload: Ints, timestamps: bool) -> int:
    """Return the payload of a full packet on the wire; larger ones were split or merged by offloading.

    The handshake limits it (RFC 9293: the MSS option less the other options). Without one, the largest common
    payload that fits Ethernet, or a jumbo frame that is itself the most common.
    """
    sizes, counts = np.unique(payload, return_counts=True)
    largest = int(sizes[-1])
    if limit:
        if largest > limit:
            largest = limit - _TIMESTAMP_OPTION * timestamps
        return max(largest, _SMALLEST_MSS)
    if largest <= _ETHERNET_PAYLOAD or (largest <= _JUMBO_PAYLOAD and counts[-1] == counts.max()):
        return largest
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
