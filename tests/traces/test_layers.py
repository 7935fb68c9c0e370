"""TCP under every link layer, tag and tunnel gives the same flow; what hides it is named.

That tshark decodes the same headers as meant here was checked by hand when they were written.
"""

from __future__ import annotations

import contextlib
import random
import struct

import pytest
from synthetic import frames, pcap_bytes, simulate

from tcpstream.errors import CaptureError
from tcpstream.traces import estimate
from tcpstream.traces.layers import UndecodedError, find_tcp

PACKETS = frames(simulate(0.03, seconds=3, seed=6))
PACKETS6 = frames(simulate(0.03, seconds=3, seed=6), ipv6=True)
MACS = bytes.fromhex("020000000001020000000002")
SNAP = b"\xaa\xaa\x03\0\0\0"


def ether(kind):
    return MACS + struct.pack(">H", kind)


def ip(protocol, length, ends=b"\xc0\0\2\1\xc0\0\2\2"):
    return struct.pack(">BBHIBBH", 0x45, 0, 20 + length, 0, 64, protocol, 0) + ends


def ip6(following, length):
    return struct.pack(">IHBB", 6 << 28, length, following, 64) + (b"\x20\1" + bytes(13) + b"\1") * 2


def udp(port, length):
    return struct.pack(">HHHH", 40000, port, 8 + length, 0)


def in_udp(port, header, data):
    """An Ethernet frame of a tunnel over UDP."""
    length = len(header) + len(data)
    return ether(0x0800) + ip(17, 8 + length) + udp(port, length) + header + data


def in_ip(protocol, header, data):
    return ether(0x0800) + ip(protocol, len(header) + len(data)) + header + data


def ppp(data):
    return (b"\0\x57" if data[0] >> 4 == 6 else b"\0\x21") + data


def kind(data):
    return 0x86DD if data[0] >> 4 == 6 else 0x0800


def short(number):
    return struct.pack(">H", number)


def wireless(data, *, control=b"\x08\x02", qos=b"", more=b""):
    return control + bytes(2) + 3 * MACS[:6] + bytes(2) + more + qos + SNAP + short(kind(data)) + data


def radiotap(data):
    """With a time stamp, flags that tell of padding, and a second word of presence."""
    header = struct.pack("<BBHIIxxxxQB", 0, 0, 25, 1 << 31 | 3, 0, 12345, 0x20)
    frame = b"\x88\x01" + bytes(2) + 3 * MACS[:6] + bytes(2) + bytes(2) + bytes(2)  # 26, padded to 28
    return header + frame + SNAP + short(kind(data)) + data


LAYERS = {
    "PPP": (9, ppp),
    "PPP, compressed protocol": (9, lambda data: ppp(data)[1:]),
    "PPP in HDLC": (50, lambda data: b"\xff\3" + ppp(data)),
    "PPP with direction": (204, lambda data: b"\1\xff\3" + ppp(data)),
    "Linux PPP": (166, lambda data: b"\0\3" + ppp(data)),
    "PPPoE link": (51, lambda data: b"\x11\0\0\1" + short(len(data) + 2) + ppp(data)),
    "PPPoE": (1, lambda data: ether(0x8864) + b"\x11\0\0\1" + short(len(data) + 2) + ppp(data)),
    "PPPoE in VLAN": (
        1,
        lambda data: ether(0x8100) + b"\0\5\x88\x64\x11\0\0\1" + short(len(data) + 2) + ppp(data),
    ),
    "Cisco HDLC": (104, lambda data: b"\x0f\0" + short(kind(data)) + data),
    "SNAP": (1, lambda data: MACS + short(8 + len(data)) + SNAP + short(kind(data)) + data),
    "ATM": (100, lambda data: SNAP + short(kind(data)) + data),
    "cooked VLAN": (113, lambda data: bytes(14) + b"\x81\0\0\5" + short(kind(data)) + data),
    "MPLS": (1, lambda data: ether(0x8847) + b"\0\1\0\x40\0\2\1\x40" + data),
    "Ethernet over MPLS": (1, lambda data: ether(0x8847) + b"\0\1\1\x40" + bytes(4) + ether(kind(data)) + data),
    "Ethernet over MPLS, no control word": (1, lambda data: ether(0x8847) + b"\0\1\1\x40" + ether(kind(data)) + data),
    "802.11": (105, wireless),
    "802.11 QoS": (105, lambda data: wireless(data, control=b"\x88\x01", qos=b"\0\0")),
    "802.11, four addresses": (105, lambda data: wireless(data, control=b"\x08\x03", more=MACS[:6])),
    "802.11 QoS, HT control": (105, lambda data: wireless(data, control=b"\x88\x82", qos=b"\0\0\1\2\3\4")),
    "radiotap": (127, radiotap),
    "Prism": (119, lambda data: struct.pack("<II", 0x44, 144) + bytes(136) + wireless(data)),
    "AVS": (163, lambda data: struct.pack(">II", 0x80211001, 64) + bytes(56) + wireless(data)),
    "PPI": (192, lambda data: struct.pack("<BBHI", 0, 0, 8, 105) + wireless(data)),
    "IP in IP": (1, lambda data: in_ip(41 if data[0] >> 4 == 6 else 4, b"", data)),
    "IP in IPv6": (1, lambda data: ether(0x86DD) + ip6(41 if data[0] >> 4 == 6 else 4, len(data)) + data),
    "GRE": (1, lambda data: in_ip(47, b"\0\0" + short(kind(data)), data)),
    "GRE with all fields": (1, lambda data: in_ip(47, b"\xb0\0" + short(kind(data)) + bytes(12), data)),
    "Ethernet over GRE": (1, lambda data: in_ip(47, b"\0\0\x65\x58", ether(kind(data)) + data)),
    "ERSPAN": (
        1,
        lambda data: in_ip(47, b"\x10\0\x88\xbe" + bytes(4) + b"\x10\1" + bytes(6), ether(kind(data)) + data),
    ),
    "PPTP": (1, lambda data: in_ip(47, b"\x30\x81\x88\x0b" + short(len(data) + 4) + bytes(10), b"\xff\3" + ppp(data))),
    "VXLAN": (1, lambda data: in_udp(4789, b"\x08" + bytes(7), ether(kind(data)) + data)),
    "Geneve": (1, lambda data: in_udp(6081, b"\1\0\x65\x58" + bytes(8), ether(kind(data)) + data)),
    "GTP-U": (1, lambda data: in_udp(2152, b"\x30\xff" + short(len(data)) + bytes(4), data)),
    "GTP-U with extension": (
        1,
        lambda data: in_udp(2152, b"\x34\xff" + short(len(data) + 8) + bytes(7) + b"\x85" + b"\1\x10\2\0", data),
    ),
    "L2TP": (1, lambda data: in_udp(1701, b"\x4a\2" + short(len(data) + 18) + bytes(10) + b"\xff\3", ppp(data))),
    "authenticated": (1, lambda data: in_ip(51, short((41 if data[0] >> 4 == 6 else 4) << 8 | 4) + bytes(22), data)),
    "Ethernet in IP": (1, lambda data: in_ip(97, b"\x30\0", ether(kind(data)) + data)),
}


def write(tmp_path, packets, linktype, **options):
    file = tmp_path / "a.pcap"
    file.write_bytes(pcap_bytes(packets, linktype, **options))
    return file


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    return {version: estimate(write(folder, packets, 101)) for version, packets in ((4, PACKETS), (6, PACKETS6))}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("version", [4, 6])
def test_the_flow_is_the_same_under_every_layer(tmp_path, layer, version, expected):
    linktype, wrap = LAYERS[layer]
    packets = [(time, wrap(data)) for time, data in (PACKETS if version == 4 else PACKETS6)]
    assert estimate(write(tmp_path, packets, linktype)) == expected[version]


def test_teredo_and_6in4_carry_ipv6(tmp_path, expected):
    for wrap in (lambda data: in_udp(3544, b"", data), lambda data: in_ip(41, b"", data)):
        assert estimate(write(tmp_path, [(time, wrap(data)) for time, data in PACKETS6], 1)) == expected[6]


def test_extension_headers_are_no_payload(tmp_path, expected):
    """Hop-by-hop options and a routing header, 8 and 24 bytes: the packets are larger, the flow is the same."""
    packets = []
    for time, data in PACKETS6:
        length = struct.unpack(">H", data[4:6])[0] + 32
        extensions = b"\x2b\0\1\4\0\0\0\0" + b"\6\2\0\0" + bytes(20)
        packets.append((time, data[:4] + short(length) + b"\0" + data[7:40] + extensions + data[40:]))
    found = estimate(write(tmp_path, packets, 101))
    assert found.packets == expected[6].packets
    assert found.packet_size == expected[6].packet_size + 32


HIDDEN = {
    "UDP": (1, lambda data: in_udp(443, b"", data), "of UDP"),
    "ESP": (1, lambda data: in_ip(50, bytes(8), data), r"of ESP \(encrypted\)"),
    "ESP in UDP": (1, lambda data: in_udp(4500, bytes(8), data), r"of ESP in UDP \(encrypted\)"),
    "WPA": (105, lambda data: wireless(data, control=b"\x08\x42"), "of encrypted 802.11"),
    "A-MSDU": (105, lambda data: wireless(data, control=b"\x88\x01", qos=b"\x80\0"), "A-MSDU"),
    "beacons": (105, lambda data: b"\x80\0" + data, "802.11 frames without data"),
    "compressed PPP": (9, lambda data: b"\0\xfd" + data, "of compressed PPP"),
    "ARP": (1, lambda data: ether(0x0806) + data, "of ARP"),
    "unknown EtherType": (1, lambda data: ether(0x88FF) + data, "of EtherType 0x88ff"),
    "unknown protocol": (1, lambda data: in_ip(253, b"", data), "of IP protocol 253"),
    "fragments": (101, lambda data: data[:6] + b"\0\1" + data[8:], "of IP fragments"),
    "USB": (220, lambda data: data, "of link type 220"),
}


@pytest.mark.parametrize("case", HIDDEN)
def test_what_is_not_decoded_is_named(tmp_path, case):
    linktype, wrap, message = HIDDEN[case]
    packets = [(time, wrap(data)) for time, data in PACKETS]
    with pytest.raises(CaptureError, match=rf"holds no TCP packet that can be decoded, but {len(packets)} .*{message}"):
        estimate(write(tmp_path, packets, linktype))


def test_what_may_hide_tcp_beside_the_flow_is_a_warning(tmp_path):
    packets = [(time, in_ip(50, bytes(8), data)) for time, data in PACKETS[:7]]
    packets += [(time, ether(0x0800) + data) for time, data in PACKETS]
    found = estimate(write(tmp_path, packets, 1))
    assert found.warnings == ("packets that may hold TCP are not decoded: 7 of ESP (encrypted)",)


def test_a_frame_may_end_anywhere():
    """Cut at every byte before the TCP header: `IndexError`, which counts as cut, or what is there so far."""
    for linktype, wrap in LAYERS.values():
        data = wrap(PACKETS[10][1])
        place = find_tcp(linktype, data)
        assert data[place[0] : place[0] + 20] == PACKETS[10][1][:20]
        for end in range(place[1] - 20):
            with pytest.raises(IndexError):
                find_tcp(linktype, data[:end])


def test_flipped_bytes_end_in_a_place_or_in_a_reason():
    rng = random.Random(7)
    kinds = [(linktype, wrap(PACKETS[10][1])) for linktype, wrap in LAYERS.values()]
    for _ in range(5000):
        linktype, frame = rng.choice(kinds)
        data = bytearray(frame)
        for _ in range(rng.choice((1, 2, 5))):
            data[rng.randrange(len(data))] = rng.choice((0, 255, rng.randrange(256)))
        with contextlib.suppress(UndecodedError, IndexError):
            ip, tcp = find_tcp(linktype, bytes(data))
            assert 0 <= ip < tcp
