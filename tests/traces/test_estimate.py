"""Estimates against flows whose loss and delay are known, and against a real capture of known conditions."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import dpkt
import numpy as np
import pytest
from synthetic import MSS, Seen, capture, frames, pcap_bytes, simulate

from tcpstream.errors import CaptureError, InputError, MissingExtraError
from tcpstream.numerics.confidence import wilson
from tcpstream.traces import estimate
from tcpstream.traces.intervals import batch_means
from tcpstream.traces.timing import timers

EXAMPLE = Path(__file__).parents[2] / "examples" / "linux-reno.pcap"
VANTAGES = ["sender", "receiver", 0.5]
again = cache(simulate)
"""A flow that nobody changes, for every vantage."""

NAMES = {"sender": "sender", "receiver": "receiver", 0.5: "between"}


def holds(measured, truth):
    assert measured.low <= truth <= measured.high, (measured, truth)


def true_rtt(run):
    data = [s.at_receiver - s.at_sender for s in run.packets if s.payload]
    acks = [s.at_sender - s.at_receiver for s in run.packets if not s.payload and not s.from_sender]
    return float(np.mean(data) + np.mean(acks)) + 2e-5


@pytest.mark.parametrize("vantage", VANTAGES)
@pytest.mark.parametrize(
    "conditions",
    [
        {"p": 0.02, "seed": 2},
        {"p": 0.02, "timestamps": False, "sender_opens": False},
        {"p": 0.01, "rtt": 0.2, "seed": 3, "sender_opens": False},
        {"p": 0.05, "seed": 4},
        {"p": 0.02, "sack": False, "seed": 5},
        {"p": 0.02, "app_gap": 0.02, "seed": 2},
    ],
    ids=lambda c: ",".join(f"{k}={v}" for k, v in c.items()),
)
def test_independent_losses(tmp_path, conditions, vantage):
    run = again(**conditions)
    result = estimate(capture(tmp_path, run, vantage))
    assert result.vantage == NAMES[vantage]
    holds(result.loss, conditions["p"])
    holds(result.loss_event_rate, conditions["p"])
    rtt = true_rtt(run)
    assert result.rtt.low * 0.999 <= rtt <= result.rtt.high * 1.001  # Karn leaves out some of the packets
    assert result.rtt.value == pytest.approx(rtt, rel=0.12)  # a paced source adds its waiting
    assert result.rto.low * 0.999 <= rtt + 0.2 <= result.rto.high * 1.001
    assert result.packets == pytest.approx(run.sent, rel=0.01)
    delivered = len({s.seq for s in run.packets if s.payload and not s.lost})
    assert result.throughput_pps.value == pytest.approx(delivered / result.duration_s, rel=0.01)


@pytest.mark.parametrize("vantage", VANTAGES)
def test_bursts_have_a_lower_event_rate(tmp_path, vantage):
    run = again(0.01, seconds=80, process="round", seed=7)
    result = estimate(capture(tmp_path, run, vantage))
    holds(result.loss_event_rate, 0.01)
    holds(result.loss, run.dropped / run.sent)
    assert result.loss.value > 3 * result.loss_event_rate.value


def test_at_the_sender_every_drop_is_counted_and_every_timeout_seen(tmp_path):
    run = simulate(0.01, process="round", seed=1)
    result = estimate(capture(tmp_path, run))
    assert run.dropped == round(result.loss.value * run.sent)
    assert run.timeouts == result.timeouts > 3


def test_intervals_cover(tmp_path):
    """Over many short flows the intervals hold the truth about as often as they claim."""
    inside = np.zeros(2)
    for seed in range(15):
        result = estimate(capture(tmp_path, simulate(0.03, seconds=12, seed=seed)))
        inside += [m.low <= 0.03 <= m.high for m in (result.loss, result.loss_event_rate)]
    assert inside.min() >= 12  # binomial(15, 0.95) is below 12 with probability 0.006


def test_super_segments_count_as_packets_on_the_wire(tmp_path):
    run = simulate(0.01, seed=8)
    plain = estimate(capture(tmp_path, run, name="plain.pcap"))
    for handshake in (True, False):
        joined = estimate(capture(tmp_path, run, name="joined.pcap", merge=4, handshake=handshake))
        assert joined.packets == plain.packets
        assert joined.packet_size == plain.packet_size == MSS + 52
        assert joined.loss.value == pytest.approx(plain.loss.value, rel=0.02)


def test_without_timestamps_or_handshake(tmp_path):
    run = simulate(0.02, timestamps=False)
    result = estimate(capture(tmp_path, run, handshake=False))
    assert result.rtt.value == pytest.approx(true_rtt(run), rel=0.005)
    assert any("no handshake" in text for text in result.warnings)
    with pytest.raises(CaptureError, match=r"receiver.*RTT cannot be measured"):
        estimate(capture(tmp_path, run, "receiver", handshake=False))


def test_receiver_without_timestamps_says_how_little_it_knows(tmp_path):
    result = estimate(capture(tmp_path, simulate(0.02, timestamps=False), "receiver"))
    assert any("handshake" in text for text in result.warnings)
    assert result.rtt.high - result.rtt.low > 0.9 * result.rtt.value


@pytest.mark.parametrize("evidence", ["dsack", "timestamps", "speed"])
def test_needless_retransmissions_are_no_losses(tmp_path, evidence):
    """Every 20th packet is sent again 60 ms later, before its acknowledgement comes at 100 ms: nothing was lost."""
    run = simulate(0.0, seconds=20, app_gap=0.02, timestamps=evidence == "timestamps")
    extra = []
    for packet in [s for s in run.packets if s.payload][::20]:
        later = 0.06
        ts = (packet.ts[0] + 60, packet.ts[1]) if packet.ts else None
        again = {**vars(packet), "at_sender": packet.at_sender + later, "at_receiver": packet.at_receiver + later}
        extra.append(Seen(**{**again, "ts": ts}))
        if evidence == "dsack":
            answered = [s for s in run.packets if not s.from_sender and s.at_receiver < packet.at_receiver + later]
            report = {"sack": ((packet.seq, packet.seq + MSS),), "ack": max(s.ack for s in answered)}
            times = {"at_receiver": packet.at_receiver + later, "at_sender": packet.at_receiver + later + 0.05}
            extra.append(Seen(**{**vars(answered[-1]), **report, **times}))
    run.packets += extra
    result = estimate(capture(tmp_path, run))
    assert result.loss.value == result.loss_event_rate.value == 0
    assert result.packets == run.sent + sum(s.payload > 0 for s in extra)


@pytest.mark.parametrize("vantage", VANTAGES)
def test_probes_of_a_closed_window_are_no_losses(tmp_path, vantage):
    """Before every tenth packet the window closes, and a probe of the next byte is sent in vain."""
    run = simulate(0.0, seconds=30, app_gap=0.3)
    for packet in [s for s in run.packets if s.payload][10::10]:
        last = max((s for s in run.packets if not s.from_sender and s.ack == packet.seq), key=lambda s: s.at_sender)
        for before, sent, window in ((0.17, False, 0), (0.11, True, 0), (0.05, False, 0), (0.001, False, 65535)):
            moved = packet.at_sender - before
            source = packet if sent else last
            times = {"at_sender": moved, "at_receiver": moved + 0.05 * (1 if sent else -1)}
            run.packets.append(Seen(**{**vars(source), **times, "payload": int(sent), "window": window}))
    result = estimate(capture(tmp_path, run, vantage))
    assert result.loss.value == result.loss_event_rate.value == 0
    assert result.packets == run.sent


@pytest.mark.parametrize("timestamps", [True, False])
def test_reordering_is_no_loss(tmp_path, timestamps):
    run = simulate(0.0, seconds=20, timestamps=timestamps)
    data = [s for s in run.packets if s.payload]
    for first, second in list(pairwise(data))[10::25]:
        if second.at_receiver - first.at_receiver < 2e-3:
            first.at_receiver, second.at_receiver = second.at_receiver, first.at_receiver
    assert estimate(capture(tmp_path, run, "receiver")).loss.value == 0


def test_packets_captured_twice_count_once(tmp_path):
    run = simulate(0.02)
    once = frames(run)
    twice = sorted(once + [(t + 2e-5, data) for t, data in once], key=lambda row: row[0])
    file = tmp_path / "twice.pcap"
    file.write_bytes(pcap_bytes(twice))
    result = estimate(file)
    assert result.loss.value == pytest.approx(estimate(capture(tmp_path, run)).loss.value, rel=0.02)
    assert any("twice" in text for text in result.warnings)


def numbered(rows, first=60_000):
    """Return packets whose IP identification counts on, from one to the next, and begins again at 2^16."""
    return [(t, data[:4] + (n % 65_535 + 1).to_bytes(2, "big") + data[6:]) for n, (t, data) in enumerate(rows, first)]


@pytest.mark.parametrize("vantage", ["sender", "receiver"])
@pytest.mark.parametrize("timestamps", [True, False])
def test_copies_with_the_same_identification_count_once(tmp_path, vantage, timestamps):
    """As of both sides of a slow router: 5 ms apart, in both directions, also in the handshake."""
    run = simulate(0.02, seconds=15, rtt=0.03, timestamps=timestamps)
    once = numbered(frames(run, vantage))
    files = tmp_path / "once.pcap", tmp_path / "twice.pcap"
    files[0].write_bytes(pcap_bytes(once))
    files[1].write_bytes(pcap_bytes(sorted(once + [(t + 5e-3, data) for t, data in once], key=lambda row: row[0])))
    plain, found = map(estimate, files)
    assert (found.packets, found.loss, found.rtt) == (plain.packets, plain.loss, plain.rtt)
    assert len(found.warnings) == len(plain.warnings) + 1
    seen = sum(s.payload > 0 and not (s.lost and vantage == "receiver") for s in run.packets)
    assert [text for text in found.warnings if f"{seen} data packets are in the capture again" in text]


def test_senders_that_do_not_number_their_packets_may_send_again(tmp_path):
    rows = frames(simulate(0.02, seconds=15, rtt=0.03))
    plain, same = tmp_path / "plain.pcap", tmp_path / "same.pcap"
    plain.write_bytes(pcap_bytes(rows))
    same.write_bytes(pcap_bytes([(t, data[:4] + b"\0\1" + data[6:]) for t, data in rows]))
    assert estimate(same) == estimate(plain)


def test_a_capture_with_gaps_says_so(tmp_path):
    rows = frames(simulate(0.0, seconds=20))
    file = tmp_path / "gaps.pcap"
    file.write_bytes(pcap_bytes([row for i, row in enumerate(rows) if i % 40 or i < 3]))
    result = estimate(file)
    assert any("capture does not hold" in text for text in result.warnings)
    assert result.loss.value == 0


def test_the_larger_direction_of_the_largest_flow_is_taken(tmp_path):
    small = frames(simulate(0.02, seconds=5))
    large = frames(simulate(0.02, seconds=20), ipv6=True)
    file = tmp_path / "two.pcap"
    file.write_bytes(pcap_bytes(sorted(small + large, key=lambda row: row[0])))
    assert estimate(file).flow == "[fd00::a00:1]:5001 > [fd00::a00:2]:40000"


def test_real_capture():
    """Linux 6.18 over an emulated path of 2 x 50 ms that drops each data packet with probability 0.02.

    Over 600 s of the same conditions the kernel itself reported loss 0.0198, RTT 103.3 ms, RTO 306 ms and no timeout.
    """
    result = estimate(EXAMPLE)
    assert result.vantage == "sender"
    assert result.packet_size == 1500
    assert 0.015 <= result.loss.value <= 0.025
    holds(result.loss, 0.0198)
    holds(result.loss_event_rate, 0.02)
    assert result.rtt.value == pytest.approx(0.1033, rel=0.03)
    assert result.rto.value == pytest.approx(0.306, rel=0.05)
    assert result.timeouts == 0
    assert result.warnings == ()
    payload, times = {}, []
    with EXAMPLE.open("rb") as file:
        for time, data in dpkt.pcap.Reader(file):
            ip = dpkt.ip.IP(data)
            length = ip.len - 20 - 4 * ip.data.off
            if length:
                payload[ip.data.seq] = length
                times.append(time)
    assert len(times) == result.packets
    assert result.throughput_pps.value == pytest.approx(sum(payload.values()) / 1448 / (times[-1] - times[0]), rel=0.01)


def test_path_and_dict():
    result = estimate(EXAMPLE)
    path = result.path(max_window=20, tcp="reno")
    assert (path.loss, path.rtt, path.rto) == (result.loss_event_rate.value, result.rtt.value, result.rto.value)
    assert result.path() == result.path(tcp="reno-sack") == result.path(tcp=result.proposal.tcp)
    assert result.path().loss == result.loss.value  # every loss counts where they are independent
    assert path.max_window == 20
    assert result.path(timeout_ratio=4.0).timeout_ratio == 4
    table = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert (
        set(table["intervals"])
        == set(table["how"])
        == {
            "loss",
            "loss_event_rate",
            "rtt_s",
            "rto_s",
            "timeout_ratio",
            "throughput_pps",
            "throughput_bps",
            "packets_per_ack",
            "decrease",
            *(f"rtt_q{percent}_s" for percent in (10, 50, 90, 99)),
        }
    )
    assert all(low <= table[key] <= high for key, (low, high) in table["intervals"].items())
    assert "loss_event_rate" in result.summary()


def test_no_loss_gives_a_bound_and_no_path(tmp_path):
    result = estimate(capture(tmp_path, simulate(0.0, seconds=10)))
    assert result.loss.value == 0 < result.loss.high < 0.01
    with pytest.raises(InputError, match=rf"no loss was seen in {result.packets} packets.*give a loss rate"):
        result.path()
    assert result.path(loss=0.01).loss == 0.01


def test_all_lost_gives_no_path():
    """One packet sent while nothing was missing, and that one lost: a loss rate of 1 is no path's."""
    found = estimate(EXAMPLE)
    found = replace(found, loss_event_rate=replace(found.loss_event_rate, value=1.0, high=1.0))
    with pytest.raises(InputError, match="every packet of 3245 that was sent while nothing was missing was lost"):
        found.path()
    assert found.path(loss=0.01).loss == 0.01


def test_dpkt_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "dpkt", None)
    with pytest.raises(MissingExtraError, match=r"tcpstream\[capture\]"):
        estimate(EXAMPLE)


def test_timer_by_hand():
    """RFC 6298, 2.2 and 2.3, by hand: SRTT .1, RTTVAR .05; then RTTVAR .0625, SRTT .1125."""
    np.testing.assert_allclose(timers(np.array([0.1, 0.2])), [0.1 + 0.2, 0.1125 + 0.25])
    np.testing.assert_allclose(timers(np.full(200, 0.3))[-1], 0.3 + 0.2)  # the floor


def test_intervals_by_hand():
    """10 of 100: Newcombe, Statistics in Medicine 17 (1998); the t interval of 1..10 from tables (t = 2.262)."""
    np.testing.assert_allclose(wilson(10, 100), (0.0552, 0.1744), atol=5e-5)
    assert wilson(0, 50)[0] == 0
    assert wilson(20, 100, design=4.0) == pytest.approx(wilson(5, 25))
    mean, low, high = batch_means(np.arange(1.0, 11.0))
    assert mean == 5.5
    half = 2.262 * 3.02765 / np.sqrt(10)
    assert (low, high) == pytest.approx((mean - half, mean + half), rel=1e-3)
