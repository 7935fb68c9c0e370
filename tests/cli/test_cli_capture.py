"""Paths from captures: what is used, what is shown beside it, and the warnings."""

import os
import struct
import threading

import pytest

import tcpstream


def test_the_chain_takes_the_loss_event_rate(run, capture):
    estimate = tcpstream.estimate(capture)
    answer = run(f"throughput --capture {capture} --max-window 20 --rounds-per-increase 2 --json").answer
    path = estimate.path(max_window=20, rounds_per_increase=2)
    assert answer["parameters"] == path.to_dict() | {"packet_size_bytes": estimate.packet_size}
    assert answer["parameters"]["loss"] == estimate.loss_event_rate.value
    assert answer["throughput_pps"] == tcpstream.throughput(path)
    assert answer["capture"] == estimate.to_dict()


def test_unlike_throughput_is_a_warning_with_both_numbers(run, capture):
    done = run(f"throughput --capture {capture} --max-window 4 --json")
    modelled, measured = done.answer["throughput_pps"], done.answer["capture"]["throughput_pps"]
    (warning,) = done.answer["warnings"]
    assert f"{modelled:.4g} packets/s" in warning
    assert f"measured {measured:.4g} packets/s" in warning
    assert "slower TCP" in warning
    assert "its losses are independent" in warning
    assert done.err == f"tcpstream: warning: {warning}\n"


@pytest.mark.parametrize(("modelled", "words"), [(0.8, "slower"), (1.2, "faster"), (0.86, None), (1.14, None)])
def test_fifteen_percent_are_alike(capture, modelled, words):
    from tcpstream.cli.route import Route

    estimate = tcpstream.estimate(capture)
    warnings = Route(estimate.path(), estimate).warnings(modelled * estimate.throughput_pps.value)
    assert len(warnings) == (words is not None)
    assert words is None or f"is for a {words} TCP than the measured one" in warnings[0]
    assert words is None or ("independent" in warnings[0]) == (words == "slower")


def test_table_shows_what_was_measured_and_modelled(run, capture):
    out = run(f"delay --capture {capture} --rate 10pps --live").out
    estimate = tcpstream.estimate(capture)
    for measured in (estimate.loss, estimate.loss_event_rate, estimate.rtt, estimate.throughput_pps):
        for number in (measured.value, measured.low, measured.high):
            assert f"{number:.4g}" in out
    modelled = tcpstream.throughput(estimate.path())
    assert out.splitlines()[-1].split() == ["modelled", "throughput", "[packets/s]", f"{modelled:.4g}"]


def test_segments_are_a_table_and_reasons(run, capture):
    out = run(f"estimate {capture} --segments 29.8s").out
    lines = out.splitlines()
    assert lines[0].split()[:3] == ["segment", "packets", "p"]
    assert lines[2].startswith("0 to 29.8 s")
    assert lines[-1].startswith("the segment from 29.8 s shows 0 acknowledgements")


def test_other_flows_are_named_and_measured_on_request(run, capture, tmp_path):
    data, at, count = capture.read_bytes(), 24, 0
    out = data[:24]
    while count < 400:
        kept = struct.unpack_from("<I", data, at + 8)[0]
        record = data[at : at + 16 + kept]
        out += record + record.replace(b"\x4e\x20", b"\x4e\x21", 1) * (count < 300)  # port 20000, again as 20001
        at, count = at + len(record), count + 1
    both = tmp_path / "both.pcap"
    both.write_bytes(out)
    assert "other flows  1, the largest 10.99.0.1:20001 > 10.99.0.2:5001 with " in run(f"estimate {both}").out
    flows = run(f"estimate {both} --all").out.splitlines()
    assert [line.split()[0] for line in flows[2:]] == ["10.99.0.1:20000", "10.99.0.1:20001"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_capture_may_come_through_a_pipe(run, capture, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(capture.read_bytes()), daemon=True)
    writer.start()
    assert run(f"estimate {pipe} --json").answer["packets"] == tcpstream.estimate(capture).packets
    writer.join(10)


def test_bit_rates_are_of_the_captures_packets(run, capture):
    line = f"live --capture {capture} --rate 80kbps --delay 1 --json"
    assert run(line).answer["parameters"]["packet_size_bytes"] == tcpstream.estimate(capture).packet_size
    assert run(f"{line} --packet-size 1000").answer["parameters"]["packet_rate_pps"] == 10


def test_no_finite_delay_shows_the_capture_too(run, capture):
    done = run(f"delay --capture {capture} --rate 1000pps --live --json")
    assert done.status == 3
    assert done.answer["capture"]["packets"] > 3000
    assert done.err.splitlines()[-1] == f"tcpstream: {done.answer['reason']}"


def test_a_capture_cut_at_its_end_is_used_with_a_warning(run, capture, tmp_path):
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(capture.read_bytes()[:-7])
    done = run(f"estimate {cut} --json")
    assert done.status == 0
    assert ["cut off" in text for text in done.answer["warnings"]] == [True]
    assert done.err == "".join(f"tcpstream: warning: {text}\n" for text in done.answer["warnings"])
    assert "tcpstream: warning: " in run(f"throughput --capture {cut}").err


def test_a_capture_cut_by_its_snaplen_is_used_with_a_warning(run, capture, tmp_path):
    short = tmp_path / "short.pcap"
    short.write_bytes(snapped(capture.read_bytes(), 58))
    done = run(f"estimate {short}")
    assert done.status == 0
    assert "cut inside their options" in done.err
    assert "loss-event rate" in done.out


def snapped(data, keep):
    """Return a little-endian pcap file with at most `keep` bytes of each packet."""
    out, at = data[:24], 24
    while at < len(data):
        seconds, fraction, kept, size = struct.unpack_from("<IIII", data, at)
        out += struct.pack("<IIII", seconds, fraction, min(kept, keep), size)
        out += data[at + 16 : at + 16 + min(kept, keep)]
        at += 16 + kept
    return out
