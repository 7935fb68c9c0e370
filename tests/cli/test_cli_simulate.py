"""``tcpstream simulate``: its options, its JSON, its files."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import tcpstream
from tcpstream import sim
from tcpstream.answers.answer import SCHEMA

EXAMPLES = Path(__file__).parents[2] / "examples"
LIVE = "simulate --rtt 100ms --rate 25pps --live --seconds 50 --runs 3"
MEANS = ("loss", "loss_event_rate", "rtt_s", "rto_s", "timeout_ratio", "throughput_pps")
OF_DELAYS = ("late_fraction", "stalls", "stalled_s")


def test_json(run):
    done = run(f"{LIVE} --loss 0.05 --delay 0.3,1 --json")
    assert (done.status, done.err) == (0, "")
    found = done.answer
    assert set(found) == {
        *("schema", "version", "parameters", "intervals", "startup_delay_s", "no_late_share", "warnings"),
        *MEANS, *OF_DELAYS,
    }  # fmt: skip
    assert (found["schema"], found["version"], found["warnings"]) == (SCHEMA, tcpstream.__version__, [])
    assert found["startup_delay_s"] == [0.3, 1]
    assert set(found["intervals"]) == {*MEANS, *OF_DELAYS}
    for key in MEANS:
        low, high = found["intervals"][key]
        assert low <= found[key] <= high
    for key in OF_DELAYS:
        assert all(low <= mean <= high for mean, (low, high) in zip(found[key], found["intervals"][key]))
    given = found["parameters"]
    wanted = {"packet_rate_pps": 25, "duration_s": None, "simulated_s": 50, "runs": 3, "seed": 1, "file": None}
    assert {key: given[key] for key in wanted} == wanted


def test_numbers_are_the_librarys(run):
    found = run(f"{LIVE} --loss 0.05 --delay 0.3,1 --seed 4 --json").answer
    path = sim.single_path(sim.Link(0.05, loss=sim.Bernoulli(0.05)), sim.Link(0.05), source=sim.Steady(25))
    flows = [one.flows[0] for one in sim.replicate(lambda _rng: path, 3, 4, 50)]
    assert found["late_fraction"] == [np.mean([flow.late_fraction(tau) for flow in flows]) for tau in (0.3, 1)]
    assert found["loss"] == np.mean([flow.loss_rate for flow in flows])


def test_one_run_has_no_interval(run):
    shown = run("simulate --rtt 100ms --rate 25pps --live --seconds 5 --runs 1 --delay 1").out
    assert "nan" not in shown
    assert "needs two runs" in shown
    assert "1 run of 5 s, seed 1" in shown


@pytest.mark.parametrize(
    ("options", "link", "tcp"),
    [
        ("--loss 0.1 --loss-process round", {"loss": sim.RoundLoss(0.1)}, {}),
        ("--gilbert-elliott 0.01,0.5,0.9", {"loss": sim.GilbertElliott(0.01, 0.5, 0.9)}, {}),
        ("--gilbert-elliott 0.01,0.5,0.9,0.02", {"loss": sim.GilbertElliott(0.01, 0.5, 0.9, 0.02)}, {}),
        ("--bandwidth 1Mbps --queue 7", {"rate": 1e6, "queue": 7}, {}),
        ("--bandwidth 100pps --packet-size 1000", {"rate": 8e5}, {"packet_size": 1000}),
        ("--tcp sack --max-window 20 --ack-every 2 --min-rto 1s", {}, {
            "variant": "sack", "max_window": 20, "ack_every": 2, "min_rto": 1.0}),
        ("--granularity 500ms --no-slow-start --initial-window 4", {}, {
            "granularity": 0.5, "slow_start": False, "initial_window": 4}),
    ],
)  # fmt: skip
def test_options(run, options, link, tcp):
    from tcpstream.sim.files import from_plain

    found = from_plain(run(f"{LIVE} {options} --json").answer["parameters"]["scenario"])
    wanted = sim.single_path(sim.Link(0.05, **link), sim.Link(0.05), sim.Tcp(**tcp), sim.Steady(25))
    assert found == wanted


def test_traces(run, tmp_path):
    (tmp_path / "lost").write_text("0\n0\n0\n0\n1\n")
    found = run(f"{LIVE} --loss-trace {tmp_path}/lost --capacity {EXAMPLES}/cell.trace --json").answer
    assert found["loss"] == pytest.approx(0.2, abs=0.01)
    links = found["parameters"]["scenario"]["links"]
    assert len(links["there"]["capacity"]) == 280
    assert links["there"]["loss"]["lost"] == [False] * 4 + [True]


def test_stored(run):
    found = run(
        "simulate --rtt 100ms --bandwidth 100pps --rate 90pps --duration 20s --delay 1,2 --runs 1 --json"
    ).answer
    assert found["late_fraction"] == [0, 0]
    assert found["no_late_share"] == [1, 1]
    assert found["parameters"]["duration_s"] == 20
    assert found["parameters"]["simulated_s"] == 22
    assert found["intervals"]["late_fraction"] == [[None, None]] * 2


STORED = "simulate --rtt 100ms --loss 0.02 --tcp sack --rate 60pps --duration 20s --runs 5"
HELD = "--start-buffer 1s --resume-buffer 1s --client-buffer 2s --refill-at 1s --idle keep"


def test_players(run):
    """As the library, in the names of play; startup delays stay beside them."""
    found = run(f"{STORED} {HELD} --delay 1 --json").answer
    player = sim.Player(start_buffer=1, resume_buffer=1, client_buffer=2, refill_at=1, idle="keep")
    path = sim.single_path(
        sim.Link(0.05, loss=sim.Bernoulli(0.02)), sim.Link(0.05), sim.Tcp("sack"), sim.Stored(60, 20, player)
    )
    sessions = [one.flows[0].session(player, 60, 20) for one in sim.replicate(lambda _rng: path, 5, 1, 400)]
    assert found["join_time_s"]["mean"] == np.mean([one.join_time for one in sessions])
    assert found["rebuffer_count"]["mean"] == np.mean([len(one.stall_start) for one in sessions])
    assert found["total_rebuffer_s"]["mean"] == pytest.approx(np.mean([one.total_rebuffer for one in sessions]))
    assert len(found["stalls"]) == len(found["stalled_s"]) == 1
    assert {key: found["parameters"][key] for key in player.to_dict()} == player.to_dict()
    play = run(
        f"play --loss 0.1 --rtt 100ms --rto 200ms --sender classic --max-window 8 --rate 20pps --duration 4s {HELD} "
        "--json"
    ).answer
    names = ("join_time_s", "stall_probability", "total_rebuffer_s", "rebuffer_count", "stall_length_s")
    assert {*names, "first_stall_s", "rebuffering_ratio"} <= found.keys() & play.keys()
    assert found["join_time_s"].keys() == play["join_time_s"].keys()
    assert len(found["rebuffer_count"]["pmf"]) == len(play["rebuffer_count"]["pmf"])


def test_players_in_words(run):
    done = run(f"{STORED} {HELD}").out
    assert "starts with 1 s, resumes with 1 s, reads until 2 s are held and again at 1 s" in done
    assert "length of a stall [s]" in done
    done = run(f"{STORED} --start 500ms").out
    assert "starts after 0.5 s" in done
    assert "number of stalls" not in done  # one for each packet


def test_table(run):
    done = run(f"{LIVE} --loss 0.05 --delay 0.3,1")
    found = run(f"{LIVE} --loss 0.05 --delay 0.3,1 --json").answer
    rows = [re.split(r" {2,}", line) for line in done.out.splitlines()[2:4]]
    assert [float(row[0]) for row in rows] == [0.3, 1]
    assert [float(row[1]) for row in rows] == pytest.approx(found["late_fraction"], rel=1e-3)
    assert f"{found['rtt_s']:.4g}" in done.out
    assert "live, 25 packets/s (300 kbit/s)" in done.out
    assert "3 runs of 50 s, seed 1" in done.out
    assert "late fraction" not in run(LIVE).out


def test_file(run):
    done = run(f"simulate {EXAMPLES}/cell.toml --runs 2 --seconds 30 --seed 5 --delay 3 --json")
    assert (done.status, done.err) == (0, "")
    parameters = done.answer["parameters"]
    assert (parameters["runs"], parameters["simulated_s"], parameters["seed"]) == (2, 30, 5)
    assert done.answer["startup_delay_s"] == [3]


def test_written_runs(run, tmp_path):
    assert run(f"{LIVE} --loss 0.05 --csv {tmp_path}/out.csv --save {tmp_path}/out.npz").status == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        f"out-{i}.{end}" for i in (1, 2, 3) for end in ("csv", "npz")
    ]
    saved = sim.Run.load(tmp_path / "out-2.npz")
    assert saved.seed == {"entropy": 1, "spawn_key": [1]}
    assert run(f"{LIVE.replace('--runs 3', '--runs 1')} --loss 0.05 --csv {tmp_path}/one.csv").status == 0
    assert (tmp_path / "one.csv").read_text().startswith("# tcpstream: ")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("simulate", "missing --rtt and --rate: give --rtt T --rate R, or the FILE of a scenario"),
        ("simulate --rtt 100ms --rate 25pps", "give --live for a live stream, or --duration T for a stored video"),
        (f"{LIVE} --duration 8", "give --live for a live stream, or --duration T"),
        (f"{LIVE} --loss 2", "loss probability p must be in 0..1, got 2"),
        (f"{LIVE} --loss 0.1 --gilbert-elliott 0.1,0.1,1", "give one of --loss, --gilbert-elliott"),
        (f"{LIVE} --loss-process round", "--loss-process needs --loss P"),
        (f"{LIVE} --loss 0.1 --loss-process pareto", "--loss-process must be one of bernoulli, round, got 'pareto'"),
        (f"{LIVE} --gilbert-elliott 0.1", "--gilbert-elliott: three or four numbers are wanted"),
        (f"{LIVE} --bandwidth 5", "--bandwidth: '5' has no unit"),
        (f"{LIVE} --bandwidth 5Mbps --capacity x", "give --bandwidth or --capacity, not both"),
        (f"{LIVE} --capacity none", "cannot read none: No such file or directory"),
        (f"{LIVE} --tcp cubic", "TCP variant must be one of reno, newreno, sack, "),
        (f"{LIVE} --queue 1.5", "queue must be a whole number of at least 1 packets, got 1.5 packets"),
        (f"{LIVE} --rtt -1", "--rtt is given 2 times"),
        ("simulate --rtt -1 --rate 25pps --live", "delay of a link must be at least 0 s, got -0.5 s"),
        (f"{LIVE} --delay 60", "simulated time must be longer than the longest startup delay, 60 s, got 50 s"),
        (f"{LIVE} --start 1s", "--start is for a stored video: give --duration T, or leave it out"),
        (f"{STORED} --start-buffer 1s --refill-at 1s", "--refill-at is for a player that holds so much at most"),
        (f"{STORED} --resume-buffer 1s", "a resume buffer of 1 s needs a start buffer as well"),
        (f"{STORED} --start 1s --client-buffer 4s", "starts with some media held: give a start buffer, as 2 s"),
        (f"{STORED.replace('60pps', '60000pps')} --start 1s", "packets of the video are there: simulate a longer time"),
        (f"simulate {EXAMPLES}/cell.toml --start-buffer 1", "leave out --start-buffer, or FILE"),
        (f"{LIVE} --csv .", "cannot write .: it is no name of a file"),
        (f"{LIVE} --save ''", "cannot write : it is no name of a file"),
        (f"{LIVE} --csv none/out.csv", "cannot write none/out.csv: no such folder"),
        ("simulate none.toml", "cannot read none.toml: No such file or directory"),
        (f"simulate {EXAMPLES}/cell.toml --rtt 1 --no-slow-start", "leave out --rtt and --no-slow-start, or FILE"),
        (f"simulate {EXAMPLES}/cell.toml --runs 0", "number of runs must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_input_is_one_line(run, line, words):
    done = run(line)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("tcpstream: error: ")
    assert done.err.count("\n") == 1
    assert words in done.err


def test_bad_input_of_a_process_has_no_traceback(process, tmp_path):
    (tmp_path / "a.toml").write_text("[video]\nspeed = 3\n[dumbbell]\nrate = 1e6\ndelay = 0.02\nqueue = 9\n")
    done = process(f"simulate {shlex.quote(str(tmp_path))}/a.toml --json")
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        f"tcpstream: error: {tmp_path}/a.toml: video: unknown key 'speed'; "
        "accepted are packet_rate, bitrate, live, duration, delays\n"
    )


def test_compiling_and_progress_are_for_terminals_only(monkeypatch, capsys):
    from numba.core import event

    from tcpstream.cli.progress import progress

    with progress(3, "simulating") as done:
        done()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress(3, "simulating") as done:
        done()
        with event.trigger_event("numba:compile"):
            pass
    assert "simulating" in capsys.readouterr().err


def test_a_path_without_delay_has_no_timeout_ratio(run):
    done = run("simulate --rtt 0 --loss 0.5 --rate 10pps --live --seconds 20 --runs 1 --json")
    assert (done.status, done.answer["rtt_s"], done.answer["timeout_ratio"]) == (0, 0, None)


def test_traffic_without_a_video(run, tmp_path):
    """Tables for people, JSON and CSV have all flows."""
    file = tmp_path / "net.toml"
    file.write_text("""
seconds = 10
runs = 2
bins = 5
links.a.delay = 0.1
[[flows]]
name = "cross"
there = ["a"]
tcp = false
source = { kind = "steady", packet_rate = 10.05 }
[[flows]]
there = ["a"]
back = ["a"]
tcp = false
source = { kind = "ping" }
""")
    done = run(f"simulate {file} --csv {tmp_path}/t.csv --save {tmp_path}/r.npz --seed 3")
    lines = [line.split() for line in done.out.splitlines()]
    assert ["cross", "121.2", "120", "120", "to", "120", "0", "0", "to", "0"] in lines
    assert ["flow", "2", "rtt_s", "0.2", "0.2", "to", "0.2"] in lines
    assert "simulated  2 runs of 10 s, seed 3" in done.out
    found = run(f"simulate {file} --json --runs 1").answer
    assert set(found) == {"schema", "version", "parameters", "flows", "warnings"}
    assert found["parameters"]["runs"] == 1
    assert found["flows"][0]["received_bps"] == 120e3
    assert found["flows"][1]["figures"]["loss"] == 0
    rows = [line for line in (tmp_path / "t-1.csv").read_text().splitlines() if line[0] != "#"]
    assert rows[1:3] == ['"cross",0,5,76500,75000,0', '"cross",5,10,75000,75000,0']
    assert sim.Run.load(tmp_path / "r-2.npz").traffic[1].noted("rtt")[1].tolist() == pytest.approx([0.2] * 10)
    refused = run(f"simulate {file} --delay 1")
    assert (refused.status, refused.out) == (2, "")
    assert "startup delays and a player are those of a video" in refused.err
