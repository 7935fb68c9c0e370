"""Values that are accepted, but were hardly meant: an `InputWarning`, at the line that gave them."""

import warnings
from pathlib import Path

import pytest

import tcpstream
from tcpstream.errors import InputWarning

LONG = "a round trip time of {} s is longer than paths have: {} ms are {} s"


@pytest.fixture(scope="module")
def solved():
    return tcpstream.live(
        tcpstream.Path(sender="classic", loss=0.2, rtt=0.5, rto=1, max_window=4), tcpstream.Video(packet_rate=1)
    )


def film(delay):
    path = tcpstream.Path(sender="classic", loss=0.2, rtt=0.5, rto=1, max_window=4)
    return tcpstream.stored(path, tcpstream.Video(packet_rate=1, duration=60)).late_fraction(delay)


def seen(**player):
    path = tcpstream.Path(sender="classic", loss=0.2, rtt=0.5, rto=1, max_window=4)
    return tcpstream.play(path, tcpstream.Video(packet_rate=1, duration=20), tcpstream.Player(**player))


NOTED = {
    "a round trip time of 100 s is longer than paths have: 100 ms are 0.1 s": lambda _: tcpstream.Path(
        sender="classic", loss=0.02, rtt=100, rto=300
    ),
    "a loss rate of 0.7 leaves no path to stream over: 0.7% is 0.007": lambda _: tcpstream.Path(
        sender="classic", loss=0.7, rtt=0.1
    ),
    "a bit rate of 3 bit/s is below that of any video: 3 Mbit/s are 3e+06 bit/s": lambda _: tcpstream.Video(bitrate=3),
    "a bit rate of 800 bit/s is below that of any video: 800 kbit/s are 800000 bit/s": lambda _: tcpstream.Video(
        bitrate=800
    ),
    "a startup delay of 500 s is longer than the video of 60 s: 500 ms are 0.5 s": lambda _: film(500),
    "a startup delay of 500 s is longer than the video of 20 s: 500 ms are 0.5 s": lambda _: seen(start=500),
    "a start buffer of 30 s is longer than the video of 20 s: playback begins when all of it is there": lambda _: seen(
        start_buffer=30
    ),
    "a startup delay of 400 s is long for a live stream: 400 ms are 0.4 s": lambda live: live.late_fraction([1, 400]),
}


@pytest.mark.parametrize("text", NOTED)
def test_noted_once_at_the_callers_line(text, solved):
    with pytest.warns(InputWarning) as caught:
        NOTED[text](solved)
    assert [str(one.message) for one in caught] == [text]
    assert caught[0].filename == __file__


def test_what_may_be_meant_is_not_noted(solved):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tcpstream.Path(sender="classic", loss=0.5, rtt=3)
        tcpstream.Video(bitrate=10e3)
        tcpstream.Video(packet_rate=0.1)
        film([70, 100])
        solved.late_fraction(300)


def test_what_was_measured_or_computed_is_not_noted():
    """Only the path that is found, not those that are tried: with a loss rate of up to 0.5, and no more."""
    with pytest.warns(InputWarning, match="a round trip time of 4 s") as caught:
        path = tcpstream.Path.from_throughput(3, sender="classic", rtt=4)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path.application_limited(2)


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("throughput --loss 0.02 --rtt 100 --rto 300 --sender classic", "a round trip time of 100 s"),
        ("throughput --loss 70% --rtt 100ms --sender classic", "a loss rate of 0.7"),
        (
            "stored --loss 0.2 --rtt 500ms --sender classic --rate 1pps --duration 60 --delay 500",
            "a startup delay of 500 s",
        ),
        ("live --loss 0.2 --rtt 500ms --sender classic --rate 3bps --delay 1 --packet-size 1", "a bit rate of 3 bit/s"),
    ],
)
def test_the_command_notes_once_on_stderr_and_in_its_json(capsys, line, note):
    import json
    import shlex

    from tcpstream.cli import main

    assert main([*shlex.split(line), "--json"]) == 0
    out, err = capsys.readouterr()
    (text,) = json.loads(out)["warnings"]
    assert text.startswith(note)
    assert err == f"tcpstream: note: {text}\n"


MOBILE = Path(__file__).parents[1] / "examples" / "mobile.csv"


def test_a_fit_notes_a_round_trip_that_was_given():
    with pytest.warns(InputWarning) as caught:
        tcpstream.fit_regimes(MOBILE, rtt=5, regimes=1)
    assert [str(one.message) for one in caught] == [LONG.format(5, 5, 0.005)]
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tcpstream.fit_regimes(MOBILE, rtt=3, regimes=1)


@pytest.mark.parametrize(
    ("line", "status", "refused"),
    [
        (f"fit {MOBILE} --rtt 50 --regimes 1", 2, "a bottleneck sets the largest window"),
        ("throughput --loss 1% --rtt 50 --bottleneck 9Mbps --buffer 9", 2, "a bottleneck sets the largest window"),
        ("delay --loss 1% --rtt 50 --rate 25pps --duration 9", 2, "duration must be at least one round trip time"),
        ("delay --loss 20% --rtt 50 --rate 25pps --duration 90 --target 1e-30", 1, "target late fraction 1e-30 is"),
    ],
)
def test_what_was_hardly_meant_is_said_where_it_leads_to_no_answer(capsys, line, status, refused):
    from tcpstream.cli import main

    assert main(line.split()) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"tcpstream: error: {refused}")
    assert err.endswith(f"; {LONG.format(50, 50, 0.05)}\n")
    assert err.count("\n") == 1
