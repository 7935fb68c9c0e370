"""The records of a capture file, pcap or pcapng, one after another; dpkt knows the headers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from ..errors import CaptureError, MissingExtraError
from .containers import DamagedError

#: A record longer than this [bytes] is no packet but a damaged length field.
LONGEST_RECORD = 1 << 20
_LATEST_NS = (1 << 63) - 1
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6
_RESOLUTION, _OFFSET = 9, 14
_NO_TIME = "Simple Packet Blocks of pcapng, which have no times"
_NO_INTERFACE = "of interfaces that no Interface Description Block describes"
_DAMAGED = "damaged, or of an interface that is"


class Record(NamedTuple):
    """One captured packet: link type, time since the epoch [ns], length on the wire [bytes], bytes kept."""

    linktype: int
    time_ns: int
    wire_length: int
    data: bytes


class _UnreadableError(Exception):
    """The rest of the file cannot be read: it is cut off or damaged, and `why`, if that is known."""

    def __init__(self, what: str, why: str = "") -> None:
        self.what, self.why = what, f" ({why})" if why else ""
        super().__init__(what)


def load_dpkt() -> Any:
    """Return the dpkt module, or raise `MissingExtraError`."""
    try:
        import dpkt
    except ImportError:
        raise MissingExtraError("reading captures", "dpkt", "capture") from None
    return dpkt


def read_records(file: BinaryIO, name: str, notes: list[str]) -> Iterator[Record]:
    """Yield the records of an open capture, as far as they are whole.

    Parameters
    ----------
    file : binary file
        Positioned at its start; read once, forwards.
    name : str
        How messages name it.
    notes : list of str
        Receives a sentence if the file ends inside a record or is damaged.

    Raises
    ------
    CaptureError
        When it is neither pcap nor pcapng, is cut or damaged at its first packet, or has no packet with a time.
    """
    dpkt = load_dpkt()
    left_out: Counter[str] = Counter()
    magic = file.read(4)
    number = int.from_bytes(magic, "big")
    if number == _SECTION:
        records = _pcapng(file, dpkt, left_out)
    elif len(magic) == 4 and number in dpkt.pcap.MAGIC_TO_PKT_HDR:
        records = _pcap(file, magic, dpkt)
    else:
        found = "is empty" if not magic else "is no capture"
        raise CaptureError(f"{name} {found}: a pcap or pcapng file is accepted")
    count = 0
    try:
        for record in records:
            count += 1
            yield record
    except _UnreadableError as stop:
        if not count and not left_out:
            raise CaptureError(f"{name} {stop.what}{stop.why}, and holds no whole packet before") from None
        notes.append(f"the capture {stop.what} after packet {count + left_out.total()}: used up to there")
    for kind, many in left_out.items():
        if not count:
            raise CaptureError(f"{name} holds no packet that can be used: {many} are {kind}")
        notes.append(f"{many} packets of the capture are left out: {kind}")


def _exactly(file: BinaryIO, size: int) -> bytes:
    """Return the next `size` bytes; nothing at all at the end of the file; otherwise stop."""
    if not 0 <= size <= LONGEST_RECORD:
        raise _UnreadableError("is damaged", f"{size} bytes are no length of a packet")
    try:
        data = file.read(size)
    except DamagedError as error:
        raise _UnreadableError(str(error)) from None
    if 0 < len(data) < size:
        raise _UnreadableError("is cut off")
    return data


def _body(file: BinaryIO, size: int) -> bytes:
    data = _exactly(file, size)
    if len(data) < size:
        raise _UnreadableError("is cut off")
    return data


def _pcap(file: BinaryIO, magic: bytes, dpkt: Any) -> Iterator[Record]:
    pcap = dpkt.pcap
    number = int.from_bytes(magic, "big")
    kind = pcap.MAGIC_TO_PKT_HDR[number]
    little = magic[0] != 0xA1
    header = (pcap.LEFileHdr if little else pcap.FileHdr)(magic + _body(file, pcap.FileHdr.__hdr_len__ - 4))
    nano = number in (pcap.TCPDUMP_MAGIC_NANO, pcap.PMUDPCT_MAGIC_NANO)
    unit = 1 if nano else 1000
    linktype = header.linktype & 0xFFFF  # the upper bits describe a frame check sequence
    while head := _exactly(file, kind.__hdr_len__):
        if not any(head):  # a hole of the file
            raise _UnreadableError("holds nothing but zeros")
        record = kind(head)
        if record.tv_usec * unit >= 1_000_000_000:
            raise _UnreadableError("is damaged", f"a time has {record.tv_usec} {'nano' if nano else 'micro'}seconds")
        time_ns = record.tv_sec * 1_000_000_000 + record.tv_usec * unit
        yield Record(linktype, time_ns, record.len, _body(file, record.caplen))


def _pcapng(file: BinaryIO, dpkt: Any, left_out: Counter[str]) -> Iterator[Record]:
    png = dpkt.pcapng
    little, head = True, _SECTION.to_bytes(4, "big") + _body(file, 4)
    interfaces: list[tuple[int, int, int] | None] = []
    while head:
        block, order = head, "little" if little else "big"
        if head[:4] == _SECTION.to_bytes(4, "big"):
            block += _body(file, 4)
            little = int.from_bytes(block[8:], "little") == png.BYTE_ORDER_MAGIC
            order = "little" if little else "big"
            interfaces = []
        kind = int.from_bytes(block[:4], order)  # type: ignore[arg-type]
        size = int.from_bytes(block[4:8], order)  # type: ignore[arg-type]
        if size < 12:
            raise _UnreadableError("is damaged", f"a block of {size} bytes, and 12 are the least")
        block += _body(file, size - len(block))
        if kind == _INTERFACE:
            interfaces.append(_interface(block, png, little))
        elif kind == _SIMPLE:
            left_out[_NO_TIME] += 1
        elif kind in (_PACKET, _OLD_PACKET):
            record = _packet(block, kind, interfaces, png, little)
            if record is not None:
                yield record
            else:
                left_out[_DAMAGED if interfaces else _NO_INTERFACE] += 1
        head = _exactly(file, 8)


def _interface(block: bytes, png: Any, little: bool) -> tuple[int, int, int] | None:
    """Return link type, ticks per second and time offset [s] of an interface; None if it is damaged."""
    try:
        header = (png.InterfaceDescriptionBlockLE if little else png.InterfaceDescriptionBlock)(block)
        ticks, offset = 1_000_000, 0
        for option in header.opts:
            if option.code == _RESOLUTION:
                base, power = (2, option.data[0] & 0x7F) if option.data[0] & 0x80 else (10, option.data[0])
                ticks = base**power
            elif option.code == _OFFSET:
                offset = int.from_bytes(option.data, "little" if little else "big", signed=True)
        return header.linktype, ticks, offset
    except Exception:  # dpkt raises many kinds on damaged blocks
        return None


def _packet(
    block: bytes, kind: int, interfaces: list[tuple[int, int, int] | None], png: Any, little: bool
) -> Record | None:
    """Return the packet of a block; None if it is damaged or its interface is not known."""
    plain, le = (
        (png.EnhancedPacketBlock, png.EnhancedPacketBlockLE)
        if kind == _PACKET
        else (png.PacketBlock, png.PacketBlockLE)
    )
    try:
        packet = (le if little else plain)(block)
        interface = interfaces[packet.iface_id]
    except Exception:  # dpkt raises many kinds on damaged blocks
        return None
    if interface is None:
        return None
    linktype, ticks, offset = interface
    time_ns = (packet.ts_high << 32 | packet.ts_low) * 1_000_000_000 // ticks + offset * 1_000_000_000
    if not 0 <= time_ns <= _LATEST_NS:
        return None
    return Record(linktype, time_ns, packet.pkt_len, packet.pkt_data)
