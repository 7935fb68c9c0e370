"""The TCP packets of a capture file, one after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from os import PathLike
from typing import NamedTuple

from ..errors import CaptureError
from .containers import ACCEPTED, open_capture
from .layers import UndecodedError, find_tcp
from .packet_records import Record, read_records

FIN, SYN, RST, ACK = 1, 2, 4, 16
NO_TIMESTAMP = -1
_MSS, _SCALE, _SACK, _TIMESTAMP = 2, 3, 5, 8
#: The window scale of a packet without the option.
NO_SCALE = -1
#: A larger window scale counts as this one (RFC 7323, Section 2.3).
_LARGEST_SCALE = 14
_HEADER = 20
#: Kinds of packets that an error names at most.
_NAMED = 4

Endpoint = tuple[bytes, int]
#: Payload [bytes] of each UDP flow, by source and target.
Datagrams = dict[tuple[Endpoint, Endpoint], int]


class Segment(NamedTuple):
    """One TCP packet: time since the epoch [ns], both ends (address, port), what its headers say.

    `payload` and `size` are the lengths of the TCP payload and of the IP packet on the wire [bytes]; `tsval`
    and `tsecr` are -1 without the timestamp option, `sack` is empty, `mss` 0 and `scale` -1 without theirs. `window` is
    the number in the header, not scaled. `ident` is IPv4's identification, 0 in IPv6.
    """

    time_ns: int
    source: Endpoint
    target: Endpoint
    seq: int
    ack: int
    flags: int
    payload: int
    size: int
    tsval: int
    tsecr: int
    sack: tuple[tuple[int, int], ...]
    mss: int
    window: int
    scale: int
    ident: int


def read_segments(path: str | PathLike[str], notes: list[str], datagrams: Datagrams | None = None) -> Iterator[Segment]:
    """Yield the TCP packets of a capture in the order of the file; everything else is skipped, or counted.

    Parameters
    ----------
    path : path-like
        A pcap (micro- or nanoseconds, either byte order) or pcapng file, also compressed by gzip or zstd; headers of
        the packets suffice.
    notes : list of str
        Receives a sentence for everything that limits the use of the capture.
    datagrams : dict, optional
        Receives the payload of each UDP flow.

    Raises
    ------
    CaptureError
        When the file cannot be read, is no capture, or holds no TCP packet with its header whole.
    MissingExtraError
        When dpkt, or what decompresses the file, is not installed.
    """
    name = f"the capture {path!s}"
    tcp = cut_header = cut_options = 0
    others: Counter[str] = Counter()
    hiding: Counter[str] = Counter()
    try:
        with open_capture(path, name) as file:
            for record in read_records(file, name, notes):
                try:
                    segment, whole = _segment(record)
                except UndecodedError as other:
                    if datagrams is not None and other.udp:
                        _count(datagrams, record, *other.udp)
                    (hiding if other.hides else others)[str(other)] += 1
                    continue
                except IndexError:
                    cut_header += len(record.data) < record.wire_length
                    continue
                if segment is None:
                    continue
                cut_options += not whole
                tcp += 1
                yield segment
    except OSError as error:
        raise CaptureError(f"cannot read {name}: {error.strerror or error}; accepted is {ACCEPTED}") from None
    if not tcp:
        raise CaptureError(f"{name} {_why_none(cut_header, hiding + others)}; accepted is {ACCEPTED}")
    if cut_options:
        notes.append(
            f"{cut_options} of {tcp} TCP packets are cut inside their options: timestamps and selective "
            "acknowledgements there are lost (keep at least the first 128 bytes of each packet)"
        )
    if hiding:
        notes.append(f"packets that may hold TCP are not decoded: {_listed(hiding)}")


def _why_none(cut_header: int, others: Counter[str]) -> str:
    if cut_header:
        return "is cut inside the TCP headers (keep at least the first 128 bytes of each packet)"
    return "holds no TCP packet" + (f" that can be decoded, but {_listed(others)}" if others else "")


def _listed(kinds: Counter[str]) -> str:
    """Return the commonest kinds of packets and how many there are of each."""
    shown = [f"{count} of {kind}" for kind, count in kinds.most_common(_NAMED)]
    return ", ".join(shown) + (", and others" if len(kinds) > _NAMED else "")


def _segment(record: Record) -> tuple[Segment | None, bool]:
    """Return the TCP packet in a record, or None if its lengths contradict each other; and whether all of it is there.

    Raises `UndecodedError` where there is none, and `IndexError` where the record is cut before its end.
    """
    data = record.data
    ip, at = find_tcp(record.linktype, data)
    header = 4 * (data[at + 12] >> 4)
    if len(data) < at + _HEADER:
        raise IndexError
    size, ends = _addresses(record, ip)
    payload = size - (at - ip) - header
    if header < _HEADER or not 0 <= payload <= 1 << 20:
        return None, True
    options = data[at + _HEADER : at + header]
    tsval, tsecr, sack, mss, scale = _options(options)
    source, target, seq, ack = (
        int.from_bytes(data[at + i : at + j], "big") for i, j in ((0, 2), (2, 4), (4, 8), (8, 12))
    )
    flags = (data[at + 12] & 1) << 8 | data[at + 13]
    segment = Segment(
        record.time_ns,
        (ends[0], source),
        (ends[1], target),
        seq,
        ack,
        flags,
        payload,
        size,
        tsval,
        tsecr,
        sack,
        mss,
        data[at + 14] << 8 | data[at + 15],
        scale,
        data[ip + 4] << 8 | data[ip + 5] if data[ip] >> 4 == 4 else 0,
    )
    return segment, len(options) == header - _HEADER


def _addresses(record: Record, ip: int) -> tuple[int, tuple[bytes, bytes]]:
    """Return the length of an IP packet [bytes], by its own field or, where offloading left 0, the wire's; its ends."""
    data = record.data
    if data[ip] >> 4 == 4:
        length = data[ip + 2] << 8 | data[ip + 3]
        ends = data[ip + 12 : ip + 16], data[ip + 16 : ip + 20]
    else:
        length = data[ip + 4] << 8 | data[ip + 5]
        length += 40 * (length > 0)
        ends = data[ip + 8 : ip + 24], data[ip + 24 : ip + 40]
    return length or record.wire_length - ip, ends


def _count(datagrams: Datagrams, record: Record, ip: int, at: int) -> None:
    """Add the payload of a UDP packet, whose IP and UDP headers begin there, to that of its flow."""
    data = record.data
    if len(data) >= at + 4:
        size, (source, target) = _addresses(record, ip)
        ends = (source, data[at] << 8 | data[at + 1]), (target, data[at + 2] << 8 | data[at + 3])
        datagrams[ends] = datagrams.get(ends, 0) + max(size - (at - ip) - 8, 0)


def _options(data: bytes) -> tuple[int, int, tuple[tuple[int, int], ...], int, int]:
    """Return timestamp, its echo, selectively acknowledged blocks, maximum segment size and window scale, if there."""
    tsval = tsecr = NO_TIMESTAMP
    sack: tuple[tuple[int, int], ...] = ()
    mss, scale, at = 0, NO_SCALE, 0
    while at < len(data) and (kind := data[at]):
        if kind == 1:
            at += 1
            continue
        size = data[at + 1] if at + 1 < len(data) else 0
        value = data[at + 2 : at + size]
        if size < 2 or len(value) < size - 2:
            break
        if kind == _TIMESTAMP and size == 10:
            tsval, tsecr = int.from_bytes(value[:4], "big"), int.from_bytes(value[4:], "big")
        elif kind == _SACK:
            edges = [int.from_bytes(value[i : i + 4], "big") for i in range(0, len(value) - 3, 4)]
            sack = tuple(zip(edges[::2], edges[1::2]))
        elif kind == _MSS and size == 4:
            mss = int.from_bytes(value, "big")
        elif kind == _SCALE and size == 3:
            scale = min(value[0], _LARGEST_SCALE)
        at += size
    return tsval, tsecr, sack, mss, scale
