"""``tcpstream play``: its JSON is the library's answer."""

from __future__ import annotations

import pytest

import tcpstream
from tcpstream.cli.seen import known
from tcpstream.cli.words import wait

PATH = "--loss 0.04 --rtt 100ms --rto 400ms --sender classic --max-window 6"


def test_the_answer_is_the_librarys(run):
    done = run(f"play {PATH} --rate 20pps --duration 3s --start 1s --target-stall 0.05 --json")
    assert (done.status, done.err) == (0, "")
    path = tcpstream.Path(loss=0.04, rtt=0.1, rto=0.4, sender="classic", max_window=6)
    result = tcpstream.play(path, tcpstream.Video(packet_rate=20, duration=3), tcpstream.Player(1.0))
    assert done.answer["stall_probability"] == result.stall_probability
    assert done.answer["total_rebuffer_s"]["mean"] == result.mean_total_rebuffer
    assert done.answer["required_start_s"] == result.required_start(stall_probability=0.05)
    assert done.answer["parameters"]["start_s"] == 1
    assert done.answer["error_bound"] == result.errors


def test_it_says_what_a_viewer_sees(run):
    lines = run(f"play {PATH} --rate 20pps --duration 3s --target-ratio 0.01").out.splitlines()
    assert lines[0].endswith("before playback starts: then at most 0.01 of the time stalls.")
    assert lines[2].split() == ["playback", "starts", "after", "2", "s"]
    assert [line for line in lines if line.startswith("probability of a stall")]


@pytest.mark.long
def test_a_capture_gives_every_answer_an_interval(run, capture):
    done = run(f"play --capture {capture} --rate 1.2Mbps --duration 5s --sender classic --json").answer
    for key, value in (
        ("stall_probability_interval", done["stall_probability"]),
        ("total_rebuffer_mean_interval_s", done["total_rebuffer_s"]["mean"]),
        ("rebuffering_ratio_interval", done["rebuffering_ratio"]),
    ):
        low, high = done[key]
        assert low <= value <= high


@pytest.mark.long
def test_the_start_for_a_target_has_a_90_percent_interval(run, capture):
    line = f"play --capture {capture} --rate 800kbps --duration 8s --sender classic --target-stall 5%"
    answer, out = run(f"{line} --json").answer, run(line).out
    (low, high), widest = answer["required_start_90_interval_s"], answer["required_start_interval_s"]
    start = answer["required_start_s"]
    assert widest[0] < low < start < high < widest[1]
    assert out.startswith(
        f"Wait {wait(start)} before playback starts (90% interval {low:.3g} s to {wait(high)}): then "
    )


@pytest.mark.parametrize(
    ("error", "text"),
    [(0.0, "0.5, within 0.1%"), (0.0201, "0.5, within 5%"), (0.0617, "0.5, within 13%"), (0.4999, "0.5, within 100%"),
     (0.5, "0.5, at most 1"), (2.0, "0.5, at most 1")],
)  # fmt: skip
def test_as_far_as_an_answer_is_known(error, text):
    assert known(0.5, error, "stall_probability") == text


@pytest.mark.parametrize(
    ("value", "error", "name", "text"),
    [(0.0312, 0.0571, "stall_probability", "0.031, at most 0.089"), (0, 3e-8, "rebuffering_ratio", "0, at most 3e-08"),
     (0.0, 0.0, "mean_total_rebuffer", "0 s"), (0.5, 1.234, "mean_total_rebuffer", "0.5 s, at most 1.8 s")],
)  # fmt: skip
def test_an_answer_that_may_be_off_by_all_of_it(value, error, name, text):
    assert known(value, error, name) == text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--rate 20pps", "duration"),
        ("--rate 20pps --duration 10s --start=-1s", "start must not be negative, got -1 s"),
        ("--rate 20pps --duration 10s --target-stall 2", "stall probability must lie strictly between 0 and 1, got 2"),
        ("--rate 20pps --duration 10s --target-stall .1 --target-ratio .1", "not both"),
        ("--rate 20pps --duration 10s --resume-buffer 5s", "a resume buffer of 5 s needs a start buffer"),
        ("--rate 20pps --duration 10s --start 1s --start-buffer 1s", "not both"),
        ("--rate 20pps --duration 10s --start-buffer 0s", "start buffer must be above 0, got 0 s"),
        ("--rate 20pps --duration 10s --client-buffer 5s", "give a start buffer, as 2 s"),
        ("--rate 20pps --duration 10s --refill-at 5s", "--refill-at is for a player that holds so much at most"),
        ("--rate 20pps --duration 10s --segment 2s --refill-at 5s", "--refill-at is for a player without segments"),
        ("--rate 20pps --duration 10s --pace 0.5", "pace must lie between 1 and 1e+06 times the rate, got 0.5"),
        ("--rate 20pps --duration 10s --burst 5s", "--burst is for a server that paces: give --pace as well"),
        ("--rate 20pps --duration 10s --pace 2 --start-buffer 2s", "leave out --start-buffer, or --pace"),
    ],
)
def test_bad_input(run, options, message):
    done = run(f"play {PATH} {options}")
    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_a_player_that_holds_no_more_than_so_much(run):
    line = (
        f"play {PATH} --rate 20pps --duration 15s --start-buffer 1s --resume-buffer 1s --client-buffer 3s "
        "--refill-at 2s --idle keep"
    )
    done = run(f"{line} --json")
    assert (done.status, done.err) == (0, "")
    path = tcpstream.Path(loss=0.04, rtt=0.1, rto=0.4, sender="classic", max_window=6)
    player = tcpstream.PausingPlayer(start_buffer=1, resume_buffer=1, client_buffer=3, refill_at=2, idle="keep")
    result = tcpstream.play(path, tcpstream.Video(packet_rate=20, duration=15), player)
    assert done.answer["stall_probability"] == result.stall_probability
    assert done.answer["stalls_per_hour"] == result.stalls_per_hour
    assert done.answer["parameters"]["refill_at_s"] == 2
    out = run(line).out
    assert "reads until, and again at           3 s, 2 s held" in out
    assert "stalls per hour, in the long run" in out


def test_a_server_that_paces(run):
    line = f"play {PATH} --rate 20pps --duration 10s --start 1s --pace 1.25 --burst 500ms --target-stall 0.05"
    done = run(f"{line} --json")
    assert (done.status, done.err) == (0, "")
    path = tcpstream.Path(loss=0.04, rtt=0.1, rto=0.4, sender="classic", max_window=6)
    video, pacing = tcpstream.Video(packet_rate=20, duration=10), tcpstream.Pacing(1.25, burst=0.5)
    result = tcpstream.play(path, video, tcpstream.Player(1.0), pacing=pacing)
    assert done.answer["stall_probability"] == result.stall_probability
    assert done.answer["required_start_s"] == result.required_start(stall_probability=0.05)
    assert (done.answer["parameters"]["pace"], done.answer["parameters"]["burst_s"]) == (1.25, 0.5)
    assert "sent at most at                   1.25 times the rate, after 0.5 s" in run(line).out


def test_a_player_with_buffers(run):
    done = run(f"play {PATH} --rate 20pps --duration 10s --start-buffer 1s --resume-buffer 1500ms --json")
    assert (done.status, done.err) == (0, "")
    path = tcpstream.Path(loss=0.04, rtt=0.1, rto=0.4, sender="classic", max_window=6)
    player = tcpstream.Player(start_buffer=1, resume_buffer=1.5)
    result = tcpstream.play(path, tcpstream.Video(packet_rate=20, duration=10), player)
    assert done.answer["stall_probability"] == result.stall_probability
    assert done.answer["rebuffer_count"] == {"mean": result.mean_stalls, "pmf": result.stall_counts.tolist()}
    assert done.answer["join_time_s"]["mean"] == result.mean_join_time
    assert done.answer["error_bound"] == result.errors


def test_what_is_said_of_a_player_with_buffers(run):
    said = run(f"play {PATH} --rate 20pps --duration 10s --start-buffer 1s --resume-buffer 1500ms").out
    for text in ("resumes with  1 s, 1.5 s", "join time, mean", "first stall after", "probability of each number"):
        assert text in said
    alone = run(f"play {PATH} --rate 20pps --duration 10s --start-buffer 1s").out
    assert "number of stalls" not in alone


def test_the_start_buffer_for_a_target(run):
    command = f"play {PATH} --rate 20pps --duration 5s --start-buffer 1s --resume-buffer 1s --target-stall 0.1"
    done = run(f"{command} --json")
    needed = done.answer["required_start_buffer_s"]
    assert done.answer["parameters"]["target_stall_probability"] == 0.1
    assert "required_start_s" not in done.answer
    path = tcpstream.Path(loss=0.04, rtt=0.1, rto=0.4, sender="classic", max_window=6)
    player = tcpstream.Player(start_buffer=needed, resume_buffer=1)
    assert tcpstream.play(path, tcpstream.Video(packet_rate=20, duration=5), player).stall_probability <= 0.1
    first = run(command).out.splitlines()[0]
    assert first.endswith(" s of media before playback starts: then at most 10% of viewers see a stall.")
    assert float(first.split()[1]) == pytest.approx(needed, rel=0.01)


SACK = "--loss 0.04 --rtt 100ms --rto 400ms --sender classic --tcp reno-sack --max-window 8"


def test_a_live_stream_whose_player_waits(run):
    done = run(f"play {SACK} --rate 20pps --duration 2s --start 600ms --live --target-stall 0.05 --json")
    assert (done.status, done.err) == (0, "")
    path = tcpstream.Path(sender="classic", loss=0.04, rtt=0.1, rto=0.4, tcp="reno-sack", max_window=8)
    result = tcpstream.play(path, tcpstream.Video(packet_rate=20, duration=2), tcpstream.Player(0.6), live=True)
    assert done.answer["stall_probability"] == result.stall_probability
    assert done.answer["total_rebuffer_s"]["p90"] == result.total_rebuffer_quantile(0.9)
    assert done.answer["first_stall_s"]["mean"] == result.mean_first_stall
    assert done.answer["required_start_s"] == result.required_start(stall_probability=0.05)
    assert done.answer["error_bound"] == result.errors
    shown = run(f"play {SACK} --rate 20pps --duration 2s --start 600ms --live").out
    assert "first stall after, 50%, 90%, 99%" in shown


def test_a_live_stream_whose_player_skips(run, capture):
    done = run(f"play {SACK} --rate 20pps --start 600ms --live --on-stall skip --json")
    assert (done.status, done.err) == (0, "")
    path, skips = tcpstream.Path(sender="classic", loss=0.04, rtt=0.1, rto=0.4, tcp="reno-sack", max_window=8), "skip"
    result = tcpstream.play(path, tcpstream.Video(packet_rate=20), tcpstream.Player(0.6, on_stall=skips), live=True)
    assert done.answer["skipped_fraction"] == result.skipped_fraction
    assert "skipped, and stalled" in run(f"play {SACK} --rate 20pps --live --on-stall skip").out
    counted = run(f"play {SACK} --rate 20pps --start 600ms --live --on-stall skip --resume-buffer 300ms")
    assert "stalls per hour played" in counted.out
    spread = run(f"play --capture {capture} --sender classic --rate 400kbps --live --on-stall skip --json").answer
    low, high = spread["skipped_fraction_interval"]
    assert low <= spread["skipped_fraction"] <= high


def test_a_stream_that_tcp_does_not_sustain_has_no_skipping_player(run):
    path = "--loss 0.04 --rtt 100ms --sender classic --tcp reno-sack --max-window 20"
    done = run(f"play {path} --rate 900pps --live --on-stall skip --json")
    assert done.status == 3
    assert done.answer["skipped_fraction"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--live --rate 20pps", "needs a duration"),
        ("--live --rate 20pps --duration 10s --on-stall jump", "--on-stall must be one of wait, skip, got 'jump'"),
        ("--live --rate 20pps --duration 10s --on-stall skip", "leave out the duration, got 10 s"),
        ("--live --rate 20pps --duration 10s --start-buffer 1s", "starts after a delay"),
        ("--live --rate 20pps --duration 10s --resume-buffer 1s", "leave out --resume-buffer"),
        ("--live --rate 20pps --on-stall skip --target-stall 0.1", "are for a player that waits"),
        ("--live --rate 20pps --duration 10s --accuracy fast", "one accuracy, got --accuracy=fast"),
        ("--rate 20pps --duration 10s --on-stall skip", "a stored video waits"),
    ],
)
def test_bad_live_input(run, options, message):
    done = run(f"play {SACK} {options}")
    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1


LINUX = "--loss 0.02 --rtt 100ms --sender linux --tcp reno-sack --max-window 24 --rate 700kbps --duration 100s"


def test_segments_are_the_librarys(run):
    done = run(f"play {LINUX} --segment 4s --client-buffer 10s --target-stall 0.01 --json")
    assert (done.status, done.err) == (0, "")
    path = tcpstream.Path(loss=0.02, rtt=0.1, sender="linux", tcp="reno-sack", max_window=24)
    player = tcpstream.SegmentPlayer(segment=4, client_buffer=10)
    result = tcpstream.play(path, tcpstream.Video(bitrate=700e3, duration=100), player)
    assert done.answer["stall_probability"] == result.stall_probability
    assert done.answer["rebuffer_count"]["mean"] == result.mean_stalls
    assert done.answer["stalls_per_hour"] == result.stalls_per_hour
    assert done.answer["required_start_buffer_s"] == result.required_start_buffer(stall_probability=0.01)
    assert done.answer["parameters"]["segment_s"] == 4
    assert done.answer["error_bound"] == result.errors


def test_segments_in_a_table(run):
    lines = run(f"play {LINUX} --segment 4s --client-buffer 10s --idle keep").out.splitlines()
    assert lines[0].split(None, 1) == ["segments", "25 of 4 s, at most 10 s held"]
    assert next(line for line in lines if line.startswith("segments after an idle restart")).endswith(" 0%")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--segment 4s --start 1s", "give --start-buffer, not --start"),
        ("--client-buffer 8s", "a player with a client buffer starts with some media held"),
        ("--idle keep", "--idle is for a player that holds so much at most"),
        ("--segment 4s --client-buffer 2s", "client buffer must be above the segment of 4 s"),
        ("--segment 4s --accuracy exact", "a player that fetches segments has one accuracy"),
    ],
)
def test_segments_that_are_refused(run, options, message):
    done = run(f"play {LINUX} {options}")
    assert done.status == 2
    assert done.out == ""
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_a_player_by_its_name(run):
    done = run(f"play {LINUX} --player exoplayer --segment 4s --client-buffer 20s --setup-round-trips 2 --json")
    assert (done.status, done.err) == (0, "")
    video = tcpstream.Video(bitrate=700e3, duration=100)
    player = tcpstream.known_player("exoplayer", video, segment=4, client_buffer=20, setup_round_trips=2)
    path = tcpstream.Path(loss=0.02, rtt=0.1, sender="linux", tcp="reno-sack", max_window=24)
    result = tcpstream.play(path, video, player)
    assert done.answer["join_time_s"]["mean"] == result.mean_join_time
    assert done.answer["parameters"] | player.to_dict() == done.answer["parameters"]
    assert done.answer["parameters"]["setup_round_trips"] == 2
    assert done.answer["parameters"]["resume_buffer_s"] == 8


def test_round_trips_before_the_request_are_join_time(run):
    command = f"play {PATH} --rate 20pps --duration 2s"
    for player in ("--start 1s", "--start-buffer 1s --resume-buffer 1s"):
        plain, counted = (run(f"{command} {player} {more} --json").answer for more in ("", "--setup-round-trips 2"))
        assert counted["join_time_s"]["p90"] == pytest.approx(plain["join_time_s"]["p90"] + 0.3)
        assert counted["stall_probability"] == plain["stall_probability"]


def test_sessions_are_written(run, tmp_path):
    out = tmp_path / "sessions.csv"
    command = f"play {PATH} --rate 20pps --duration 2s --start 500ms --sessions 50 --seed 3 --out {out}"
    done = run(f"{command} --json")
    first, *rows = out.read_text().splitlines()
    assert first == "session,join_time_s,stalls,total_rebuffer_s,rebuffering_ratio,stall_start_s,stall_length_s"
    assert len(rows) == 50
    stalled = sum(row.split(",")[2] != "0" for row in rows)
    assert done.answer["sessions"] == {"drawn": 50, "seed": 3, "with_stalls": stalled, "file": str(out)}
    assert f"50 sessions, {stalled} of them with stalls, are in {out} (seed 3)." in run(command).out
    assert out.read_text().splitlines()[1:] == rows
    sizes = tmp_path / "sizes.csv"
    sizes.write_text("time_s,bytes\n0,3000\n1,3000\n")
    refused = run(f"play {PATH} --playback {sizes} --start 1s --sessions 5 --out {sizes}")
    assert (refused.status, sizes.read_text()[:12]) == (2, "time_s,bytes")
    assert f"{sizes} is there, and no table of sessions" in refused.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--player vlc --segment 4s", "--player must be one of hls.js, shaka, exoplayer, media3, dash.js, mpv"),
        ("--player shaka", "shaka fetches segments"),
        ("--player shaka --segment 4s --start 2s", "give --start-buffer, not --start"),
        ("--player mpv --idle keep", "--idle is for a player that holds so much at most"),
        ("--player mpv --live", "--player is for stored videos"),
        ("--live --setup-round-trips 1", "round trips before the request are those of a stored video"),
        ("--setup-round-trips=-1", "round trips before the request must be a whole number of at least 0, got -1"),
        ("--player HLS.js", "--player HLS.js fetches segments: give the media in one, --segment, as 4s"),
        (
            "--pace 1.2 --segment 4s",
            "--pace is for a stored video whose player starts after a delay: leave out --segment",
        ),
        ("--pace 1.2 --start-buffer 2s", "leave out --start-buffer, or --pace"),
        ("--sessions 10", "--sessions is for sessions that are drawn: give --out FILE as well"),
        ("--out a.csv", "--out is for sessions that are drawn: give --sessions N as well"),
        ("--seed 10", "give --sessions N and --out FILE as well"),
        ("--target-stall 1e-30", "--target-stall must be at least 1e-16, and below 1, got 1e-30"),
        ("--sessions 1.5 --out a.csv", "sessions must be a whole number"),
        ("--sessions 10 --out a.json", "written as .csv, got a.json"),
        ("--sessions 10 --out nowhere/a.csv", "no such folder"),
        ("--sessions 10 --out a.csv --live --on-stall skip", "leave out --sessions, or --on-stall"),
        ("--sessions 10 --out a.csv --pace 2", "leave out --sessions, or --pace"),
        ("--sessions 10 --out a.csv --start-buffer 2s --client-buffer 8s", "leave out --sessions, or --client-buffer"),
    ],
)
def test_players_and_sessions_that_are_refused(run, options, message):
    done = run(f"play {LINUX} {options}")
    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_a_video_from_the_sizes_of_its_segments(run, tmp_path):
    file = tmp_path / "movie.json"
    file.write_text('{"segment_duration_ms": 2000, "segment_sizes_bits": [[9e4, 48e4], [9e4, 24e4], [9e4, 48e4]]}')
    done = run(f"play {PATH} --playback {file} --rung 2 --start 1s --json")
    assert (done.status, done.err) == (0, "")
    path = tcpstream.Path(loss=0.04, rtt=0.1, rto=0.4, sender="classic", max_window=6)
    video = tcpstream.Video(curve=([0, 2, 4, 6], [0, 40, 60, 100]))
    assert done.answer["stall_probability"] == tcpstream.play(path, video, tcpstream.Player(1.0)).stall_probability
    streamed = run(f"play {PATH} --playback {file} --rung 2 --start 1s --live --json").answer
    live = tcpstream.play(path, video, tcpstream.Player(1.0), live=True)
    assert streamed["stall_probability"] == live.stall_probability
    assert "give rung, from 1 to 2" in run(f"play {PATH} --playback {file}").err
    assert "--rung is for a movie of Sabre" in run(f"play {PATH} --rate 20pps --duration 10s --rung 1").err
