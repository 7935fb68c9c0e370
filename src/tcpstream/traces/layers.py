"""Where the TCP packet lies in a captured frame: under link layers, tags and tunnels that are not encrypted.

What follows what is an EtherType (IEEE 802 numbers), or an IP protocol (IANA) plus `IP_PROTOCOL`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

IPV4, IPV6, ETHERNET, PPP, MPLS = 0x0800, 0x86DD, 0x6558, 0x880B, 0x8847
IP_PROTOCOL = 1 << 16
TCP, _ESP = IP_PROTOCOL + 6, IP_PROTOCOL + 50
_LLC = 0x0004  # as the Linux cooked header calls it
_LEAST_ETHERTYPE = 0x0600
_DEEPEST = 24

#: What follows, and where it begins.
Step = tuple[int, int]


class UndecodedError(Exception):
    """No TCP packet is found in a frame; the message says what is found instead.

    Attributes
    ----------
    hides : bool
        Whether there may be TCP inside: it is encrypted, in pieces, or of an unknown kind.
    udp : pair of int, or None
        Where the IP header and the header of a UDP packet begin.
    """

    udp: tuple[int, int] | None = None

    def __init__(self, what: str, *, hides: bool = False) -> None:
        super().__init__(what)
        self.hides = hides


def find_tcp(linktype: int, data: bytes) -> tuple[int, int]:
    """Return where the innermost IP header and its TCP header begin.

    Parameters
    ----------
    linktype : int
        Of the capture file (tcpdump.org/linktypes.html).
    data : bytes
        A frame, from its link layer on.

    Raises
    ------
    UndecodedError
        When there is none, or it cannot be reached.
    IndexError
        When the frame is cut before it.
    """
    kind, at = _link(linktype, data, 0)
    ip = 0
    for _ in range(_DEEPEST):
        if kind == TCP:
            return ip, at
        layer = _LAYERS.get(kind)
        if layer is None:
            raise UndecodedError(_named(kind), hides=kind == _ESP)
        if layer in (_ipv4, _ipv6):
            ip = at
        try:
            kind, at = layer(data, at)
        except UndecodedError as other:
            other.udp = (ip, at) if layer is _udp else None
            raise
    raise UndecodedError(f"more than {_DEEPEST} layers", hides=True)


def _link(linktype: int, data: bytes, at: int) -> Step:
    layer = _LINKS.get(linktype)
    if layer is None:
        raise UndecodedError(f"link type {linktype}", hides=True)
    return layer(data, at)


def _named(kind: int) -> str:
    number = f"IP protocol {kind - IP_PROTOCOL}" if kind >= IP_PROTOCOL else f"EtherType 0x{kind:04x}"
    return _NAMES.get(kind, number)


def _short(data: bytes, at: int) -> int:
    return data[at] << 8 | data[at + 1]


def _long(data: bytes, at: int, order: Literal["big", "little"]) -> int:
    return int.from_bytes(bytes(data[at + i] for i in range(4)), order)


def _ethernet(data: bytes, at: int) -> Step:
    return _typed(_short(data, at + 12), at + 14)


def _vlan(data: bytes, at: int) -> Step:
    return _typed(_short(data, at + 2), at + 4)


def _typed(kind: int, at: int) -> Step:
    """An EtherType, or the length of what has an LLC header (IEEE 802.3)."""
    return (kind, at) if kind >= _LEAST_ETHERTYPE else (_LLC, at)


def _llc(data: bytes, at: int) -> Step:
    service = bytes((data[at], data[at + 1], data[at + 2]))
    if service == b"\xaa\xaa\x03":  # SNAP (RFC 1042)
        return _short(data, at + 6), at + 8
    if service == b"\xfe\xfe\x03" and data[at + 3] in (0xCC, 0x8E):  # NLPID (RFC 2684)
        return (IPV4 if data[at + 3] == 0xCC else IPV6), at + 4
    raise UndecodedError("LLC")


def _raw(data: bytes, at: int) -> Step:
    version = data[at] >> 4
    if version not in (4, 6):
        raise UndecodedError(f"IP version {version}")
    return (IPV4 if version == 4 else IPV6), at


def _loopback(data: bytes, at: int) -> Step:
    """The address family, in the byte order of the machine that captured."""
    family = min(_long(data, at, "little"), _long(data, at, "big"))
    if family not in (2, 10, 24, 28, 30):
        raise UndecodedError(f"address family {family}")
    return (IPV4 if family == 2 else IPV6), at + 4


def _cooked(data: bytes, at: int) -> Step:
    return _short(data, at + 14), at + 16


def _cooked2(data: bytes, at: int) -> Step:
    return _short(data, at), at + 20


def _ppp(data: bytes, at: int) -> Step:
    """RFC 1661 and 1662, also with compressed protocol field."""
    if data[at] == 0xFF and data[at + 1] == 3:
        at += 2
    protocol, size = (data[at], 1) if data[at] & 1 else (_short(data, at), 2)
    kind = {0x21: IPV4, 0x57: IPV6, 0x281: MPLS}.get(protocol)
    if kind is None:
        hiding = {0xFD: "compressed PPP", 0x3D: "PPP multilink", 0x53: "encrypted PPP"}
        raise UndecodedError(hiding.get(protocol, f"PPP protocol 0x{protocol:04x}"), hides=protocol in hiding)
    return kind, at + size


def _ppp_with_direction(data: bytes, at: int) -> Step:
    return _ppp(data, at + 1)


def _pppd(data: bytes, at: int) -> Step:
    """The direction in place of the address, and control."""
    return _ppp(data, at + 2)


def _pppoe(data: bytes, at: int) -> Step:
    if data[at + 1]:
        raise UndecodedError("PPPoE discovery")
    return PPP, at + 6


def _hdlc(data: bytes, at: int) -> Step:
    """Cisco HDLC: address, control, EtherType; or PPP in the same framing."""
    return _ppp(data, at) if data[at] == 0xFF else (_short(data, at + 2), at + 4)


def _mpls(data: bytes, at: int) -> Step:
    """RFC 3032, to the bottom of the stack; then IP, or Ethernet with or without control word (RFC 4448)."""
    while not data[at + 2] & 1:
        at += 4
    at += 4
    nibble = data[at] >> 4
    if nibble in (4, 6):
        return _raw(data, at)
    control = nibble == 0 and _short(data, at + 16) in _LAYERS
    return ETHERNET, at + 4 * control


def _radiotap(data: bytes, at: int) -> Step:
    """radiotap.org: its length; bit 5 of the flags tells that the 802.11 header is padded to 4 bytes."""
    words = 1
    while data[at + 4 * words + 3] & 0x80:
        words += 1
    present, field = data[at + 4], 4 + 4 * words
    if present & 1:
        field = -(-field // 8) * 8 + 8
    padded = bool(present & 2 and data[at + field] & 0x20)
    return _wireless(data, at + (data[at + 2] | data[at + 3] << 8), padded)


def _prism(data: bytes, at: int) -> Step:
    if _short(data, at) == 0x8021:  # in its place, an AVS header
        return _avs(data, at)
    return _wireless(data, at + _long(data, at + 4, "little"))


def _avs(data: bytes, at: int) -> Step:
    return _wireless(data, at + _long(data, at + 4, "big"))


def _per_packet(data: bytes, at: int) -> Step:
    linktype = _long(data, at + 4, "little")
    if linktype == 192:
        raise UndecodedError("PPI within PPI")
    return _link(linktype, data, at + (data[at + 2] | data[at + 3] << 8))


def _wireless(data: bytes, at: int, padded: bool = False) -> Step:
    """IEEE 802.11: only data frames that are in clear, one packet each."""
    control, flags = data[at], data[at + 1]
    if control & 0x0C != 0x08 or control & 0x40:
        raise UndecodedError("802.11 frames without data")
    if flags & 0x40:
        raise UndecodedError("encrypted 802.11", hides=True)
    if flags & 0x04 or data[at + 22] & 0x0F:
        raise UndecodedError("fragments of 802.11", hides=True)
    size = 30 if flags & 3 == 3 else 24
    if control & 0x80:
        if data[at + size] & 0x80:
            raise UndecodedError("aggregated 802.11 (A-MSDU)", hides=True)
        size += 6 if flags & 0x80 else 2
    return _LLC, at + (-(-size // 4) * 4 if padded else size)


def _ipv4(data: bytes, at: int) -> Step:
    size = 4 * (data[at] & 0x0F)
    if data[at] >> 4 != 4 or size < 20:
        raise UndecodedError("damaged IP headers")
    if _short(data, at + 6) & 0x1FFF:
        raise UndecodedError("IP fragments", hides=True)
    return IP_PROTOCOL + data[at + 9], at + size


def _ipv6(data: bytes, at: int) -> Step:
    if data[at] >> 4 != 6:
        raise UndecodedError("damaged IP headers")
    return IP_PROTOCOL + data[at + 6], at + 40


def _extension(data: bytes, at: int) -> Step:
    return IP_PROTOCOL + data[at], at + 8 * (data[at + 1] + 1)


def _fragment(data: bytes, at: int) -> Step:
    if _short(data, at + 2) & 0xFFF8:
        raise UndecodedError("IP fragments", hides=True)
    return IP_PROTOCOL + data[at], at + 8


def _authentication(data: bytes, at: int) -> Step:
    return IP_PROTOCOL + data[at], at + 4 * (data[at + 1] + 2)


def _gre(data: bytes, at: int) -> Step:
    """RFC 2784 and 2890; version 1 is PPTP's (RFC 2637)."""
    flags, kind = _short(data, at), _short(data, at + 2)
    size = 4 + 4 * bool(flags & 0x2000) + 4 * bool(flags & 0x1000)
    if flags & 7 == 1:
        return PPP, at + size + 4 * bool(flags & 0x80)
    size += 4 * bool(flags & 0xC000)
    if kind == 0x88BE:  # ERSPAN, its second version with a header of its own
        return ETHERNET, at + size + 8 * bool(flags & 0x1000)
    return kind, at + size


def _ether_ip(data: bytes, at: int) -> Step:  # noqa: ARG001
    return ETHERNET, at + 2


def _udp(data: bytes, at: int) -> Step:
    """What the ports of tunnels say, if their headers agree."""
    ports = {_short(data, at), _short(data, at + 2)}
    at += 8
    if ports & {4789, 8472} and data[at] & 0x08:  # VXLAN (RFC 7348)
        return ETHERNET, at + 8
    if 6081 in ports and data[at] >> 6 == 0:  # Geneve (RFC 8926)
        return _short(data, at + 2), at + 8 + 4 * (data[at] & 0x3F)
    if 2152 in ports and data[at] & 0xF0 == 0x30 and data[at + 1] == 0xFF:
        return _gtp(data, at)
    if 1701 in ports and not data[at] & 0x80 and data[at + 1] & 0x0F == 2:
        return _l2tp(data, at)
    if 3544 in ports and data[at] >> 4 == 6:  # Teredo (RFC 4380)
        return IPV6, at
    if 6635 in ports:  # RFC 7510
        return MPLS, at
    if 4500 in ports:
        raise UndecodedError("ESP in UDP (encrypted)", hides=True)
    raise UndecodedError("UDP")


def _gtp(data: bytes, at: int) -> Step:
    """GTP-U (3GPP TS 29.281), with its extension headers."""
    flags, following = data[at], 0
    at += 8
    if flags & 7:
        following = data[at + 3] if flags & 4 else 0
        at += 4
    while following:
        size = 4 * data[at]
        if not size:
            raise UndecodedError("damaged GTP-U headers")
        following = data[at + size - 1]
        at += size
    return _raw(data, at)


def _l2tp(data: bytes, at: int) -> Step:
    """RFC 2661: optional length, sequence numbers and offset."""
    flags, size = data[at], 6
    size += 2 * bool(flags & 0x40) + 4 * bool(flags & 0x08)
    if flags & 0x02:
        size += 2 + _short(data, at + size)
    return PPP, at + size


_LINKS: dict[int, Callable[[bytes, int], Step]] = {
    **{0: _loopback, 108: _loopback, 1: _ethernet, 113: _cooked, 276: _cooked2},
    **dict.fromkeys((12, 14, 101, 228, 229), _raw),
    **{9: _ppp, 50: _ppp, 51: _pppoe, 104: _hdlc, 166: _pppd, 204: _ppp_with_direction, 100: _llc},
    **{105: _wireless, 119: _prism, 127: _radiotap, 163: _avs, 192: _per_packet},
}
_LAYERS: dict[int, Callable[[bytes, int], Step]] = {
    **{IPV4: _ipv4, IPV6: _ipv6, ETHERNET: _ethernet, PPP: _ppp, _LLC: _llc, 0x8864: _pppoe},
    **dict.fromkeys((0x8100, 0x88A8, 0x9100, 0x9200), _vlan),
    **dict.fromkeys((MPLS, 0x8848, IP_PROTOCOL + 137), _mpls),
    **{IP_PROTOCOL + 4: _ipv4, IP_PROTOCOL + 41: _ipv6, IP_PROTOCOL + 47: _gre, IP_PROTOCOL + 17: _udp},
    **dict.fromkeys((IP_PROTOCOL + n for n in (0, 43, 60, 135)), _extension),
    **{IP_PROTOCOL + 44: _fragment, IP_PROTOCOL + 51: _authentication, IP_PROTOCOL + 97: _ether_ip},
}
_NAMES = {
    **{0x0806: "ARP", 0x8863: "PPPoE discovery", 0x888E: "EAPOL", 0x88CC: "LLDP"},
    **{IP_PROTOCOL + 1: "ICMP", IP_PROTOCOL + 2: "IGMP", _ESP: "ESP (encrypted)"},
    **{IP_PROTOCOL + 58: "ICMPv6", IP_PROTOCOL + 89: "OSPF", IP_PROTOCOL + 115: "L2TPv3", IP_PROTOCOL + 132: "SCTP"},
}
