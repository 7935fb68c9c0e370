"""Every container and link layer gives the same flow; damaged, cut and foreign files give one clear error."""

from __future__ import annotations

import gzip
import json
import random
import struct
import sys
import time

import pytest
import zstandard
from synthetic import frames, pcap_bytes, simulate

from tcpstream.errors import CaptureError, MissingExtraError
from tcpstream.traces import estimate

RUN = simulate(0.02, seconds=8)
PACKETS = frames(RUN)
PACKETS6 = frames(RUN, ipv6=True)
MACS = bytes(12)

LINKS = {
    "ethernet": (1, MACS + b"\x08\x00", MACS + b"\x86\xdd"),
    "vlan": (1, MACS + b"\x81\x00\x00\x05\x08\x00", MACS + b"\x81\x00\x00\x05\x86\xdd"),
    "qinq": (1, MACS + b"\x88\xa8\x00\x07\x81\x00\x00\x05\x08\x00", MACS + b"\x88\xa8\x00\x07\x81\x00\x00\x05\x86\xdd"),
    "raw": (101, b"", b""),
    "raw 12": (12, b"", b""),
    "raw 14": (14, b"", b""),
    "sll": (113, bytes(14) + b"\x08\x00", bytes(14) + b"\x86\xdd"),
    "sll2": (276, b"\x08\x00" + bytes(18), b"\x86\xdd" + bytes(18)),
    "null": (0, struct.pack("<I", 2), struct.pack("<I", 30)),
    "null, big endian": (0, struct.pack(">I", 2), struct.pack(">I", 24)),
    "loop": (108, struct.pack(">I", 2), struct.pack(">I", 28)),
}


def write(tmp_path, data, name="a.pcap"):
    file = tmp_path / name
    file.write_bytes(data)
    return file


def framed(packets, header, trailer=b""):
    return [(t, header + data + trailer) for t, data in packets]


def block(kind, body, order):
    body += bytes(-len(body) % 4)
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)


def pcapng_bytes(packets, order="<", linktype=101, resolution=6, old=False):
    """Return a pcapng file with an unused interface, a comment that is not UTF-8, and unknown blocks in between."""
    out = [block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)]
    out.append(block(1, struct.pack(order + "HHI", 147, 0, 0), order))
    option = struct.pack(order + "HHB3xHH", 9, 1, resolution, 0, 0)
    out.append(block(1, struct.pack(order + "HHI", linktype, 0, 0) + option, order))
    for i, (t, data) in enumerate(packets):
        base = 2 ** (resolution & 0x7F) if resolution & 0x80 else 10**resolution
        ticks = int(t) * base + int((t - int(t)) * base)
        numbers = (ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
        head = struct.pack(order + "HHIIII", 1, 0, *numbers) if old else struct.pack(order + "IIIII", 1, *numbers)
        out.append(block(2 if old else 6, head + data, order))
        if i % 100 == 0:
            out.append(block(0xBAD, b"what is this", order))
    return b"".join(out)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return estimate(write(tmp_path_factory.mktemp("expected"), pcap_bytes(PACKETS)))


def same(result, expected):
    assert result.packets == expected.packets
    assert result.loss.value == expected.loss.value > 0
    assert result.loss_event_rate.value == expected.loss_event_rate.value
    assert result.rtt.value == pytest.approx(expected.rtt.value, abs=2e-6)


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("link", LINKS)
def test_link_layers(tmp_path, link, version, expected):
    linktype, header4, header6 = LINKS[link]
    packets, header = (PACKETS, header4) if version == 4 else (PACKETS6, header6)
    result = estimate(write(tmp_path, pcap_bytes(framed(packets, header), linktype)))
    same(result, expected)
    assert result.packet_size == (1500 if version == 4 else 1520)


def test_link_types_of_one_ip_version(tmp_path, expected):
    same(estimate(write(tmp_path, pcap_bytes(PACKETS, 228))), expected)
    same(estimate(write(tmp_path, pcap_bytes(PACKETS6, 229))), expected)


@pytest.mark.parametrize("nano", [False, True])
@pytest.mark.parametrize("order", "<>")
def test_pcap_byte_orders_and_resolutions(tmp_path, order, nano, expected):
    same(estimate(write(tmp_path, pcap_bytes(PACKETS, order=order, nano=nano))), expected)


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("resolution", [6, 9, 0x80 | 20])
@pytest.mark.parametrize("order", "<>")
def test_pcapng(tmp_path, order, resolution, old, expected):
    same(estimate(write(tmp_path, pcapng_bytes(PACKETS, order, resolution=resolution, old=old))), expected)


def test_pcapng_sections_of_both_byte_orders_follow_each_other(tmp_path, expected):
    half = len(PACKETS) // 2
    same(estimate(write(tmp_path, pcapng_bytes(PACKETS[:half], "<") + pcapng_bytes(PACKETS[half:], ">"))), expected)


def test_ethernet_padding_is_no_payload(tmp_path, expected):
    same(estimate(write(tmp_path, pcap_bytes(framed(PACKETS, MACS + b"\x08\x00", bytes(10)), 1))), expected)


def test_ip_length_left_to_offloading(tmp_path, expected):
    """Some drivers leave the IP length 0; then the length on the wire counts."""
    out = [pcap_bytes([])]
    for t, data in PACKETS:
        length = struct.unpack(">H", data[2:4])[0]
        bare = data[:2] + b"\0\0" + data[4:]
        out.append(struct.pack("<IIII", int(t), int((t - int(t)) * 1e6), len(bare), length) + bare)
    same(estimate(write(tmp_path, b"".join(out))), expected)


def test_foreign_packets_are_skipped(tmp_path, expected):
    rng = random.Random(1)
    mixed = []
    for t, data in framed(PACKETS, MACS + b"\x08\x00"):
        mixed.append((t, data))
        kind = rng.choice([b"\x08\x06", b"\x86\xdd", b"\x08\x00", b"\x88\x47", b"\x81\x00", b"\x88\x64", b"\x00\x20"])
        mixed.append((t, MACS + kind + rng.randbytes(rng.randrange(60))))
        mixed.append((t, MACS + b"\x08\x00" + b"\x95" + data[1:]))  # an IP version that does not exist
    same(estimate(write(tmp_path, pcap_bytes(mixed, 1))), expected)


@pytest.mark.parametrize("make", [pcap_bytes, pcapng_bytes])
@pytest.mark.parametrize("cut", [1, 15, 40])
def test_a_file_cut_at_its_end_is_used_as_far_as_it_goes(tmp_path, make, cut, expected):
    result = estimate(write(tmp_path, make(PACKETS)[:-cut]))
    assert any("cut off" in text for text in result.warnings)
    assert result.packets == pytest.approx(expected.packets, abs=1)


def test_snaplen_in_the_options_and_in_the_header(tmp_path, expected):
    result = estimate(write(tmp_path, pcap_bytes(PACKETS, snaplen=44)))
    assert any("cut inside their options" in text for text in result.warnings)
    assert result.packets == expected.packets
    with pytest.raises(CaptureError, match=r"cut inside the TCP headers.*128 bytes"):
        estimate(write(tmp_path, pcap_bytes(PACKETS, snaplen=34)))


def test_clock_stepped_back(tmp_path):
    stepped = [(t - 5 * (i > 300), data) for i, (t, data) in enumerate(PACKETS)]
    assert any("clock stepped back" in text for text in estimate(write(tmp_path, pcap_bytes(stepped))).warnings)


def blocks(kind):
    """Return 20 packets as Enhanced Packet Blocks (6), or as Simple Packet Blocks (3)."""
    form = "<I" if kind == 3 else "<16xII"
    lengths = [[len(data)] * (1 if kind == 3 else 2) for _, data in PACKETS[:20]]
    return b"".join(block(kind, struct.pack(form, *n) + data, "<") for n, (_, data) in zip(lengths, PACKETS))


UDP = b"\x45\x00\x00\x1c" + bytes(5) + b"\x11" + bytes(18)
ERRORS = {
    "empty": (b"", "is empty"),
    "text": (b"time,packets\n0,0\n" * 20, "no capture"),
    "header only": (pcap_bytes([]), "no TCP packet"),
    "half a header": (pcap_bytes([])[:10], "is cut off, and holds no whole packet"),
    "no TCP": (pcap_bytes([(1.0, UDP)] * 20), "no TCP packet"),
    "foreign link": (pcap_bytes(PACKETS, 147), "no TCP packet that can be decoded, but .* of link type 147"),
    "sparse": (pcap_bytes([]) + bytes(10**5), "holds nothing but zeros"),
    "microseconds": (pcap_bytes([]) + struct.pack("<IIII", 1, 5798782, 20, 20), r"damaged \(a time has 5798782 micro"),
    "long packet": (pcap_bytes([]) + struct.pack("<IIII", 1, 5, 1 << 31, 20), r"damaged \(2147483648 bytes are no"),
    "acknowledgements only": (pcap_bytes([p for p in PACKETS if p[1][:4] != b"\x45\0\x05\xdc"]), "payload"),
    "one way": (pcap_bytes([p for p in PACKETS if p[1][:4] == b"\x45\0\x05\xdc"]), "both directions"),
    "few packets": (pcap_bytes(PACKETS[:9]), r"at least 10 are needed"),
    "no time passes": (pcap_bytes([(1.0, data) for _, data in PACKETS]), "same time"),
    "pcapng without interface": (pcapng_bytes([])[:28], "no TCP packet"),
    "packets without interface": (pcapng_bytes([])[:28] + blocks(6), r"no Interface Description Block"),
    "packets without times": (
        pcapng_bytes([]) + blocks(3),
        "20 are Simple Packet Blocks of pcapng, which have no times",
    ),
    "block of no bytes": (pcapng_bytes([])[:4] + bytes(4) + pcapng_bytes([])[8:], r"damaged \(a block of 0 bytes"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_cannot_be_used_gives_one_line_that_names_the_file(tmp_path, case):
    data, message = ERRORS[case]
    with pytest.raises(CaptureError, match=message) as error:
        estimate(write(tmp_path, data, "broken.pcap"))
    assert "broken.pcap" in str(error.value)
    assert "\n" not in str(error.value)


def test_packets_without_times_are_left_out(tmp_path, expected):
    result = estimate(write(tmp_path, pcapng_bytes(PACKETS) + blocks(3)))
    same(result, expected)
    assert result.warnings == (
        "20 packets of the capture are left out: Simple Packet Blocks of pcapng, which have no times",
    )


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(CaptureError, match=r"missing\.pcap: No such file.*pcapng"):
        estimate(tmp_path / "missing.pcap")
    with pytest.raises(CaptureError, match="Is a directory"):
        estimate(tmp_path)
    for nonsense in (None, 7, "a\0b"):
        with pytest.raises(CaptureError, match="pcapng"):
            estimate(nonsense)


def gzipped(data):
    """Two members, as after ``cat a.gz b.gz``."""
    return gzip.compress(data[:5000]) + gzip.compress(data[5000:])


def zstandardized(data):
    one = zstandard.ZstdCompressor()
    return one.compress(data[:5000]) + one.compress(data[5000:])


@pytest.mark.parametrize("make", [pcap_bytes, pcapng_bytes])
@pytest.mark.parametrize("compress", [gzipped, zstandardized])
def test_compressed(tmp_path, compress, make, expected):
    same(estimate(write(tmp_path, compress(make(PACKETS)))), expected)


@pytest.mark.parametrize("compress", [gzipped, zstandardized])
def test_compressed_and_cut_or_damaged(tmp_path, compress, expected):
    data = compress(pcap_bytes(PACKETS))
    result = estimate(write(tmp_path, data[:-9]))
    assert any("is cut off after packet" in text for text in result.warnings)
    assert 30 < result.packets <= expected.packets
    damaged = data[: len(data) // 2] + b"\xff" * 99 + data[len(data) // 2 :]
    assert any("is damaged after packet" in text for text in estimate(write(tmp_path, damaged)).warnings)
    with pytest.raises(CaptureError, match=r"cannot read the capture .*is cut off"):
        estimate(write(tmp_path, data[:14]))
    with pytest.raises(CaptureError, match="is no capture"):
        estimate(write(tmp_path, compress(bytes(10_000))))


def test_zstd_is_optional(tmp_path, monkeypatch):
    file = write(tmp_path, zstandardized(pcap_bytes(PACKETS)))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"zstandard.*tcpstream\[capture\]"):
        estimate(file)


def test_a_hole_in_a_sparse_file_is_not_read_for_minutes(tmp_path, expected):
    """Two gigabytes of nothing, behind the header or behind the packets."""
    for data in (pcap_bytes([]), pcap_bytes(PACKETS)):
        file = write(tmp_path, data)
        with file.open("r+b") as sparse:
            sparse.truncate(2 << 30)
        begin = time.process_time()
        if data == pcap_bytes([]):
            with pytest.raises(CaptureError, match="holds nothing but zeros"):
                estimate(file)
        else:
            result = estimate(file)
            same(result, expected)
            assert any("holds nothing but zeros after packet" in text for text in result.warnings)
        assert time.process_time() - begin < 10


def test_interfaces_of_several_links_and_clocks(tmp_path, expected):
    """One section, data on Ethernet in nanoseconds, acknowledgements on raw IP in microseconds."""
    out = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1), "<")]
    out.append(block(1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HHB3xHH", 9, 1, 9, 0, 0), "<"))
    out.append(block(1, struct.pack("<HHI", 101, 0, 0), "<"))
    for t, data in PACKETS:
        sent = data[12:16] == b"\x0a\0\0\1"
        ticks = round(t * 1e6) * (1000 if sent else 1)
        body = MACS + b"\x08\0" + data if sent else data
        head = struct.pack("<IIIII", int(not sent), ticks >> 32, ticks & 0xFFFFFFFF, len(body), len(body))
        out.append(block(6, head + body, "<"))
    same(estimate(write(tmp_path, b"".join(out))), expected)


@pytest.mark.parametrize("make", [pcap_bytes, pcapng_bytes])
def test_damage_anywhere_is_survived(tmp_path, make):
    """Random bytes, missing and repeated pieces: an estimate or a `CaptureError`, nothing else."""
    rng = random.Random(20)
    short = frames(simulate(0.05, seconds=1.5, seed=3))
    original = make(framed(short, MACS + b"\x08\x00"), linktype=1)
    outcomes = set()
    for _ in range(300):
        data = bytearray(original)
        for _ in range(rng.choice([1, 3, 30])):
            at = rng.randrange(len(data))
            action = rng.randrange(4)
            if action == 0:
                data[at] = rng.randrange(256)
            elif action == 1:
                data[at : at + 4] = rng.choice([b"\xff\xff\xff\xff", bytes(4), rng.randbytes(4)])
            elif action == 2:
                del data[at : at + rng.randrange(1, 40)]
            else:
                data[at:at] = data[at : at + rng.randrange(1, 200)]
        file = write(tmp_path, bytes(data))
        try:
            result = estimate(file)
        except CaptureError:
            outcomes.add("error")
            continue
        outcomes.add("estimate")
        assert 0 <= result.loss.low <= result.loss.value <= result.loss.high <= 1
        assert 0 < result.rtt.value <= result.rto.value
        json.dumps(result.to_dict(), allow_nan=False)
    assert outcomes == {"error", "estimate"}
