"""How much memory, and how long, a large capture takes.

Run ``python validation/capture_memory.py`` (a few minutes, 100 MB of scratch space; ``--megabytes N`` for another
size). The flow of examples/linux-reno.pcap is repeated, its times and numbers going on, to a file of that size, headers
only: the most packets that a megabyte can hold. A process of its own measures it.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path as FilePath

import dpkt

from tcpstream.traces import estimate

ROOT = FilePath(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "linux-reno.pcap"
RESULTS = ROOT / "validation" / "results" / "capture_memory.json"
WORD = 2**32


def repeat(target: FilePath, least: int) -> int:
    """Write the example's flow again and again until the file has `least` bytes; return the number of packets."""
    with EXAMPLE.open("rb") as file:
        reader = dpkt.pcap.Reader(file)
        linktype, packets = reader.datalink(), [(round(1e6 * time), dpkt.ip.IP(data)) for time, data in reader]
    period = packets[-1][0] - packets[0][0] + 100_000
    plain = [(time, ip) for time, ip in packets if not ip.data.flags & dpkt.tcp.TH_SYN]
    sender = max(plain, key=lambda row: row[1].len)[1].src
    first = min(ip.data.seq for _, ip in plain if ip.src == sender)
    length = max(ip.data.seq + ip.len - 20 - 4 * ip.data.off for _, ip in plain if ip.src == sender) - first
    count = cycle = 0
    with target.open("wb") as file:
        file.write(bytes(dpkt.pcap.FileHdr(linktype=linktype)))
        while file.tell() < least:
            for moment, ip in plain if cycle else packets:
                data = moved(ip, sender, cycle * length, cycle * period // 1000)
                seconds, rest = divmod(moment + cycle * period, 10**6)
                file.write(bytes(dpkt.pcap.PktHdr(tv_sec=seconds, tv_usec=rest, caplen=len(data), len=ip.len)) + data)
                count += 1
            cycle += 1
    return count


def moved(ip: dpkt.ip.IP, sender: bytes, numbers: int, milliseconds: int) -> bytes:
    """Return the headers of a packet with its numbers of the data's direction, and its timestamps, so much later."""
    data, tcp = bytearray(bytes(ip)), 4 * ip.hl
    shift(data, tcp + (4 if ip.src == sender else 8), numbers)
    at, end = tcp + 20, tcp + 4 * ip.data.off
    while at < end and data[at] != 0:
        if data[at] == 1:
            at += 1
            continue
        step = numbers if data[at] == 5 else milliseconds if data[at] == 8 else 0
        for word in range(at + 2, at + data[at + 1] - 3, 4) if step else ():
            shift(data, word, step)
        at += data[at + 1]
    return bytes(data[:end])


def shift(data: bytearray, at: int, step: int) -> None:
    data[at : at + 4] = ((int.from_bytes(data[at : at + 4], "big") + step) % WORD).to_bytes(4, "big")


def measure(file: str) -> None:
    """Print what estimating a capture takes, over what the libraries alone take."""
    import_module("scipy.special")  # loads with the first interval
    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    found = estimate(file)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = round(time.perf_counter() - begin, 1)
    print(
        json.dumps({"data_packets": found.packets, "peak_mb": round((after - before) * 1024 / 1e6), "seconds": seconds})
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--measure", metavar="FILE", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = FilePath(folder) / "large.pcap"
        packets = repeat(file, given.megabytes * 10**6)
        command = [sys.executable, __file__, "--measure", str(file)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    found = {"megabytes": given.megabytes, "packets": packets, **found}
    recorded = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    kept = [row for row in recorded if row["megabytes"] != given.megabytes]
    RESULTS.write_text(json.dumps(sorted([*kept, found], key=lambda row: row["megabytes"]), indent=2) + "\n")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
