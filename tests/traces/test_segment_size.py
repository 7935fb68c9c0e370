"""The full packet: by the receiver's announcement, by the own link, by the data; with offloading and without."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from synthetic import frames, pcap_bytes, simulate

from tcpstream.traces import estimate
from tcpstream.traces.segment_size import segment_size

STAMPS = 52
"""Headers of IPv4 and TCP with timestamps."""


def sizes(**shares):
    """Return payloads: `s1448=90` is ninety packets of 1448 bytes."""
    return np.concatenate([np.full(count, int(name[1:]), dtype=np.uint32) for name, count in shares.items()])


SUPER = {f"s{1448 * n}": 5 for n in range(1, 11)}
SMALLER = {f"s{1348 * n}": 5 for n in range(1, 11)}
CASES = {
    "full packets": (sizes(s1448=90, s300=10), (1460, 1460), 1448),
    "a server that announces less than it sends": (sizes(s1418=90, s500=10), (1460, 1380), 1418),
    "the same, offloaded": (sizes(s1418=50, s2836=20, s14180=30), (1460, 1380), 1418),
    "a receiver that announces less": (sizes(s1368=90, s77=10), (1380, 1460), 1368),
    "that, and offloading without a single full packet": (sizes(s13680=90, s4104=5, s900=5), (1380, 1460), 1368),
    "a smaller link of the sender": (sizes(s1348=90), (1460, 1360), 1348),
    "a smaller link on the way": (sizes(s1348=90, s20=1), (1460, 1460), 1348),
    "that, offloaded": (sizes(**SMALLER, s700=2), (1460, 1460), 1348),
    "that, without a single full packet": (sizes(s13480=40, s26960=40, s5000=3), (1460, 1460), 1348),
    "offloaded": (sizes(**SUPER, s3333=3), (1460, 1460), 1448),
    "a receiver of jumbo frames": (sizes(**SUPER, s28960=50), (8960, 1460), 1448),
    "a sender of jumbo frames": (sizes(**SUPER, s28960=50), (1460, 8960), 1448),
    "jumbo frames": (sizes(s8948=90, s3000=10), (8960, 8960), 8948),
    "jumbo frames, offloaded": (sizes(s8948=30, s17896=30, s62636=30), (8960, 8960), 8948),
    "loopback": (sizes(s65483=30, s32741=5), (65495, 65495), 65483),
    "a small link on the way, without a single full packet": (sizes(s14000=40, s13000=40), (1460, 1460), 1000),
    "messages": (sizes(s100=50, s200=30, s300=20), (1460, 1460), 300),
    "records of 16 KiB, offloaded": (np.arange(100, 16000, 77).astype(np.uint32), (1460, 1460), 1448),
    "no SYN, full packets": (sizes(s1448=90, s300=10), (0, 0), 1448),
    "no SYN, PPPoE": (sizes(s1440=90), (0, 0), 1440),
    "no SYN, offloaded PPPoE": (sizes(s14400=30, s1440=10, s2880=20), (0, 0), 1440),
    "no SYN, pairs only": (sizes(s2896=90), (0, 0), 1448),
    "no SYN, jumbo frames": (sizes(s8948=90, s3000=10), (0, 0), 8948),
    "no SYN of the receiver": (sizes(s1418=90), (0, 1380), 1418),
    "two routes": (sizes(s1448=40, s1386=60), (1460, 1460), 1448),
    "an absurd announcement": (sizes(s1448=5), (1, 3), 1448),
}


@pytest.mark.parametrize("case", CASES)
def test_the_full_packet(case):
    payload, announced, expected = CASES[case]
    assert segment_size(payload, STAMPS, 4, announced) == expected


def test_ipv6_and_options_count():
    assert segment_size(sizes(s14280=9), 20 + STAMPS, 16, (1440, 1440)) == 1428
    assert segment_size(sizes(s14600=9), 40, 4, (1460, 1460)) == 1460


def server(tmp_path, announces, *, merge=1, handshake=True):
    """A capture in which the sender announces an MSS of its own, and the receiver 1460; packets have 1448 bytes."""
    packets = []
    for time, data in frames(simulate(0.02, seconds=20, seed=8), merge=merge, handshake=handshake):
        place = data.find(b"\2\4\5\xb4", 40)
        if place > 0 and data[12:16] == b"\x0a\0\0\1":
            data = data[: place + 2] + struct.pack(">H", announces) + data[place + 4 :]
        packets.append((time, data))
    file = tmp_path / "server.pcap"
    file.write_bytes(pcap_bytes(packets))
    return estimate(file)


@pytest.mark.parametrize("merge", [1, 3])
def test_a_server_that_announces_less_than_it_sends_has_each_packet_counted_once(tmp_path, merge):
    plain = server(tmp_path, 1460)
    found = server(tmp_path, 1380, merge=merge)
    assert (found.packets, found.packet_size) == (plain.packets, 1500)
    assert found.loss.value == pytest.approx(plain.loss.value, rel=0.02)
    assert found.throughput_pps.value == pytest.approx(plain.throughput_pps.value, rel=0.01)


def test_in_the_middle_of_a_connection_the_data_tell(tmp_path):
    assert server(tmp_path, 1380, merge=4, handshake=False).packet_size == 1500
