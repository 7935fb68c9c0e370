"""Paths from captures: what is used, what is shown beside it, and the warnings."""

import os
import struct
import threading
from dataclasses import asdict

import pytest
from conftest import estimate_once as estimate  # ours, beside this file

import tcpstream


@pytest.mark.parametrize("chosen", ["", " --tcp reno", " --tcp reno-sack"])
def test_the_chain_is_the_proposed_one_unless_it_is_chosen(run, capture, chosen):
    """Independent losses, and SACK: the chain that takes every loss. The paper's takes the loss-event rate."""
    found = estimate(capture)
    answer = run(f"throughput --capture {capture} --max-window 20 --rounds-per-increase 2 --json{chosen}").answer
    tcp = {} if not chosen else {"tcp": chosen.split()[-1]}
    path = found.path(max_window=20, rounds_per_increase=2, **tcp)
    assert answer["parameters"] == path.to_dict() | {"packet_size_bytes": found.packet_size}
    assert answer["parameters"]["tcp"] == tcp.get("tcp", "reno-sack")
    rate = found.loss_event_rate if chosen == " --tcp reno" else found.loss
    assert answer["parameters"]["loss"] == rate.value
    assert answer["throughput_pps"] == tcpstream.throughput(path)
    assert answer["capture"] == found.to_dict()


def test_unlike_throughput_is_a_warning_with_both_numbers(run, capture):
    done = run(f"throughput --capture {capture} --max-window 4 --tcp reno --json")
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

    found = estimate(capture)
    warnings = Route(found.path(tcp="reno"), found).warnings(modelled * found.throughput_pps.value)
    assert len(warnings) == (words is not None)
    assert words is None or f"is for a {words} TCP than the measured one" in warnings[0]
    assert words is None or ("independent" in warnings[0]) == (words == "slower")


def test_table_shows_what_was_measured_and_modelled(run, capture):
    out = run(f"delay --capture {capture} --rate 10pps --duration 2").out
    found = estimate(capture)
    for measured in (found.loss, found.loss_event_rate, found.rtt, found.throughput_pps):
        for number in (measured.value, measured.low, measured.high):
            assert f"{number:.4g}" in out
    modelled = tcpstream.throughput(found.path())
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


def test_the_chain_and_its_reason_are_told_unless_it_is_chosen(run, capture):
    line = f"throughput --capture {capture}"
    proposal = estimate(capture).proposal
    assert f"\nChain reno-sack: {proposal.reason}. --tcp chooses another.\n" in run(line).out
    assert run(f"{line} --json").answer["capture"]["proposal"] == asdict(proposal)
    assert "Chain" not in run(f"{line} --tcp reno-sack").out


PROPOSED = {
    "initial-window": "Slow start from 10: 10 packets were sent before the first acknowledgement of data.",
    "detection": "Detection rack: ",
}


@pytest.mark.parametrize(
    ("options", "path", "told"),
    [
        ("", (10, "rack"), {"initial-window", "detection"}),
        ("--initial-window 4", (4, "rack"), {"detection"}),
        ("--detection duplicates", (10, "duplicates"), {"initial-window"}),
        ("--initial-window 4 --detection duplicates --tcp reno", (4, "duplicates"), set()),
    ],
)
def test_slow_start_and_detection_are_proposed_and_told_unless_they_are_chosen(run, capture, options, path, told):
    line = f"throughput --capture {capture} {options}"
    parameters = run(f"{line} --json").answer["parameters"]
    assert (parameters["initial_window"], parameters["detection"]) == path
    out = run(line).out
    for name, sentence in PROPOSED.items():
        assert (sentence in out) == (name in told)
        assert (f"--{name} chooses another" in out) == (name in told)
    assert ("from 10 packets, and after timeouts" in out) == (path[0] == 10)
    assert ("seen by RACK-TLP" in out) == (path[1] == "rack")


@pytest.mark.parametrize(
    ("options", "window", "told"),
    [
        ("--max-window 6", 6, "Slow start from 6: the largest window."),
        ("--max-window 30", 30, PROPOSED["initial-window"]),
    ],
)
def test_the_largest_window_limits_the_proposed_one(run, capture, options, window, told):
    line = f"throughput --capture {capture} {options}"
    assert run(f"{line} --json").answer["parameters"]["initial_window"] == min(window, 10)
    assert f"\n{told} --initial-window chooses another.\n" in run(line).out


def test_a_capture_without_its_start_proposes_no_slow_start(run, capture, tmp_path):
    data, at = capture.read_bytes(), 24
    for _ in range(3):  # the handshake
        at += 16 + struct.unpack_from("<I", data, at + 8)[0]
    later = tmp_path / "later.pcap"
    later.write_bytes(data[:24] + data[at:])
    done = run(f"throughput --capture {later}")
    assert "\nNo slow start: the start of the connection was not seen. --initial-window chooses" in done.out
    assert "and after timeouts" not in done.out
    assert "slow start  none: the start of the connection was not seen\n" in run(f"estimate {later}").out


def test_estimate_says_what_is_proposed(run, capture):
    out = run(f"estimate {capture}").out
    proposal = estimate(capture).proposal
    assert f"slow start  from 10: {proposal.initial_window_reason}\n" in out
    assert f"detection   rack: {proposal.detection_reason}\n" in out
    assert run(f"estimate {capture} --json").answer["proposal"]["detection"] == "rack"


def test_strings_of_a_report_give_the_terminal_no_orders(run, capture, tmp_path):
    text = (capture.parent / "linux-reno-iperf3.json").read_text()
    text = text.replace('"10.98.0.1"', '"\\u001b[2J\\u009b31m"')
    text = text.replace('"sender_tcp_congestion"', '"sender_tcp_congestion": "re\\u0007no", "other"')
    file = tmp_path / "report\x1b[31m.json"
    file.write_text(text)
    for line in (f"estimate {file}", f"estimate {file} --json", f"delay --capture {file} --rate 10pps --live"):
        done = run(line)
        assert all(c.isprintable() or c == "\n" for c in done.out + done.err)
    assert r"\x1b[2J\x9b31m:" in run(f"estimate {file}").out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_capture_may_come_through_a_pipe(run, capture, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(capture.read_bytes()), daemon=True)
    writer.start()
    assert run(f"estimate {pipe} --json").answer["packets"] == estimate(capture).packets
    writer.join(10)


def test_bit_rates_are_of_the_captures_packets(run, capture):
    line = f"live --capture {capture} --rate 80kbps --duration 2 --delay 1 --json"
    assert run(line).answer["parameters"]["packet_size_bytes"] == estimate(capture).packet_size
    assert run(f"{line} --packet-size 1000").answer["parameters"]["packet_rate_pps"] == 10


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
