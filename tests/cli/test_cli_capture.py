"""Paths from captures: what is used, what is shown beside it, and the warnings."""

import os
import struct
import threading
from dataclasses import asdict, replace
from functools import cache

import pytest
from conftest import CAPTURE  # ours, beside this file

import tcpstream
from tcpstream import tcp
from tcpstream.answers import constancy as constancy_model
from tcpstream.answers import live as live_model
from tcpstream.answers import rate as search
from tcpstream.answers import stored as stored_model
from tcpstream.cli.words import at_most, packets_per_second, wait
from tcpstream.tcp.formulas import ALL

READ, COMPARE = tcpstream.estimate, tcpstream.constancy


@cache
def known():
    found = READ(CAPTURE)
    return found, COMPARE(found)


def estimate(file):
    """What a capture shows; the example is read once."""
    return known()[0] if str(file) == str(CAPTURE) else READ(file)


@pytest.fixture(autouse=True)
def compared_once(monkeypatch):
    """Commands do not read the example, nor compare it with drawn flows, again and again."""
    monkeypatch.setattr(tcpstream.traces, "estimate", estimate)
    monkeypatch.setattr(constancy_model, "constancy", lambda one: known()[1] if one is known()[0] else COMPARE(one))


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


def test_throughputs_have_intervals(run, capture):
    found = estimate(capture)
    best, worst = found.ends()
    done = run(f"throughput --capture {capture} --json")
    expected = [tcpstream.throughput(worst), tcpstream.throughput(best)]
    assert done.answer["throughput_interval_pps"] == expected
    assert done.answer["formulas_interval"]["pftk"] == [ALL["pftk"](worst), ALL["pftk"](best)]
    shown = "{:.4g} ({:.4g} to {:.4g})".format(done.answer["throughput_pps"], *expected)
    assert shown in run(f"throughput --capture {capture}").out


def test_stored_answers_have_intervals(run, capture):
    line = f"stored --capture {capture} --rate 30pps --duration 20 --delay 0.5,1 --horizon paper"
    answer = run(f"{line} --json").answer
    video = tcpstream.Video(packet_rate=30, duration=20)
    best, worst = (tcpstream.stored(path, video, horizon="paper") for path in estimate(capture).ends())
    late = [best.late_fraction([0.5, 1]), worst.late_fraction([0.5, 1])]
    assert answer["late_fraction_interval"] == [list(pair) for pair in zip(*late)]
    alpha = [worst.no_late_probability([0.5, 1]), best.no_late_probability([0.5, 1])]
    assert answer["no_late_probability_interval"] == [list(pair) for pair in zip(*alpha)]
    for name in ("late_fraction", "no_late_probability", "no_late_lower_bound"):
        for value, (low, high) in zip(answer[name], answer[f"{name}_interval"]):
            assert low < value < high
    shown = "{:.4g} ({:.4g} to {:.4g})".format(answer["late_fraction"][1], *answer["late_fraction_interval"][1])
    assert shown in run(line).out


def test_a_value_lies_in_its_own_interval(run, capture, monkeypatch, tmp_path):
    """Steps of playback are judged by whole round trips: at R = 102 ms less is late than at 101.9 and at 102.1 ms."""
    found = estimate(capture)
    rate = tcpstream.traces.Measured(found.loss.value, found.loss.value, found.loss.value, "by hand")
    times = [tcpstream.traces.Measured(m, m - 1e-4, m + 1e-4, "by hand") for m in (0.102, 0.302)]
    near = replace(found, loss=rate, rtt=times[0], rto=times[1])
    monkeypatch.setattr(tcpstream.traces, "estimate", lambda _: near)
    curve = tmp_path / "curve.csv"
    curve.write_text("0,0\n1,10\n1.01,60\n2.5,70\n2.51,150\n6,200\n")
    answer = run(f"stored --capture {capture} --playback {curve} --delay 0.1 --json").answer
    for name in ("late_fraction", "no_late_probability", "no_late_lower_bound"):
        assert answer[f"{name}_interval"][0][0] <= answer[name][0] <= answer[f"{name}_interval"][0][1]


@pytest.mark.parametrize(
    ("line", "key", "interval"),
    [
        ("delay --duration 20", "required_startup_delay_s", "required_startup_delay_interval_s"),
        ("rate --duration 20 --delay 2", "packet_rate_pps", "packet_rate_interval_pps"),
        ("throughput", "throughput_pps", "throughput_interval_pps"),
    ],
)
@pytest.mark.parametrize("odd", [40.0, 60.0])
def test_an_answer_outside_of_its_ends_widens_its_interval(run, capture, monkeypatch, line, key, interval, odd):
    """Whatever an answer is at the estimate, between or beyond its ends: its interval holds it."""
    at = dict(zip(estimate(capture).ends(), (49.0, 51.0)))
    monkeypatch.setattr(stored_model.StoredStreaming, "required_delay", lambda self, *_, **__: at.get(self.path, odd))
    monkeypatch.setattr(search, "largest_rate", lambda path, **_: at.get(path, odd))
    monkeypatch.setattr(tcp, "throughput", lambda path: at.get(path, odd))
    played = " --rate 30pps" if line.startswith("delay") else ""
    answer = run(f"{line} --capture {capture}{played} --json").answer
    assert answer[key] == odd
    assert answer[interval] == [min(odd, 49), max(odd, 51)]


def test_long_delays_are_printed_within_their_interval(run, capture, monkeypatch):
    at = dict(zip(estimate(capture).ends(), (1236.0, 1237.0)))
    monkeypatch.setattr(stored_model.StoredStreaming, "required_delay", lambda self, *_, **__: at.get(self.path, 1236))
    out = run(f"delay --capture {capture} --rate 30pps --duration 20").out
    assert out.startswith("Wait 1236 s ")
    assert "Over the 95% intervals of the capture: 1236 s to 1237 s." in out


@pytest.fixture(scope="module")
def solved():
    """Live streams by path and video, of whichever test asked for them first."""
    return cache(live_model.live)


@pytest.fixture
def solved_once(solved, monkeypatch):
    """The command solves no live stream that another test of this module has solved."""
    monkeypatch.setattr(live_model, "live", solved)


@pytest.mark.usefixtures("solved_once")
def test_live_answers_have_intervals_up_to_all_late(run, capture, solved):
    """At 80 packets/s TCP keeps up at the estimate, not at the worst ends of the intervals."""
    line = f"live --capture {capture} --rate 80pps --delay 1,4"
    answer = run(f"{line} --json").answer
    best = solved(estimate(capture).ends()[0], tcpstream.Video(packet_rate=80))
    assert answer["late_fraction_interval"] == [[late, 1] for late in best.late_fraction([1, 4])]
    assert " to 1)" in run(line).out


def test_delay_is_printed_with_its_interval(run, capture):
    line = f"delay --capture {capture} --rate 30pps --duration 20"
    done = run(f"{line} --json")
    interval = tcpstream.delay_interval(estimate(capture), tcpstream.Video(packet_rate=30, duration=20))
    assert done.answer["required_startup_delay_s"] == pytest.approx(interval.value)
    assert done.answer["required_startup_delay_interval_s"] == pytest.approx([interval.low, interval.high])
    shown = run(line).out.splitlines()
    low, high = done.answer["required_startup_delay_90_interval_s"]
    assert interval.low < low < interval.value < high < interval.high
    told = f"{wait(interval.value)} before playback starts (90% interval {low:.3g} s to {wait(high)})"
    assert shown[0] == f"Wait {told}: then at most 1 in 10,000 packets is late."
    assert shown[2] == f"Over the 95% intervals of the capture: {interval.low:.3g} s to {wait(interval.high)}."
    assert done.status == 0
    assert "Traceback" not in done.err


@pytest.mark.parametrize(("rate", "status"), [(80, 0), (95, 3)])
@pytest.mark.usefixtures("solved_once")
def test_delay_may_be_finite_at_the_best_ends_only(run, capture, rate, status):
    done = run(f"delay --capture {capture} --rate {rate}pps --live")
    assert done.status == status
    assert done.out.splitlines()[2 if status == 0 else 0].endswith(" s to no finite delay.")
    answer = run(f"delay --capture {capture} --rate {rate}pps --live --json").answer
    low, high = answer["required_startup_delay_interval_s"]
    assert high is None
    assert low < (answer["required_startup_delay_s"] or float("inf"))
    assert (" to no finite delay): then " in done.out) == (status == 0)


def test_an_end_that_cannot_be_computed_is_a_warning(run, capture, monkeypatch):
    solve, worst = stored_model.stored, estimate(capture).ends()[1]

    def refuse(path, video, **options):
        if path == worst:
            raise tcpstream.AccuracyError("too long")
        return solve(path, video, **options)

    monkeypatch.setattr(stored_model, "stored", refuse)
    done = run(f"delay --capture {capture} --rate 30pps --duration 20")
    assert "Over the 95% intervals of the capture: at least " in done.out
    assert "90% interval" not in done.out
    assert "no answer at the upper ends of the measured intervals: too long" in done.err
    assert done.status == 0


RATE = "--duration 10 --delay 2 --target 1e-2 --max-window 20"


def test_the_largest_rate_has_an_interval_the_best_path_above(run, capture):
    line = f"rate --capture {capture} {RATE}"
    done = run(f"{line} --json")
    found = estimate(capture)
    best, worst = (
        tcpstream.largest_rate(path, delay=2, duration=10, target=1e-2) for path in found.ends(max_window=20)
    )
    low, high = done.answer["packet_rate_interval_pps"]
    assert (low, high) == (pytest.approx(worst), pytest.approx(best))
    assert low < done.answer["packet_rate_pps"] < high
    size = found.packet_size
    span = f"{at_most(worst, size)} to {packets_per_second(best, size)}"
    assert run(line).out.splitlines()[2] == f"Over the 95% intervals of the capture: {span}."
    assert done.status == 0
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("ends", "sentence", "interval"),
    [
        ((None, 40.0), "at least 40 packets/s (480 kbit/s)", [40.0, None]),
        ((60.0, None), "at most 60 packets/s (720 kbit/s)", [0.0, 60.0]),
        ((None, None), None, [0.0, None]),
    ],
)
def test_ends_of_a_largest_rate_that_cannot_be_computed(run, capture, monkeypatch, ends, sentence, interval):
    rates = dict(zip(estimate(capture).ends(), ends))

    def largest(path, **options):
        if rates.get(path, 50.0) is None:
            raise tcpstream.AccuracyError("too long")
        return rates.get(path, 50.0)

    monkeypatch.setattr(search, "largest_rate", largest)
    line = f"rate --capture {capture} --live --delay 2 --packet-size 1500"
    done = run(line)
    assert f"Over the 95% intervals of the capture: {sentence}.\n" in done.out or sentence is None
    assert ("Over the 95% intervals" in done.out) == (sentence is not None)
    assert done.err.count("no answer at the ") == ends.count(None)
    assert run(f"{line} --json").answer["packet_rate_interval_pps"] == interval


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


@pytest.mark.usefixtures("solved_once")
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
