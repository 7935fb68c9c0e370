"""Answers from captures: their intervals, and ends without an answer."""

from dataclasses import replace
from functools import cache

import pytest
from conftest import estimate_once as estimate  # ours, beside this file

import tcpstream
from tcpstream import tcp
from tcpstream.answers import live as live_model
from tcpstream.answers import rate as search
from tcpstream.answers import stored as stored_model
from tcpstream.cli.words import at_most, packets_per_second, wait
from tcpstream.tcp.formulas import ALL


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


@pytest.mark.usefixtures("solved_once")
def test_no_finite_delay_shows_the_capture_too(run, capture):
    done = run(f"delay --capture {capture} --rate 1000pps --live --json")
    assert done.status == 3
    assert done.answer["capture"]["packets"] > 3000
    assert done.err.splitlines()[-1] == f"tcpstream: {done.answer['reason']}"


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
