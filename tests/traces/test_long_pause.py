"""A flow that lasts long for one late packet alone: what is said of the pause before it."""

from dataclasses import replace

import pytest
from synthetic import MSS, Seen, capture, simulate

from tcpstream.traces import estimate
from tcpstream.traces.waiting import pauses


@pytest.fixture(scope="module")
def run():
    return simulate(0.02, seed=2)


def estimated(tmp_path, run, pause, payload, *, back=0, flags=16):
    """The estimate where one more packet comes so long after the last, its number so far back, and is acknowledged."""
    last = max(run.packets, key=lambda seen: seen.at_sender)
    top = max((seen for seen in run.packets if seen.payload), key=lambda seen: seen.at_sender)
    at, end = last.at_sender + pause, top.seq + top.payload - back
    late = Seen(at, at + 0.05, True, end, top.ack, payload, flags=flags, ts=top.ts)
    ack = Seen(at + 0.1, at + 0.05, False, top.ack, max(end + payload, top.seq + top.payload), 0, ts=last.ts)
    return estimate(capture(tmp_path, replace(run, packets=[*run.packets, late, ack])))


def said(found):
    return [text for text in found.warnings if "no data were sent" in text]


def test_a_packet_a_day_later(tmp_path, run):
    plain, found = estimate(capture(tmp_path, run)), estimated(tmp_path, run, 86_400, MSS)
    (text,) = said(found)
    assert text.startswith("no data were sent for 8.64e+04 s of 8.644e+04 s, and no timer lasts so long")
    without = float(text.rpartition("without this pause ")[2].removesuffix(" packets/s"))
    assert without == pytest.approx(plain.throughput_pps.value, rel=0.01)
    assert found.throughput_pps.value == pytest.approx(plain.throughput_pps.value * 40 / 86_440, rel=0.02)
    assert text in found.to_dict()["warnings"]


@pytest.mark.parametrize(
    "late",
    [{"payload": 0, "flags": 17}, {"payload": 0, "back": 1}, {"payload": 1, "back": 1}],
    ids=["fin", "keep-alive", "keep-alive of a byte"],
)
def test_packets_without_new_data_make_no_pause(tmp_path, run, late):
    plain, found = estimate(capture(tmp_path, run)), estimated(tmp_path, run, 86_400, **late)
    assert (found.duration_s, found.throughput_pps) == (plain.duration_s, plain.throughput_pps)
    assert found.warnings == plain.warnings


@pytest.mark.parametrize(("pause", "count"), [(60, 0), (110, 0), (130, 1)])
def test_a_timer_may_last_two_minutes(tmp_path, run, pause, count):
    assert len(said(estimated(tmp_path, run, pause, MSS))) == count


def test_most_of_the_time():
    """A pause of 200 s in 420 s is not, in 380 s it is; with 4 packets in the other 180 s."""
    assert pauses([0.0, 110, 310, 420], 1) == []
    (text,) = pauses([0.0, 90, 290, 380], 4 / 380)
    assert text.endswith(f"without this pause {4 / 180:.4g} packets/s")
    (text,) = pauses([0.0, 0, 0, 380], 4 / 380)
    assert text.endswith("that of the whole time")
