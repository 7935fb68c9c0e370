"""Several flows in one file, segments of time, quantiles of the round trip time, delayed acknowledgements."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from scipy.stats import gamma
from synthetic import MSS, capture, frames, pcap_bytes, simulate

from tcpstream.errors import CaptureError, InputError
from tcpstream.traces import estimate, estimate_flows, estimate_segments
from tcpstream.traces.intervals import correlation

SWITCH = 40.0


@pytest.fixture(scope="module")
def changing():
    """A flow that has p = 0.01, R = 0.1 s for 40 s, then p = 0.05, R = 0.2 s, its numbers going on."""
    first = simulate(0.01, seconds=30, seed=2)
    second = simulate(0.05, rtt=0.2, seconds=30, seed=3)
    sent = max(s.seq for s in first.packets if s.payload) + MSS - min(s.seq for s in first.packets if s.payload)
    for packet in second.packets[3:]:
        later = copy.copy(packet)
        later.at_sender, later.at_receiver = packet.at_sender + SWITCH, packet.at_receiver + SWITCH
        later.ts = tuple(stamp + int(1000 * SWITCH) for stamp in packet.ts)
        later.sack = tuple((left + sent, right + sent) for left, right in packet.sack)
        later.seq, later.ack = (packet.seq + sent, packet.ack) if packet.payload else (packet.seq, packet.ack + sent)
        first.packets.append(later)
    return first


@pytest.mark.parametrize("vantage", ["sender", "receiver"])
def test_segments_show_what_the_whole_averages(tmp_path, changing, vantage):
    file = capture(tmp_path, changing, vantage)
    parts = estimate_segments(file, SWITCH)
    assert [(part.start_s, part.end_s) for part in parts] == [(0, 40), (40, pytest.approx(70, abs=2))]
    before, after = (part.estimate for part in parts)
    assert before.loss_event_rate.low <= 0.01 <= before.loss_event_rate.high < after.loss_event_rate.low <= 0.05
    assert before.rtt.value == pytest.approx(0.102, rel=0.02)
    assert after.rtt.value == pytest.approx(0.202, rel=0.02)
    assert before.packets + after.packets == pytest.approx(estimate(file).packets, rel=0.002)
    json.dumps([part.to_dict() for part in parts], allow_nan=False)


def test_the_last_segment_ends_with_the_last_data_packet(tmp_path, changing):
    times = sorted(packet.at_sender for packet in changing.packets if packet.payload)
    assert times[-1] > times[-2] + 1e-4
    assert estimate_segments(capture(tmp_path, changing), SWITCH)[-1].end_s == pytest.approx(
        times[-1] - times[0], abs=2e-6
    )


def test_a_segment_that_shows_nothing_says_why(tmp_path, changing):
    parts = estimate_segments(capture(tmp_path, changing), 3.0)
    assert [part.start_s for part in parts] == [3.0 * i for i in range(24) if not 31 < 3 * i < 38]  # silence between
    few = [part for part in parts if part.estimate is None]
    assert few
    assert all("data packets: at least 10 are needed" in part.reason for part in few)


@pytest.mark.parametrize(
    ("seconds", "message"),
    [(0, "at least 1 s, got 0 s"), (-5, "at least 1 s"), (float("nan"), "finite"), ("x", "number in s")],
)
def test_segments_have_a_length(tmp_path, seconds, message):
    with pytest.raises(InputError, match=message):
        estimate_segments(capture(tmp_path, simulate(0.0, seconds=2)), seconds)


def test_every_flow_of_a_file(tmp_path):
    """Two flows and one too short: the largest is measured, the others are listed, or measured on request."""
    small = frames(simulate(0.02, seconds=5))
    large = frames(simulate(0.02, seconds=20), ipv6=True)
    tiny = [(t, data[:20] + b"\x00\x07" + data[22:]) for t, data in small if data[20:22] == b"\x13\x89"][1:6]
    file = tmp_path / "three.pcap"
    file.write_bytes(pcap_bytes(sorted(small + large + tiny, key=lambda row: row[0])))
    found = estimate(file)
    names = ["10.0.0.1:5001 > 10.0.0.2:40000", "10.0.0.1:7 > 10.0.0.2:40000"]
    assert [other.flow for other in found.others] == names
    assert found.others[0].data_packets == sum(len(data) > 0 and data[2:4] == b"\x05\xdc" for _, data in small)
    parts = estimate_flows(file)
    assert [part.flow for part in parts] == [found.flow, *names]
    assert parts[0].estimate.loss == found.loss
    assert parts[1].estimate.packets == found.others[0].data_packets
    assert parts[2].estimate is None
    assert "at least 10 are needed" in parts[2].reason
    json.dumps([part.to_dict() for part in parts], allow_nan=False)


def test_no_flow_at_all(tmp_path):
    file = tmp_path / "none.pcap"
    file.write_bytes(pcap_bytes([]))
    for call in (estimate_flows, lambda name: estimate_segments(name, 10)):
        with pytest.raises(CaptureError, match="holds no TCP packet"):
            call(file)


def test_quantiles_of_the_round_trip(tmp_path):
    """R + two independent exponential delays, 10 ms each: a gamma law of order 2, beside the packets' own times."""
    run = simulate(0.0, seconds=400, app_gap=0.2, jitter=0.01, timestamps=False)
    found = estimate(capture(tmp_path, run)).rtt_quantiles
    for percent, measured in found.items():
        truth = 0.1 + gamma(2, scale=0.01).ppf(percent / 100)
        assert measured.low - 2e-5 <= truth <= measured.high
        assert measured.high - measured.low < 0.03
    assert list(found) == [10, 50, 90, 99]


@pytest.mark.parametrize(("every", "slack"), [(1, 0.001), (2, 0.02), (4, 0.05)])
def test_packets_per_acknowledgement(tmp_path, every, slack):
    """A receiver that answers every n-th packet, as its acknowledgements in between are left out."""
    run = simulate(0.0, seconds=20)
    acks = [s for s in run.packets[3:] if not s.from_sender]
    kept = {id(s) for s in acks[every - 1 :: every]}
    run.packets = [s for s in run.packets if s.from_sender or s in run.packets[:3] or id(s) in kept]
    found = estimate(capture(tmp_path, run)).packets_per_ack
    assert found.low <= found.value <= found.high
    assert found.value == pytest.approx(every, rel=slack)


def test_losses_do_not_change_the_packets_per_acknowledgement(tmp_path):
    assert estimate(capture(tmp_path, simulate(0.03))).packets_per_ack.value == pytest.approx(1, abs=0.02)


def test_correlation_by_hand():
    """Ten runs of ten equal values are worth ten: 100 / 10; independent values are worth themselves."""
    runs = np.repeat(np.arange(10.0), 10)
    assert correlation(runs) == pytest.approx(10 * 10 / 9)  # of samples: the variance of ten means has nine degrees
    assert correlation(np.random.default_rng(1).normal(size=100_000)) < 3
    assert correlation(np.ones(50)) == 1
