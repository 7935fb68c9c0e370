"""Paths that vary on the command line: --regimes FILE, its answers beside Python's, and bad files."""

import pytest

import tcpstream
from tcpstream import InputError, Path, Varying, Video

FILE = """
sender = "classic"
losses = "independent"
rtt = 0.1
rto = 0.3
max_window = 5
start = "bad"

[good]
loss = 0.01
mean_stay = 4

[fair]
loss = 0.05
mean_stay = 2
to = {good = 0.25, bad = 0.75}

[bad]
loss = 0.15
mean_stay = 1
"""


def path(loss):
    return Path(sender="classic", loss=loss, losses="independent", rtt=0.1, rto=0.3, max_window=5)


def varying(start=None):
    regimes, to = [path(0.01), path(0.05), path(0.15)], [[0, 0.5, 0.5], [0.25, 0, 0.75], [0.5, 0.5, 0]]
    return Varying(regimes, [4, 2, 1], to=to, names=["good", "fair", "bad"], start=start)


VARYING = varying("bad")


@pytest.fixture
def regimes(tmp_path):
    file = tmp_path / "regimes.toml"
    file.write_text(FILE)
    return file


def test_file_is_the_path(regimes):
    assert Varying.from_toml(regimes) == VARYING


ROWS = """regime, mean_stay, loss, rtt, rto, losses, max_window, to_good, to_fair, to_bad
good, 4, 0.01, 0.1, 0.3, independent, 5, , 0.5, 0.5
fair, 2, 0.05, 0.1, 0.3, independent, 5, 0.25, , 0.75
bad, 1, 0.15, 0.1, 0.3, independent, 5, 0.5, 0.5,
"""


def test_table_is_the_path(tmp_path):
    file = tmp_path / "regimes.csv"
    file.write_text(ROWS)
    assert Varying.from_csv(file, sender="classic") == varying()
    windows = ROWS.replace("0.01,", "1%,").replace("0.5, 0.5", "50%, 50%").replace("\n", "\r\n")
    file.write_bytes(b"\xef\xbb\xbf" + windows.encode())
    assert Varying.from_csv(file, sender="classic") == varying()
    file.write_text(ROWS.replace("good, 4,", "good, 4%,"))
    with pytest.raises(InputError, match="4%"):
        Varying.from_csv(file, sender="classic")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("regime,", "name,", "the first line names the columns"),
        ("rtt,", "rto,", "the first line names the columns, each once"),
        ("fair, 2,", "fair, 2, 3,", "row 2 has 11 values for 10 columns"),
        ("fair, 2,", "good, 2,", "row 2: a regime has a name of its own, got 'good'"),
        ("4, 0.01", ", 0.01", "regime good: mean_stay"),
        ("max_window", "window", "regime good: window is not known"),
        ("0.15", "1.5", "regime bad: loss"),
        ("to_bad", "to_worse", "regime good: to: worse is not known"),
    ],
)
def test_tables_that_are_none(run, tmp_path, old, new, said):
    file = tmp_path / "regimes.CSV"
    file.write_text(ROWS.replace(old, new))
    done = run(f"delay --regimes {file} --sender classic --rate 4pps --duration 3")
    assert done.status == 2
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_what_is_the_same_may_stand_beside_the_file(tmp_path):
    file = tmp_path / "regimes.toml"
    file.write_text(FILE.replace("rto = 0.3\n", ""))
    assert Varying.from_toml(file, rto=0.3) == VARYING
    with pytest.raises(InputError, match="rtt is given in the file and beside it"):
        Varying.from_toml(file, rtt=0.1)


def test_stored(run, regimes):
    done = run(f"stored --regimes {regimes} --rate 40pps --duration 4 --delay 1 --json")
    assert (done.status, done.err) == (0, "")
    expected = tcpstream.stored(VARYING, Video(packet_rate=40, duration=4))
    assert done.answer["late_fraction"] == [expected.late_fraction(1.0)]
    assert done.answer["no_late_probability"] == [expected.no_late_probability(1.0)]
    assert done.answer["parameters"]["start_regime"] == "bad"
    assert [one["loss"] for one in done.answer["parameters"]["regimes"]] == [0.01, 0.05, 0.15]


def test_live_delay_and_play(run, regimes):
    answer = run(f"live --regimes {regimes} --rate 20pps --duration 500ms --delay 200ms --json").answer
    expected = tcpstream.live(VARYING, Video(packet_rate=20, duration=0.5))
    assert answer["late_fraction"] == [expected.late_fraction(0.2)]
    answer = run(f"delay --regimes {regimes} --rate 20pps --duration 4 --target 1% --json").answer
    needed = tcpstream.stored(VARYING, Video(packet_rate=20, duration=4)).required_delay(0.01)
    assert answer["required_startup_delay_s"] == needed
    answer = run(f"play --regimes {regimes} --rate 20pps --duration 500ms --start 200ms --json").answer
    watched = tcpstream.play(VARYING, Video(packet_rate=20, duration=0.5), tcpstream.Player(start=0.2))
    assert answer["stall_probability"] == watched.stall_probability


def test_players_with_buffers_sessions_and_rates(run, regimes, tmp_path):
    line = f"play --regimes {regimes} --rate 20pps --duration 3 --start-buffer 500ms --resume-buffer 1"
    answer = run(f"{line} --sessions 20 --out {tmp_path / 'sessions.csv'} --json").answer
    video = Video(packet_rate=20, duration=3)
    watched = tcpstream.play(VARYING, video, tcpstream.Player(start_buffer=0.5, resume_buffer=1))
    assert answer["stall_probability"] == watched.stall_probability
    assert answer["parameters"]["start_regime"] == "bad"
    assert len((tmp_path / "sessions.csv").read_text().splitlines()) == 21
    pairs = run(f"{line},2 --json").answer
    assert pairs["stall_probability"][0][0] == pytest.approx(watched.stall_probability, abs=1e-9)
    answer = run(f"rate --regimes {regimes} --delay 1 --duration 3 --target 1% --json").answer
    assert answer["packet_rate_pps"] == tcpstream.largest_rate(VARYING, delay=1, duration=3, target=0.01)


def test_table_names_the_regimes(run, regimes):
    done = run(f"delay --regimes {regimes} --rate 20pps --duration 4 --target 1%")
    assert (done.status, done.err) == (0, "")
    assert "regime fair" in done.out
    assert "loss 0.05; stays 2 s" in done.out
    assert "regime bad" in done.out


def test_stream_that_the_path_does_not_carry(run, regimes):
    done = run(f"live --regimes {regimes} --rate 1000pps --delay 1 --json")
    assert done.status == 3
    assert done.answer["late_fraction"] is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("loss = 0.05", "los = 0.05"), "regime fair: los is not known: one of sender, loss"),
        (("loss = 0.05", "maxwindow = 5"), ", max_window, rounds_per_increase, "),
        (("loss = 0.05\n", ""), "regime fair: loss missing"),
        (("loss = 0.05", "loss = 5"), "regime fair: loss rate must lie between 1e-09 and 0.999, got 5"),
        (("loss = 0.05", 'loss = "5%"'), "regime fair: loss rate must be a number"),
        (("loss = 0.05", "loss = 0.05\nrtt = 0.2"), "regime fair: rtt is given before the tables as well"),
        (("mean_stay = 2\n", ""), "regime fair: mean_stay [s] is missing"),
        (("mean_stay = 2", "mean_stay = -2"), "mean stay in fair must be greater than 0 s, got -2"),
        (("good = 0.25, bad", "good = 0.5, bad"), "the probabilities of changes from fair must sum to 1, got 1.25"),
        (("good = 0.25, bad", "gut = 0.25, bad"), "regime fair: to: gut is not known: one of good, fair, bad"),
        (("{good = 0.25, bad = 0.75}", "3"), "regime fair: to has a probability for each regime"),
        (('start = "bad"', 'start = "worse"'), "start is one of the regimes good, fair, bad"),
        (("rtt = 0.1", "rtt = 0.1\ncolour = 1"), "beside the regimes: colour is not known"),
        (('losses = "independent"', 'losses = "bursts"'), "is solved for tcp = reno-sack, cubic, got reno"),
        (("[good]", "[good"), "is not TOML"),
        ((FILE, "rtt = 0.1"), "a path that varies has a table for each regime"),
    ],
)
def test_bad_files(run, regimes, change, words):
    regimes.write_text(FILE.replace(*change))
    done = run(f"stored --regimes {regimes} --rate 40pps --duration 4 --delay 1")
    assert (done.status, done.out) == (2, "")
    assert words in done.err
    assert str(regimes) in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("stored --rate 40pps --duration 4 --delay 1 --loss 0.1", "leave out --loss, or --regimes"),
        ("stored --rate 40pps --duration 4 --delay 1 --rtt 1 --capture x", "leave out --rtt and --capture"),
        ("stored --rate 40pps --duration 4 --delay 1 --rto 0.3", "rto is given in the file and beside it"),
        ("live --rate 4pps --delay 1 --application-limited", "--application-limited takes a Path"),
        ("live --rate 4pps --delay 1 --accuracy exact", "has no exact answer: give the stream a duration, as of 1h"),
        ("live --rate 4pps --duration 3 --delay 1 --accuracy fast", "has an exact answer only, got --accuracy=fast"),
        ("play --rate 4pps --duration 3 --live", "a live stream takes a Path that stays as it is"),
        ("play --rate 4pps --duration 3 --live --on-stall skip", "takes a Path"),
        ("play --rate 4pps --duration 3 --segment 1s", "a player that fetches segments takes a Path"),
        ("play --rate 4pps --duration 3 --pace 2", "a server that paces takes a Path"),
        ("play --rate 4pps --duration 3 --start-buffer 1 --resume-buffer 1 --client-buffer 3", "takes a Path"),
        ("play --rate 4pps --duration 3 --segment 1s --sessions 10 --out {out}", "takes a Path"),
    ],
)
def test_what_has_no_answer(run, regimes, tmp_path, line, words):
    command, _, rest = line.partition(" ")
    done = run(f"{command} --regimes {regimes} {rest.format(out=tmp_path / 'sessions.csv')}")
    assert (done.status, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1


def test_file_that_is_not_there(run, tmp_path):
    done = run(f"play --regimes {tmp_path / 'none.toml'} --rate 4pps --duration 3")
    assert done.status == 2
    assert "none.toml" in done.err
    assert done.err.count("\n") == 1
