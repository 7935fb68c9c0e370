"""What counts once: packets sent again across borders, packets that are not full; and delays that are none."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from synthetic import MSS, Seen, capture, simulate

from tcpstream.traces import estimate, estimate_segments
from tcpstream.traces.fates import _Walk
from tcpstream.traces.timing import plausible, upstream
from tcpstream.traces.transmissions import AGAIN, LOST, Packet


def sent_again(run, shift, size, every=10, later=0.01):
    """Add a second transmission of `size` bytes, `shift` bytes off the border, of some packets; return how many."""
    extra = []
    data = [s for s in run.packets if s.payload]
    for i in range(5, len(data) - 5, every):
        packet = data[i]
        if data[i + 1].at_sender > packet.at_sender + later / 2:
            continue  # the last of a flight
        times = {"at_sender": packet.at_sender + later, "at_receiver": packet.at_receiver + later}
        extra.append(Seen(**{**vars(packet), **times, "seq": packet.seq + shift, "payload": size}))
    run.packets += extra
    return len(extra)


@pytest.mark.parametrize("merge", [1, 4])
@pytest.mark.parametrize(("shift", "size"), [(0, MSS), (1000, MSS), (300, MSS), (0, 700), (-600, 1200)])
def test_each_packet_sent_again_is_one_loss(tmp_path, shift, size, merge):
    """Of packets sent in groups of six; no timestamps, and the answers come too late to show that it was needless."""
    run = simulate(0.0, seconds=12, timestamps=False, window=12, initial_window=12)
    many = sent_again(run, shift, size)
    found = estimate(capture(tmp_path, run, merge=merge))
    assert round(found.loss.value * found.packets) == pytest.approx(many, abs=1)
    assert many > 50


def test_one_packet_that_fills_two_holes_and_what_lies_between_is_one_loss():
    walk = _Walk(0.003)
    for time, start, end in ((0.0, 0, 100), (0.01, 200, 300), (0.02, 400, 500), (0.5, 100, 400)):
        walk.send(Packet(time, start, end))
    walk.acknowledge(0.6, 500, -1, [])
    assert np.count_nonzero(walk.finish().sent.having(LOST)) == 1


@pytest.mark.parametrize(("later", "lost"), [(0.001, 0), (0.3, 1)])
def test_the_first_packet_may_be_lost_or_late_as_any_other(later, lost):
    """The SYN says where the data begin."""
    walk = _Walk(0.003, opening=0)
    walk.send(Packet(0.1, 100, 200))
    walk.acknowledge(0.1, 0, -1, [(100, 200)])
    walk.send(Packet(0.1 + later, 0, 100))
    walk.acknowledge(0.5, 200, -1, [])
    fates = walk.finish()
    assert np.count_nonzero(fates.sent.having(LOST)) == np.count_nonzero(fates.sent.having(AGAIN)) == lost
    assert fates.unseen == 0


@pytest.mark.parametrize(("step", "lost"), [(0.002, 0), (0.02, 49)])
def test_a_flight_that_one_packet_overtook_is_not_lost(step, lost):
    """Of fifty packets the last comes first, the others one by one; after 10 ms a hole would be a loss."""
    walk = _Walk(0.01, opening=0)
    walk.send(Packet(0.0, 4900, 5000))
    for n in range(49):
        walk.send(Packet((n + 1) * step, 100 * n, 100 * (n + 1)))
    walk.acknowledge(1.0, 5000, -1, [])
    assert np.count_nonzero(walk.finish().sent.having(LOST)) == lost


def test_data_of_the_syn_are_not_missing():
    walk = _Walk(0.003, opening=0)
    walk.acknowledge(0.05, 100, -1, [])
    walk.send(Packet(0.1, 100, 200))
    walk.acknowledge(0.2, 200, -1, [])
    assert walk.finish().unseen == 0


def test_only_the_first_segment_of_time_has_the_opening(tmp_path):
    run = simulate(0.01, seconds=6, seed=2)
    first, second, *_ = estimate_segments(capture(tmp_path, run), 2)
    assert first.estimate.first_flight == 2
    assert second.estimate.first_flight is None
    assert not [text for text in second.estimate.warnings if "does not hold" in text]


def test_keep_alives_are_no_data_packets(tmp_path):
    """Every 75 s one byte that has been acknowledged is sent again, as Windows does (RFC 9293, Section 3.8.4)."""
    run = simulate(0.0, seconds=2)
    plain = estimate(capture(tmp_path, run, "receiver"))
    last = max((s for s in run.packets if s.payload), key=lambda s: s.seq)
    answer = max((s for s in run.packets if not s.from_sender), key=lambda s: s.at_sender)
    for n in range(1, 5):
        for packet, new in ((last, {"seq": last.seq + last.payload - 1, "payload": 1}), (answer, {})):
            times = {"at_sender": packet.at_sender + 75 * n, "at_receiver": packet.at_receiver + 75 * n}
            run.packets.append(Seen(**{**vars(packet), **times, **new, "ts": None}))
    found = estimate(capture(tmp_path, run, "receiver"))
    assert (found.packets, found.loss) == (plain.packets, plain.loss)
    assert found.throughput_pps.value == plain.throughput_pps.value


def test_bits_are_those_of_the_packets_as_they_are(tmp_path):
    """Every other packet carries 500 bytes only, and 52 of headers, as all do."""
    run = simulate(0.01, seconds=20, seed=3)
    begin = min(s.seq for s in run.packets if s.payload)
    for packet in run.packets:
        number = (packet.seq - begin) // MSS
        place = begin + number // 2 * (MSS + 500) + number % 2 * MSS
        if packet.payload:
            packet.seq, packet.payload = place, 500 if number % 2 else MSS
        elif not packet.from_sender and packet.flags == 16:
            number = (packet.ack - begin) // MSS
            packet.ack = begin + number // 2 * (MSS + 500) + number % 2 * MSS
            packet.sack = tuple(
                tuple(begin + n // 2 * (MSS + 500) + n % 2 * MSS for n in ((e - begin) // MSS for e in block))
                for block in packet.sack
            )
    found = estimate(capture(tmp_path, run))
    lengths = {s.seq: s.payload + 52 for s in run.packets if s.payload and not s.lost}
    assert found.throughput_pps.value == pytest.approx(len(lengths) / found.duration_s, rel=0.005)
    assert found.throughput_bps.value == pytest.approx(8 * sum(lengths.values()) / found.duration_s, rel=0.005)
    assert found.throughput_bps.value < 0.7 * 8 * found.packet_size * found.throughput_pps.value
    assert found.throughput_bps.low < found.throughput_bps.value < found.throughput_bps.high
    assert found.to_dict()["throughput_bps"] == found.throughput_bps.value


@pytest.mark.parametrize("vantage", ["sender", "receiver", 0.5])
def test_one_delay_of_a_machine_that_slept_is_no_round_trip(tmp_path, vantage):
    """Twenty minutes between one packet and its acknowledgement, and all that follows: R was 0.1 s, and stays so."""
    run = simulate(0.01, seconds=20, seed=4)
    plain = estimate(capture(tmp_path, run, vantage, name="plain.pcap"))
    for packet in run.packets:
        packet.at_sender += 1200 * (packet.at_sender > 10)
        packet.at_receiver += 1200 * (packet.at_receiver > 10)
    found = estimate(capture(tmp_path, run, vantage))
    assert found.rtt.value == pytest.approx(plain.rtt.value, rel=0.02)
    assert found.rto.value == pytest.approx(plain.rto.value, rel=0.05)
    assert 0.09 < found.rtt.low < found.rtt.high < 0.2
    if vantage == "sender":
        assert any("up to 1.2e+03 s, are left out of the RTT" in text for text in found.warnings)


def test_no_lower_end_is_below_what_was_seen(tmp_path):
    """Near the receiver, and the sender waits 0.4 s for its application in every other tenth of the flow."""
    run = simulate(0.01, seconds=20, seed=4, window=4)
    wait = 0.0
    for packet in sorted(run.packets, key=lambda s: s.at_sender):
        wait += 0.4 * (packet.from_sender and packet.payload > 0 and packet.at_sender // 2 % 2)
        packet.at_sender += wait
        packet.at_receiver += wait
    found = estimate(capture(tmp_path, run, 0.9))
    for measured in (found.rtt, found.rto, *found.rtt_quantiles.values()):
        assert 0.01 < measured.low <= measured.value <= measured.high
    assert found.ends(loss=0.01)[0] is not None


def test_plausible_delays_by_hand():
    """The timer after round trips of 0.1 s is 1 s; a silence of 2 s with acknowledgements in between is none."""
    moments = np.array([0.1, 0.2, 0.3, 5.0, 5.1, 8.0])
    delays = np.array([0.1, 0.1, 0.1, 2.0, 0.1, 2.5])
    acks = np.array([0.1, 0.2, 0.3, 5.0, 5.1, 6.2, 7.1, 8.0])
    assert plausible(moments, delays, acks, 0.0).tolist() == [True, True, True, False, True, True]
    slow = np.array([2.0, 2.1, 2.2, 2.3])  # a path of 2 s from its first sample on, before any timer of it
    assert plausible(3 * np.arange(1.0, 5.0), slow, np.array([]), 0.0).all()
    assert not plausible(np.array([9.0]), np.array([3.5]), np.array([]), 0.0).any()
    assert plausible(np.array([1.0, 3.0]), np.array([0.1, 1.2]), np.array([]), 1.0).tolist() == [True, True]


def test_answers_that_waited_for_the_application_are_left_out():
    """Thirty acknowledgements, answered after 50 ms, and the last ten of them after 30 s."""
    acked = 40.0 * np.arange(30)
    answered = acked + np.where(np.arange(30) < 20, 0.05, 30.0)
    stamps = np.arange(30)
    flow = SimpleNamespace(
        time=np.column_stack((acked, answered)).ravel(),
        is_data=np.tile([False, True], 30),
        stamped=np.ones(60, dtype=bool),
        tsval=np.repeat(stamps, 2),
        tsecr=np.repeat(stamps, 2),
        handshake=None,
    )
    found = upstream(flow)
    np.testing.assert_allclose(found.delays, [0.05, 0.05])
    assert (found.left_out, found.source) == (1, "timestamps")
