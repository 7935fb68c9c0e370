"""The TCP packets of a capture file, one after another; dpkt takes them apart."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path as FilePath
from typing import Any, BinaryIO, NamedTuple

from ..errors import CaptureError
from .records import Record, load_dpkt, read_records

ACCEPTED = "a pcap or pcapng file with TCP over IPv4 or IPv6 (Ethernet, raw IP, Linux cooked, BSD loopback)"
FIN, SYN, RST, ACK = 1, 2, 4, 16
NO_TIMESTAMP = -1
_MSS, _SCALE, _SACK, _TIMESTAMP = 2, 3, 5, 8
#: The window scale of a packet without the option.
NO_SCALE = -1
_DEEPEST = 6
#: A larger window scale counts as this one (RFC 7323, Section 2.3).
_LARGEST_SCALE = 14

Endpoint = tuple[bytes, int]
#: Payload [bytes] of each UDP flow, by source and target.
Datagrams = dict[tuple[Endpoint, Endpoint], int]


class Segment(NamedTuple):
    """One TCP packet: time since the epoch [ns], both ends (address, port), what its headers say.

    `payload` and `size` are the lengths of the TCP payload and of the IP packet on the wire [bytes]; `tsval`
    and `tsecr` are -1 without the timestamp option, `sack` is empty, `mss` 0 and `scale` -1 without theirs. `window` is
    the number in the header, not scaled.
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


def read_segments(path: str | PathLike[str], notes: list[str], datagrams: Datagrams | None = None) -> Iterator[Segment]:
    """Yield the TCP packets of a capture in the order of the file; everything else is skipped, or counted.

    Parameters
    ----------
    path : path-like
        A pcap (micro- or nanoseconds, either byte order) or pcapng file; headers of the packets suffice.
    notes : list of str
        Receives a sentence for everything that limits the use of the capture.
    datagrams : dict, optional
        Receives the payload of each UDP flow.

    Raises
    ------
    CaptureError
        When the file cannot be read, is no capture, or holds no TCP packet with its header whole.
    MissingExtraError
        When dpkt is not installed.
    """
    dpkt = load_dpkt()
    name = f"the capture {path!s}"
    links = _links(dpkt)
    tcp = cut_header = cut_options = 0
    unknown: set[int] = set()
    try:
        with _open(path) as file:
            for record in read_records(file, name, notes):
                if record.linktype not in links:
                    unknown.add(record.linktype)
                    continue
                ip = _network_layer(record, links[record.linktype], dpkt)
                if datagrams is not None and ip is not None and isinstance(ip.data, dpkt.udp.UDP):
                    ends = ((ip.src, ip.data.sport), (ip.dst, ip.data.dport))
                    datagrams[ends] = datagrams.get(ends, 0) + max(ip.data.ulen - 8, 0)
                if ip is None or not isinstance(ip.data, dpkt.tcp.TCP):
                    cut_header += len(record.data) < record.wire_length
                    continue
                segment = _segment(record, ip, dpkt)
                if segment is None:
                    continue
                cut_options += len(ip.data.opts) < 4 * ip.data.off - 20
                tcp += 1
                yield segment
    except OSError as error:
        raise CaptureError(f"cannot read {name}: {error.strerror}; accepted is {ACCEPTED}") from None
    if not tcp:
        raise CaptureError(f"{name} {_why_none(cut_header, unknown)}; accepted is {ACCEPTED}")
    if cut_options:
        notes.append(
            f"{cut_options} of {tcp} TCP packets are cut inside their options: timestamps and selective "
            "acknowledgements there are lost (keep at least the first 128 bytes of each packet)"
        )


def _why_none(cut_header: int, unknown: set[int]) -> str:
    if cut_header:
        return "is cut inside the TCP headers (keep at least the first 128 bytes of each packet)"
    if unknown:
        return f"has packets of link type {', '.join(map(str, sorted(unknown)))} only"
    return "holds no TCP packet"


def _open(path: str | PathLike[str]) -> BinaryIO:
    try:
        return FilePath(fspath(path)).open("rb")
    except (TypeError, ValueError) as error:
        raise CaptureError(f"cannot read the capture {path!r}: {error}; accepted is {ACCEPTED}") from None


def _links(dpkt: Any) -> dict[int, Any]:
    """Return what takes a packet of each link type apart (tcpdump.org/linktypes.html)."""

    def raw(data: bytes) -> Any:
        return (dpkt.ip6.IP6 if data[0] >> 4 == 6 else dpkt.ip.IP)(data)

    return {
        0: dpkt.loopback.Loopback,
        1: dpkt.ethernet.Ethernet,
        108: dpkt.loopback.Loopback,
        113: dpkt.sll.SLL,
        276: dpkt.sll2.SLL2,
    } | dict.fromkeys((12, 14, 101, 228, 229), raw)


def _network_layer(record: Record, link: Any, dpkt: Any) -> Any:
    """Return the IP packet inside a record, or None."""
    try:
        packet = link(record.data)
        for _ in range(_DEEPEST):
            if isinstance(packet, (dpkt.ip.IP, dpkt.ip6.IP6)):
                return packet if packet.v == (6 if isinstance(packet, dpkt.ip6.IP6) else 4) else None
            packet = packet.data
    except Exception:  # dpkt raises many kinds on packets it cannot take apart
        pass
    return None


def _segment(record: Record, ip: Any, dpkt: Any) -> Segment | None:
    """Return the TCP packet inside an IP packet, or None if its lengths contradict each other."""
    tcp = ip.data
    size = _ip_length(record, ip)
    if isinstance(ip, dpkt.ip6.IP6):
        headers = 40 + sum(extension.length for extension in ip.all_extension_headers)
    else:
        headers = 4 * ip.hl
    payload = size - headers - 4 * tcp.off
    if not 0 <= payload <= 1 << 20:
        return None
    tsval = tsecr = NO_TIMESTAMP
    sack: tuple[tuple[int, int], ...] = ()
    mss, scale = 0, NO_SCALE
    for option in dpkt.tcp.parse_opts(tcp.opts) if tcp.opts else ():
        if option is None:
            continue
        kind, data = option
        if kind == _TIMESTAMP and len(data) == 8:
            tsval, tsecr = int.from_bytes(data[:4], "big"), int.from_bytes(data[4:], "big")
        elif kind == _SACK:
            edges = [int.from_bytes(data[i : i + 4], "big") for i in range(0, len(data) - 3, 4)]
            sack = tuple(zip(edges[::2], edges[1::2]))
        elif kind == _MSS and len(data) == 2:
            mss = int.from_bytes(data, "big")
        elif kind == _SCALE and len(data) == 1:
            scale = min(data[0], _LARGEST_SCALE)
    return Segment(
        record.time_ns,
        (ip.src, tcp.sport),
        (ip.dst, tcp.dport),
        tcp.seq,
        tcp.ack,
        tcp.flags,
        payload,
        size,
        tsval,
        tsecr,
        sack,
        mss,
        tcp.win,
        scale,
    )


def _ip_length(record: Record, ip: Any) -> int:
    """Return the length of an IP packet [bytes]: its own field, or, where offloading left 0, the wire's."""
    stated = ip.len if ip.v == 4 else (ip.plen and 40 + ip.plen)
    return int(stated or record.wire_length - (len(record.data) - len(ip)))
