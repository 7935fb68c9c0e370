"""One flow of a capture: data one way, acknowledgements the other, as arrays in one sequence-number space."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import CaptureError
from .capture import ACK, RST, SYN
from .connections import STAMPED, Connection, Ints
from .segment_size import segment_size
from .twins import twins

#: Fewer data packets than this say nothing about a path.
FEWEST_PACKETS = 10
#: A clock that steps back by more than this [s] is worth a note; packets of two queues may overtake each other.
_STEP = 1.0


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
    payload : array of int
        Payload [bytes].
    window : array of int
        Window that the packet announces [bytes], still to be multiplied by 2 to the power of `scale`.
    scale : int or None
        None if the handshake was not seen.
    stamped : array of bool
        Whether the packet has timestamps.
    tsval, tsecr : array of int
        Its timestamps.
    first_block : array of int
        Packet i acknowledges selectively the blocks from ``first_block[i]`` to before ``first_block[i + 1]``.
    blocks : (n, 2) array of int
        Their left and right edges, relative to the packet's `mark`.
    mss : int
        Largest payload of one packet on the wire [bytes].
    header : int
        IP and TCP headers of a data packet [bytes].
    handshake : pair of float, or None
        Delays [s] from here to the receiver and back, and to the sender and back, seen in the handshake.
    opening : int or None
        Sequence number of the first byte, counted as `mark`; None if the sender's SYN was not seen.
    tick : float
        Largest step of the capture's clock that all its times are multiples of [s]; 0 if they are all the same.
    """

    name: str
    time: NDArray[np.float64]
    is_data: NDArray[np.bool_]
    mark: Ints
    payload: NDArray[np.uint32]
    window: NDArray[np.uint16]
    scale: int | None
    stamped: NDArray[np.bool_]
    tsval: NDArray[np.uint32]
    tsecr: NDArray[np.uint32]
    first_block: NDArray[np.uint32]
    blocks: NDArray[np.int32]
    mss: int
    header: int
    handshake: tuple[float, float] | None
    opening: int | None
    tick: float

    def part(self, start: int, stop: int) -> Flow:
        """Return the packets from number `start` to before `stop`, as if only they had been captured."""
        columns = ("time", "is_data", "mark", "payload", "window", "stamped", "tsval", "tsecr")
        first = self.first_block[start : stop + 1]
        return replace(
            self,
            **{name: getattr(self, name)[start:stop] for name in columns},
            opening=None if self.is_data[:start].any() else self.opening,
            first_block=first - first[0],
            blocks=self.blocks[first[0] : first[-1]],
        )


def read_flow(connection: Connection, name: str, notes: list[str]) -> Flow:
    """Return the direction of a connection that carries most payload bytes.

    Parameters
    ----------
    connection : Connection
        One that carries payload; its columns are used up, as they may be most of the memory.
    name : str
        How messages name the flow.
    notes : list of str
        Receives a sentence if the clock of the capture stepped back.

    Raises
    ------
    CaptureError
        When it has fewer than 10 data packets.
    """
    if connection.sort() > _STEP:
        notes.append("the capture's clock stepped back: packets were put in the order of their times")
    stamps, flags = connection.column("time"), connection.column("flags")
    sent = connection.column("way") == connection.sender
    plain = flags & (SYN | RST) == 0
    is_data = sent & plain & (connection.column("payload") > 0)
    again = twins(connection)
    if many := np.count_nonzero(again & is_data):
        notes.append(f"{many} data packets are in the capture again, with the same IP identification: counted once")
    is_data &= ~again
    require_data(is_data, name)
    kept = np.flatnonzero(is_data | (~again & ~sent & plain & (flags & ACK != 0)))
    scale = connection.scale
    announced = connection.mss[1 - connection.sender], connection.mss[connection.sender]
    handshake = _handshake(stamps[~again], flags[~again], sent[~again])
    tick = float(np.gcd.reduce(np.diff(stamps))) / 1e9
    header = int(np.median(connection.take("header")[is_data]))
    time = (connection.take("time") - stamps[0])[kept] / 1e9
    stamped, is_data = (connection.take("flags") & STAMPED != 0)[kept], is_data[kept]
    del stamps, flags, sent, plain
    number = np.where(is_data, connection.take("seq")[kept], connection.take("ack")[kept])
    payload, tsval, tsecr = (connection.take(column)[kept] for column in ("payload", "tsval", "tsecr"))
    first_block, blocks = _blocks(connection, kept, number)
    return Flow(
        name=connection.name,
        time=time,
        is_data=is_data,
        mark=int(number[0]) + np.cumsum(_nearest(np.diff(number, prepend=number[:1])), dtype=np.int64),
        payload=payload,
        window=connection.take("window")[kept],
        scale=scale,
        stamped=stamped,
        tsval=tsval,
        tsecr=tsecr,
        first_block=first_block,
        blocks=blocks,
        mss=segment_size(payload[is_data], header, len(connection.ends[0][0]), announced),
        header=header,
        handshake=handshake,
        opening=_opening(connection.initial[connection.sender], int(number[0])),
        tick=tick,
    )


def require_data(is_data: NDArray[np.bool_], name: str) -> None:
    """Raise `CaptureError` if there are fewer than 10 data packets."""
    if (count := np.count_nonzero(is_data)) < FEWEST_PACKETS:
        raise CaptureError(f"{name} holds {count} data packets: at least {FEWEST_PACKETS} are needed")


def _opening(initial: int | None, first: int) -> int | None:
    """Return the number after the SYN's, counted on from the `first` number of the flow."""
    if initial is None:
        return None
    return first + (initial + 1 - first + (1 << 31)) % (1 << 32) - (1 << 31)


def _blocks(
    connection: Connection, kept: Ints, number: NDArray[np.uint32]
) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """Return the selectively acknowledged blocks of the packets kept, relative to their numbers."""
    counts = connection.column("blocks")
    mask = np.zeros(len(counts), dtype=bool)
    mask[kept] = True
    edges = connection.blocks()[np.repeat(mask, counts)]
    first = np.zeros(len(kept) + 1, dtype=np.uint32)
    np.cumsum(counts[kept], out=first[1:])
    return first, _nearest(edges - np.repeat(number, counts[kept])[:, None])


def _nearest(difference: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Return differences of 32-bit numbers, taken modulo 2^32, as the nearest signed ones."""
    return difference.view(np.int32)


def _handshake(stamps: Ints, flags: NDArray[np.uint16], sent: NDArray[np.bool_]) -> tuple[float, float] | None:
    """Return the delays to the receiver and back and to the sender and back, if each packet came once."""
    opening = np.flatnonzero(flags & (SYN | ACK) == SYN)
    accepting = np.flatnonzero(flags & (SYN | ACK) == SYN | ACK)
    if len(opening) != 1 or len(accepting) != 1 or accepting[0] < opening[0]:
        return None
    client = sent == sent[opening[0]]
    closing = np.flatnonzero(client & (flags & (SYN | ACK) == ACK))
    if sent[accepting[0]] == sent[opening[0]] or not len(closing) or closing[0] < accepting[0]:
        return None
    first = float(stamps[accepting[0]] - stamps[opening[0]]) / 1e9
    second = float(stamps[closing[0]] - stamps[accepting[0]]) / 1e9
    return (first, second) if sent[opening[0]] else (second, first)
