"""``tcpstream rate``: its JSON is the library's answer, its sentence errs on the safe side."""

import re
from functools import cache

import pytest

import tcpstream
from tcpstream.answers import rate as search
from tcpstream.cli import words

PATH = "--loss 0.1 --rtt 100ms --timeout-ratio 1 --sender classic --max-window 3"


@pytest.fixture(scope="module")
def searched():
    """Largest rates by their question, of whichever test asked first."""
    known = cache(search.largest_rate)
    return lambda path, *, delay, duration=None, target=None, no_late=None: known(
        path, delay=delay, duration=duration, target=target, no_late=no_late
    )


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ("--live --target 1e-2", {"target": 1e-2}),
        ("--duration 20 --target 1e-3", {"duration": 20.0, "target": 1e-3}),
        ("--duration 10s --target-no-late 0.9", {"duration": 10.0, "no_late": 0.9}),
    ],
)
def test_the_answer_is_the_librarys(run, searched, options, given):
    done = run(f"rate {PATH} --delay 1500ms {options} --packet-size 1000 --json")
    path = tcpstream.Path(sender="classic", loss=0.1, rtt=0.1, timeout_ratio=1, max_window=3)
    mu = searched(path, delay=1.5, **given)
    assert (done.status, done.err) == (0, "")
    assert done.answer["packet_rate_pps"] == mu
    assert done.answer["bitrate_bps"] == 8000 * mu
    assert done.answer["load"] == mu / tcpstream.throughput(path)
    parameters = done.answer["parameters"]
    assert parameters["startup_delay_s"] == 1.5
    assert parameters["duration_s"] == given.get("duration")
    assert parameters["target_no_late"] == given.get("no_late")
    assert parameters["target_late_fraction"] == (None if "no_late" in given else given.get("target", 1e-4))
    assert done.answer["model"] == ("live" if "--live" in options else "stored")


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        ("--live --target 1e-2", "at most 1 in 100 packets is late."),
        ("--duration 10", "at most 1 in 10,000 packets is late."),
        ("--duration 10 --target-no-late 0.9", "with a probability of at least 0.9 no packet is late."),
    ],
)
def test_it_begins_with_the_answer(run, searched, monkeypatch, options, outcome):
    monkeypatch.setattr(search, "largest_rate", searched)
    line = f"rate {PATH} --delay 1500ms {options}"
    first, empty, *rest = run(line).out.splitlines()
    answer = run(f"{line} --json").answer
    assert first.endswith(f"at most: when playback starts after 1.5 s, {outcome}")
    shown = float(re.match(r"Play at ([\d.]+) packets/s", first)[1])
    assert answer["packet_rate_pps"] * 0.999 <= shown <= answer["packet_rate_pps"]
    assert empty == ""
    assert f"{1 / answer['load']:.4g}" in "\n".join(rest)


@pytest.mark.parametrize(
    ("rate", "text"),
    [(37.7699, "37.76 packets/s (453.2 kbit/s)"), (37.77, "37.77 packets/s (453.2 kbit/s)"),
     (1234.9, "1234 packets/s (14.81 Mbit/s)")],
)  # fmt: skip
def test_a_largest_rate_is_never_rounded_up(rate, text):
    assert words.at_most(rate, 1500) == text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--delay 2", "give --live for a live stream, or --duration T for a stored video"),
        ("--delay 2 --live --duration 8", "not both"),
        ("--delay 2 --live --target-no-late 0.9", "--target-no-late is for a stored video"),
        ("--delay 2 --duration 8 --target 0.1 --target-no-late 0.9", "give --target or --target-no-late, not both"),
        ("--delay -1 --live", "startup delay must not be negative, got -1 s"),
        ("--delay 2 --live --target 2", "target late fraction must lie strictly between 0 and 1, got 2"),
        ("--live", "missing option '--delay'"),
        ("--delay 2 --live --packet-size 0", "packet size must be greater than 0 bytes"),
    ],
)
def test_bad_input(run, options, message):
    done = run(f"rate {PATH} {options}")
    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_no_rate_is_low_enough(run):
    """Live, R = 300 ms, p = 0.04, T_O = 4: timers of the third back-off alone last longer than 10 s."""
    done = run("rate --loss 0.04 --rtt 300ms --timeout-ratio 4 --max-window 4 --sender classic --live --delay 10")
    assert done.status == 1
    refused = r"tcpstream: error: no rate of [\d.]+ packets/s or more meets the target after 10 s"
    assert re.fullmatch(f"{refused}: give a longer delay or a larger target\n", done.err)
