"""Mangled captures end in answers or in clear errors: a seeded fuzz of everything that reads them.

Run ``python validation/fuzz_captures.py`` (100,000 mutations, some minutes; ``--count N`` for fewer). Small
captures of a scripted flow (IPv4 and IPv6, VLAN, with and without timestamps and SACK, super-segments, any container,
from either end), and the reports in examples/, are mangled: packets removed, repeated, reordered, turned to one
direction, given absurd times and lengths; bytes flipped, overwritten, deleted, inserted, cut off. Each must end, within
ten seconds of computing, in an estimate that is sound (finite, intervals around values, rates in 0..1) or in a one-line
`TcpstreamError`. The first other end stops the run and names its number; ``--first N --count 1`` repeats it.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import os
import random
import signal
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

from tcpstream.errors import TcpstreamError
from tcpstream.traces import Part, PathEstimate, estimate, estimate_flows, estimate_report, estimate_segments, is_report

ROOT = FilePath(__file__).parents[1]
RESULTS = ROOT / "validation" / "results" / "fuzz_captures.json"
HANG = 10
"""Seconds of computing after which a mutation counts as hanging."""

Packet = tuple[int, bytes, int]
"""Time [ns], bytes kept, length on the wire [bytes]."""


def flow(*, ipv6: bool, vlan: bool, timestamps: bool, sack: bool, receiver: bool, size: int) -> list[Packet]:
    """Return a download of 30 packets of `size` bytes, three of them lost, seen at the sender or the receiver."""
    first = 2**32 - 9 * size
    events: list[Any] = []
    lost = {8: 0.12, 9: 0.12, 20: 0.3}
    there, back = (0.05, 0.0) if receiver else (0.0, 0.05)
    for i in range(30):
        if i in lost:
            events.append((0.1 + there + 0.01 * i + lost[i], True, first + 1 + i * size, 1001, 16, size, ()))
        if i not in lost or not receiver:
            events.append((0.1 + there + 0.01 * i, True, first + 1 + i * size, 1001, 16, size, ()))
    arrived: set[int] = set()
    for time, i in sorted((0.10001 + there + back + 0.01 * i + lost.get(i, 0), i) for i in range(30)):
        arrived.add(i)
        edge = next(n for n in range(31) if n not in arrived)
        block = ((first + 1 + i * size, first + 1 + (i + 1) * size),) if sack and i > edge else ()
        events.append((time, False, 1001, first + 1 + edge * size, 16, 0, block))
    events += [(0.0, True, first, 0, 2, 0, ()), (back + 1e-5, False, 1000, first + 1, 18, 0, ())]
    events.append((0.0501, True, first + 1, 1001, 16, 0, ()))
    return [packet(event, ipv6, vlan, timestamps) for event in sorted(events, key=lambda e: (e[0], not e[1]))]


def packet(event: Any, ipv6: bool, vlan: bool, timestamps: bool) -> Packet:
    """Return the headers of a packet on Ethernet."""
    time, sent, seq, ack, flags, payload, blocks = event
    options = b"\x02\x04\x05\xb4" if flags & 2 else b""
    if timestamps:
        options += b"\x01\x01\x08\x0a" + struct.pack(">II", int(1000 * time) + 7, int(1000 * max(time - 0.05, 0)) + 7)
    for left, right in blocks:
        options += b"\x01\x01\x05\x0a" + struct.pack(">II", left % 2**32, right % 2**32)
    ports = (5001, 40000) if sent else (40000, 5001)
    offset = (5 + len(options) // 4) << 12 | flags
    tcp = struct.pack(">HHIIHHHH", *ports, seq % 2**32, ack % 2**32, offset, 1000, 0, 0) + options
    ends = (b"\x0a\0\0\1", b"\x0a\0\0\2") if sent else (b"\x0a\0\0\2", b"\x0a\0\0\1")
    if ipv6:
        ip = struct.pack(">IHBB", 6 << 28, len(tcp) + payload, 6, 64) + b"".join(bytes(12) + end for end in ends)
    else:
        ip = struct.pack(">BBHIBBH", 0x45, 0, 20 + len(tcp) + payload, 0, 64, 6, 0) + b"".join(ends)
    link = bytes(12) + (b"\x81\0\0\5" if vlan else b"") + (b"\x86\xdd" if ipv6 else b"\x08\0")
    data = link + ip + tcp
    return 1_700_000_000 * 10**9 + round(time * 1e9), data, len(data) + payload


def pcap(packets: list[Packet], order: str) -> bytes:
    """Return a pcap file in microseconds."""
    out = [struct.pack(order + "IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for time, data, length in packets:
        seconds, rest = divmod(time, 10**9)
        out.append(struct.pack(order + "IIII", seconds % 2**32, rest // 1000, len(data), length) + data)
    return b"".join(out)


def pcapng(packets: list[Packet], order: str) -> bytes:
    """Return a pcapng file in microseconds."""
    out = [struct.pack(order + "IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)]
    out.append(struct.pack(order + "IIHHII", 1, 20, 1, 0, 65535, 20))
    for time, data, length in packets:
        body = data + bytes(-len(data) % 4)
        ticks, size = time // 1000 % 2**64, 32 + len(body)
        out.append(struct.pack(order + "IIIIIII", 6, size, 0, ticks >> 32, ticks % 2**32, len(data), length))
        out.append(body + struct.pack(order + "I", size))
    return b"".join(out)


def mangle_packets(rng: random.Random, packets: list[Packet]) -> list[Packet]:
    """Return packets with something done to some of them."""
    found = list(packets)
    for _ in range(rng.choice((0, 1, 1, 3, 20))):
        if not found:
            break
        at, action = rng.randrange(len(found)), rng.randrange(8)
        time, data, length = found[at]
        if action == 0:
            del found[at : at + rng.choice((1, 1, 5, 40))]
        elif action == 1:
            found.insert(rng.randrange(len(found) + 1), found[at])
        elif action == 2:
            found[at:] = rng.sample(found[at:], len(found) - at)
        elif action == 3:
            found[at] = (rng.choice((0, 1, 10**18 * 4, 2**62, time - 10**10, time + 10**13)), data, length)
        elif action == 4:
            found[at] = (time, data, rng.choice((0, 1, 65535, 2**20, 2**31, 2**32 - 1)))
        elif action == 5:
            found = [p for p in found if (b"\x13\x89\x9c\x40" in p[1]) == bool(at % 2)]
        elif action == 6:
            found[at] = (time, data[: rng.randrange(len(data) + 1)], length)
        else:
            place = rng.randrange(12, max(len(data), 13))
            found[at] = (time, data[:place] + rng.randbytes(rng.choice((1, 2, 4))) + data[place + 4 :], length)
    return found


def mangle_bytes(rng: random.Random, data: bytes) -> bytes:
    """Return bytes with something done to some of them."""
    found = bytearray(data)
    for _ in range(rng.choice((0, 0, 1, 2, 10))):
        if not found:
            break
        at, action = rng.randrange(len(found)), rng.randrange(6)
        if action == 0:
            found[at] ^= 1 << rng.randrange(8)
        elif action == 1:
            found[at : at + 4] = rng.choice((bytes(4), b"\xff" * 4, b"\x7f\xff\xff\xff", rng.randbytes(4)))
        elif action == 2:
            del found[at : at + rng.randrange(1, 50)]
        elif action == 3:
            found[at:at] = found[at : at + rng.randrange(1, 200)]
        elif action == 4 and rng.random() < 0.3:
            del found[at:]
        else:
            found[at] = rng.randrange(256)
    return bytes(found)


def case(number: int) -> tuple[bytes, Callable[[FilePath], Any]]:
    """Return mutation `number` and what is asked of it."""
    rng = random.Random(number)
    if rng.random() < 0.1:
        text = (ROOT / "examples" / rng.choice(("linux-reno-ss.txt", "linux-reno-iperf3.json"))).read_bytes()
        text = text[: rng.choice((2500, len(text)))]
        return mangle_bytes(rng, text), estimate_report
    flags = {name: rng.random() < 0.5 for name in ("ipv6", "vlan", "timestamps", "sack", "receiver")}
    packets = mangle_packets(rng, flow(**flags, size=rng.choice((1, 1000, 1448, 1460, 20000))))
    data = mangle_bytes(rng, rng.choice((pcap, pcapng))(packets, rng.choice("<>")))
    calls = (estimate, estimate, estimate_flows, lambda file: estimate_segments(file, 1.0))
    return data, rng.choice(calls)


def sound(answer: Any) -> None:
    """Assert that an answer is one."""
    for found in answer if isinstance(answer, list) else [answer]:
        values = found.to_dict()
        json.dumps(values, allow_nan=False)
        inner = found.estimate if isinstance(found, Part) else found
        if inner is None:
            assert found.reason
            continue
        values = inner.to_dict()
        for key, (low, high) in values["intervals"].items():
            assert low <= values[key] <= high, key
        assert 0 <= values["loss"] <= 1
        assert 0 < values["rtt_s"] <= values["rto_s"]
        if isinstance(inner, PathEstimate):
            assert 0 <= inner.loss_event_rate.value <= 1
            has_ends(inner)


def has_ends(found: PathEstimate) -> None:
    """Assert that the path of an estimate, if it makes one, lies between the ends of its intervals."""
    try:
        path = found.path(sender="classic")
    except TcpstreamError:
        return
    try:
        best, worst = found.ends(sender="classic")
    except TcpstreamError as error:
        raise AssertionError(str(error)) from error
    assert best is None or best.loss <= path.loss
    assert path.loss <= worst.loss


def hangs(*_: object) -> None:
    raise TimeoutError(f"still at work after {HANG} s")


def fuzz(first: int, count: int, folder: FilePath) -> dict[str, int]:
    """Try mutations `first` to ``first + count - 1``; return how many ended in an answer and in an error."""
    ends = collections.Counter[str]()
    file = folder / "mangled"
    signal.signal(signal.SIGVTALRM, hangs)
    for number in range(first, first + count):
        data, ask = case(number)
        file.write_bytes(data)
        signal.setitimer(signal.ITIMER_VIRTUAL, HANG)
        try:
            is_report(file)
            sound(ask(file))
            ends["answers"] += 1
        except TcpstreamError as error:
            if "\n" in str(error):
                raise
            ends["errors"] += 1
        except BaseException as error:
            error.add_note(f"mutation {number}")
            raise
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return dict(ends)


def stretch(first: int, count: int) -> dict[str, int]:
    """Try some mutations in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        return fuzz(first, count, FilePath(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100_000)
    given = parser.parse_args()
    end, total = given.first + given.count, collections.Counter[str]()
    starts = range(given.first, end, 200)
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        for ends in pool.map(stretch, starts, (min(200, end - start) for start in starts)):
            total.update(ends)
    print(json.dumps(total))
    if (given.first, given.count) == (0, 100_000):
        RESULTS.write_text(json.dumps({"mutations": given.count, **total}, indent=2) + "\n")


if __name__ == "__main__":
    main()
