"""The study of real players: how logs are read, which sessions count, and the verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linux.players import verdict
from linux.players.cases import CASES, MSS, Case
from linux.players.mpv import command, read
from linux.players.playback import Playback
from linux.players.rejection import delayed, starved
from linux.players.session import Fetched, Session, UnreadableError
from linux.players.table import table

ROOT = Path(__file__).parents[2]

LOG = """\
[   0.018][v][ffmpeg] Opening http://127.0.0.1:8124/media.au
[   0.018][d][ffmpeg] tcp: Starting connection attempt to 127.0.0.1 port 8124
[   0.019][d][ffmpeg] tcp: Successfully connected to 127.0.0.1 port 8124
[   2.283][v][cplayer] audio ready
[   2.283][v][cplayer] Enter buffering (buffer went from 100% -> 98%) [1.979733s].
[   2.283][v][cplayer] starting audio playback
[   2.396][v][cplayer] End buffering (waited 0.112927 secs) [2.116267s].
[   2.396][v][ao/null] starting AO
[   5.000][v][ao/null] audio end or underrun
[   5.000][w][cplayer] Audio device underrun detected.
[   5.010][v][cplayer] restarting audio after underrun
[   5.010][v][ao/null] starting AO
[   7.419][v][ao/null] audio end or underrun
[   7.419][w][cplayer] Audio device underrun detected.
[   7.419][v][cplayer] Enter buffering (buffer went from 100% -> 0%) [0.000000s].
[  13.257][v][cplayer] Still buffering (buffer went from 0% -> 3%) [0.068267s].
[  17.608][v][cplayer] End buffering (waited 10.188131 secs) [2.048000s].
[  17.608][v][cplayer] restarting audio after underrun
[  17.608][v][ao/null] starting AO
[  22.000][v][cplayer] finished playback, success (reason 0)
[  22.000][v][cplayer] draining left over audio
[  22.200][v][ao/null] audio end or underrun
[  22.396][v][ao/null] audio end or underrun
"""
"""mpv 0.35.1, shortened; an underrun of its output with media in the cache is no stall, but lack of CPU."""


def test_a_log():
    session = read(LOG)
    assert session.boot == 0.018
    assert session.start == pytest.approx(2.378)  # 2.396 - 0.018
    assert session.stalls == [(pytest.approx(5.023), pytest.approx(10.189))]  # 7.419 - 2.396, 17.608 - 7.419
    assert session.stalled == pytest.approx(10.189)
    assert session.played == pytest.approx(20.0)
    assert Session(**json.loads(json.dumps(session.to_dict()))).stalled == session.stalled


@pytest.mark.parametrize(
    "log", ["", LOG.replace("Starting connection", ""), LOG.replace("finished", ""), LOG.replace("starting AO", ""),
            LOG[: LOG.index("[  17.608]")]]
)  # fmt: skip
def test_a_log_that_does_not_reach_the_end(log):
    with pytest.raises(UnreadableError, match="to the end"):
        read(log)


def test_the_command_gives_the_buffer_and_the_log():
    words = command("http://server/media.au", 1.5, "/tmp/mpv.log")
    assert {"--cache-pause-wait=1.5", "--log-file=/tmp/mpv.log", "--cache-pause-initial=yes"} <= set(words)
    assert words[-1] == "http://server/media.au"


def session(boot=0.02, stalls=(), played=50.0):
    return Session(boot, 1.0, list(stalls), played)


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (session(), None),
        (session(played=50.14), None),
        (session(played=50.2), "50 s of media took 50.20 s"),
        (session(played=49.8), None),  # the log lacks its last line
        (session(played=49.7), "50 s of media took 49.70 s"),
        (session(stalls=[(10.0, 2.0)], played=52.19), None),  # its output begins once more
        (session(stalls=[(10.0, 2.0)], played=52.21), "50 s of media took 50.21 s"),
        (session(boot=1.2), "needed 1.20 s to begin"),
        (Fetched([1.0], [3.0], overslept=0.01, waited=0.49), None),
        (Fetched([1.0], [], overslept=0.06, waited=0.1), "woke up 0.060 s too late"),
        (Fetched([1.0], [], overslept=0.01, waited=0.51), "no CPU for 0.51 s"),
    ],
)
def test_players_without_cpu_do_not_count(seen, why):
    found = starved(seen, 50.0)
    assert found is None if why is None else why in found


def test_sessions_beside_a_late_path_do_not_count():
    stalls = [(5.0, 0.16), (20.0, 0.06)]
    assert delayed(stalls, 4.0, 6.0)
    assert not delayed(stalls, 6.0, 30.0)
    assert not delayed(stalls, 1.0, 4.9)


def test_a_player_of_segments():
    player = Playback(segment=2.0, held=4.0)
    assert player.until_room == 0
    player.fetched(5.0)  # the first one is the start, not a stall
    assert (player.buffer, player.until_room) == (2.0, 0.0)
    player.fetched(0.5)
    assert (player.buffer, player.until_room) == (3.5, 1.5)
    player.waited(1.5)
    player.fetched(2.0)  # just in time
    assert (player.buffer, player.stalls) == (2.0, [])
    player.fetched(3.25)
    assert (player.buffer, player.stalls, player.downloads) == (2.0, [1.25], [5.0, 0.5, 2.0, 3.25])


def test_media_has_the_rate_of_its_case():
    sound = Case(0.04, 0.1, 55.0, 50.0, wait=2.0)
    assert sound.bytes / sound.seconds / MSS == pytest.approx(sound.rate, rel=1e-12)
    assert sound.rate == pytest.approx(55.0, rel=1e-4)
    assert all((one.bytes + 240) % MSS == 0 for one in CASES if one.segment)


def test_intervals():
    assert verdict.Interval(1.0, 0.5, 2.0).meets(verdict.Interval(3.0, 2.0, 4.0))
    assert not verdict.Interval(1.0, 0.5, 1.9).meets(verdict.Interval(3.0, 2.0, 4.0))
    assert not verdict.Interval(3.0, 2.0, 4.0).meets(verdict.Interval(1.0, 0.5, 1.9))
    half = verdict.share(5, 10)  # Wilson: (5 + 1.92) / (10 + 3.84), +- 1.96 sqrt(2.5 + 0.96) / 13.84
    assert (half.low, half.value, half.high) == pytest.approx((0.2366, 0.5, 0.7634), abs=1e-4)
    mean = verdict.mean([1.0, 2.0, 3.0, 4.0])  # t = 3.1824 with 3 degrees of freedom, s = 1.2910
    assert (mean.low, mean.value, mean.high) == pytest.approx((2.5 - 2.0543, 2.5, 2.5 + 2.0543), abs=1e-4)


def test_a_prediction_is_between_its_ends_and_the_errors_of_its_solves():
    def solved(value, error):
        return {"stalls": {"value": value, "error": error}}

    answers = {"estimate": solved(2.0, 0.1), "best": solved(1.0, 0.25), "worst": solved(3.0, 0.5)}
    found = verdict.predicted(answers)["stalls"]
    assert (found.low, found.value, found.high) == (0.75, 2.0, 3.5)


def test_what_is_rejected_is_not_measured():
    def one(stalls, wrong=None, boot=0.0):
        played = 9.0 + sum(length for _, length in stalls)
        session = {"boot": boot, "start": 1.0 + len(stalls), "stalls": stalls, "played": played}
        return {"session": session, "wrong": wrong}

    failed = {"session": None, "wrong": "mpv did not play to the end"}
    late, starved_one = one([[1.0, 99.0]], "the path was late"), one([[1.0, 99.0]], boot=2.0)
    sessions = [one([]), one([[1.0, 2.0], [5.0, 4.0]]), late, starved_one, failed]
    found = verdict.measured({"case": {"segment": 0.0, "seconds": 9.0}, "sessions": sessions})
    assert {name: one.value for name, one in found.items()} == {
        "start": 2.0, "stall_probability": 0.5, "stalls": 1.0, "stalled": 3.0
    }  # fmt: skip
    seen = {"downloads": [1.0, 3.0], "overslept": 0.0, "waited": 0.0}
    fetched = [{"session": seen | {"stalls": [1.0] * k}, "wrong": None} for k in (0, 2)]
    found = verdict.measured({"case": {"segment": 4.0, "seconds": 90.0}, "sessions": fetched})
    assert (found["stalls_per_hour"].value, found["download"].value) == (40.0, 2.0)
    assert verdict.within("stalls_per_hour", 40.0, 59.0)
    assert not verdict.within("stalls_per_hour", 40.0, 61.0)
    assert not verdict.within("download", 2.0, 1.8)
    assert verdict.within("download", 2.0, 2.1)


def lines(name):
    return [json.loads(line) for line in (ROOT / "validation/results" / name).read_text("utf-8").splitlines()]


def test_the_page_has_the_tables_of_the_record():
    printed = table(*(lines(f"linux_viewers{part}.jsonl") for part in ("", "_captures", "_solved")))
    page = (ROOT / "docs/kernel.md").read_text("utf-8")
    for block in printed.split("\n\n"):
        assert block in page


def test_the_record_is_of_the_cases_and_knows_each_probability_well():
    records = lines("linux_viewers.jsonl")
    assert [Case(**one["case"]) for one in records] == list(CASES)
    for record in records:
        if not record["case"]["segment"]:
            found = verdict.measured(record)["stall_probability"]
            assert (found.high - found.low) / 2 < 0.1
