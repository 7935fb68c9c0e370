"""The kernel's BBR over loss rates, up to where it breaks down: ``python validation/linux/bbr_losses.py``, as root.

Downloads of three minutes behind links of 8 Mbit/s with room for one bandwidth-delay product, all at the same time.
Prints the table of docs/kernel.md: T beside what `tcpstream.throughput` says. With the record as it is nothing is made.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product

from bottleneck_tables import LATE, path
from bottlenecks import Bottleneck, apart, measured_throughputs
from namespaces import UnavailableError, check
from records import RECORDED

import tcpstream
from tcpstream import InputError
from tcpstream.system.log import appending, read

RECORD = RECORDED.with_name("linux_bbr_losses.jsonl")

P, ROUND_TRIPS, SEED = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25), (0.02, 0.05, 0.15), 2031


def conditions() -> Iterator[Bottleneck]:
    """Give the conditions."""
    for p, rtt in product(P, ROUND_TRIPS):
        yield Bottleneck("bbr", 8.0, rtt, 1.0, p)


def main() -> int:
    """Make the downloads where they are not recorded, and print the table."""
    if not list(read(RECORD)):
        try:
            check()
        except UnavailableError as error:
            print(error, file=sys.stderr)
            return 2
        with appending(RECORD) as append:
            for line in apart(measured_throughputs, list(conditions()), SEED):
                append(line)
    print("| p | " + " | ".join(f"R = {1000 * rtt:g} ms" for rtt in ROUND_TRIPS) + " |")
    print("|--:|" + "--:|" * len(ROUND_TRIPS))
    cells: dict[float, list[str]] = {}
    for line, one in zip(read(RECORD), conditions(), strict=True):
        try:
            ratio = f"{tcpstream.throughput(path(one)) / line['throughput']:.3f}"
        except InputError:
            ratio = "no answer"
        disturbed = line["stalled_packets"] or line["late_99"] > LATE
        text = f"{line['throughput']:.0f} ± {2 * line['throughput_error']:.0f}, {ratio}"
        cells.setdefault(one.p, []).append(f"({text})" if disturbed else text)
    for p, row in cells.items():
        print(f"| {p:g} | {' | '.join(row)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
