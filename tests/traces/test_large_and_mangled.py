"""What large captures cost and what mangled ones end in: small runs of two programs of validation/."""

from __future__ import annotations

import random
import runpy
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from synthetic import frames, pcap_bytes, simulate

from tcpstream.traces import estimate

VALIDATION = Path(__file__).parents[2] / "validation"
EXAMPLE = VALIDATION.parent / "examples" / "linux-reno.pcap"


def test_mangled_captures_end_in_answers_or_errors(tmp_path):
    """The first 500 of the mutations that validation/fuzz_captures.py tries."""
    ends = runpy.run_path(str(VALIDATION / "fuzz_captures.py"))["fuzz"](0, 500, tmp_path)
    assert sum(ends.values()) == 500
    assert min(ends.values()) > 100


@pytest.mark.parametrize("number", [82, 11114, 13835, 34673, 40456, 56611])
def test_mutations_that_once_gave_no_sound_answer(tmp_path, number):
    """Equal round trips whose mean rounds below them; snapshots of ss that contradict each other; data sent in vain."""
    runpy.run_path(str(VALIDATION / "fuzz_captures.py"))["fuzz"](number, 1, tmp_path)


def test_a_long_capture_is_the_same_path_in_little_memory(tmp_path):
    """The example five times over, as validation/capture_memory.py does: the same rates, 250 bytes a packet at most."""
    file = tmp_path / "long.pcap"
    packets = runpy.run_path(str(VALIDATION / "capture_memory.py"))["repeat"](file, 1_300_000)
    once = estimate(EXAMPLE)
    tracemalloc.start()
    found = estimate(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 250 * packets
    assert found.packets == 5 * once.packets
    assert found.loss.value == pytest.approx(once.loss.value, rel=0.01)
    assert found.rtt.value == pytest.approx(once.rtt.value, rel=0.01)
    assert found.warnings == ()


def test_packets_in_any_order_of_the_file(tmp_path):
    """Packets sorted by their times, with their selective acknowledgements: what a file in order gives."""
    rows = frames(simulate(0.05, seconds=10))
    rows = [row for i, row in enumerate(rows) if i == 0 or row[0] > rows[i - 1][0] + 1e-6]
    mixed = random.Random(5).sample(rows, len(rows))
    results = []
    for name, packets in (("ordered", rows), ("mixed", mixed)):
        file = tmp_path / name
        file.write_bytes(pcap_bytes(packets))
        results.append(estimate(file).to_dict())
    ordered, other = results
    assert any("clock stepped back" in text for text in other.pop("warnings"))
    assert other == {key: value for key, value in ordered.items() if key != "warnings"}


def test_numbers_wrap_where_they_like(tmp_path):
    """The same flow with its numbers 2^31 further on: nothing changes, SACK blocks included."""
    packets = frames(simulate(0.03, seconds=10))
    moved = []
    for time, data in packets:
        sent = data[12:16] == b"\x0a\0\0\1"
        found = bytearray(data)
        places = [24 if sent else 28]
        end, at = 20 + 4 * (data[32] >> 4), 40
        while at < end:
            kind = data[at]
            if kind == 5:
                places += range(at + 2, at + data[at + 1], 4)
            at += data[at + 1] if kind > 1 else 1
        for place in places:
            number = np.uint32(int.from_bytes(found[place : place + 4], "big") ^ 1 << 31)
            found[place : place + 4] = int(number).to_bytes(4, "big")
        moved.append((time, bytes(found)))
    results = []
    for name, rows in (("one", packets), ("other", moved)):
        file = tmp_path / name
        file.write_bytes(pcap_bytes(rows))
        results.append(estimate(file).to_dict())
    assert results[0] == results[1]
