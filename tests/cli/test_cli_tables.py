"""What people read: sentences, tables, help."""

import re
import shlex

import click
import pytest

import tcpstream
from tcpstream.cli import main, words
from tcpstream.cli.app import group
from tcpstream.cli.blocks import Table
from tcpstream.cli.rendering import text_of

PATH = "--loss 0.02 --rtt 100ms --rto 300ms --sender classic"


def test_stored_has_one_row_per_delay(run):
    line = f"stored {PATH} --rate 25pps --duration 8s --delay 2,0.5,2"
    answer, out = run(f"{line} --json").answer, run(line).out
    rows = [row.split() for row in out.splitlines()[2:5]]
    assert [float(row[0]) for row in rows] == [2, 0.5, 2]
    for i, name in enumerate(("late_fraction", "no_late_probability", "no_late_lower_bound"), 1):
        assert [float(row[i]) for row in rows] == pytest.approx(answer[name], rel=1e-3)
    assert "duration" in out


def test_stored_per_round(run):
    line = f"stored {PATH} --rate 25pps --duration 1s --delay 0,0.5 --per-round"
    curves = run(f"{line} --json").answer["late_probability_per_round"]
    rows = [row.split() for row in run(line).out.split("\n\n")[1].splitlines()[2:]]
    assert len(rows) == max(map(len, curves)) == 15
    assert float(rows[9][2]) == pytest.approx(curves[0][9], rel=1e-3)
    assert float(rows[14][-1]) == pytest.approx(curves[1][14], rel=1e-3)


def test_live_off_the_lattice_says_so(run):
    assert "lattice error" not in run(f"live {PATH} --rate 10pps --delay 1").out
    off = f"live {PATH} --rate 8.7654321pps --delay 1"
    answer, out = run(f"{off} --json").answer, run(off).out
    (error,) = answer["lattice_error"]
    assert error > 0
    assert f"lattice error of f    at most {error:.2g} of itself" in out
    assert f"{answer['late_fraction'][0]:.4g}" in out


def test_throughput_shows_chain_and_formulas(run):
    answer = run(f"throughput {PATH} --json").answer
    out = run(f"throughput {PATH}").out
    for rate in (answer["throughput_pps"], *answer["formulas"].values()):
        assert f"{rate:.4g}" in out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--live", "Wait {} s before playback starts: then at most 1 in 10,000 packets is late."),
        ("--live --target 3e-3", "Wait {} s before playback starts: then at most 0.3% of the packets are late."),
        ("--duration 8 --target 0.9", "Playback can start at once: at most 90% of the packets are late."),
        (
            "--duration 8 --target-no-late 0.95",
            "Wait {} s before playback starts: then with a probability of at least 0.95 no packet is late.",
        ),
    ],
)
def test_delay_begins_with_the_answer(run, options, sentence):
    line = f"delay {PATH} --rate 10pps {options}"
    first, empty, *_ = run(line).out.splitlines()
    tau = run(f"{line} --json").answer["required_startup_delay_s"]
    assert first == sentence.format(words.wait(tau).removesuffix(" s"))
    assert empty == ""


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            "--rate 10pps --live",
            "The path carries 5.7 times the video's rate: the wait bridges the times in which losses ",
        ),
        ("--rate 80pps --duration 8", "The path carries 0.71 of the video's rate: the wait is a head start, "),
        ("--rate 10pps --duration 8 --target 0.9", "The path carries 5.7 times the video's rate."),
        ("--rate 0.5pps --duration 8 --target 0.9", "The path carries 110 times the video's rate."),
    ],
)
def test_delay_says_what_the_wait_is_for(run, options, sentence):
    """T is 57.22 packets/s; the share is rounded down, as is what can be relied on."""
    first, _, meaning, *_ = run(f"delay {PATH} {options}").out.splitlines()
    assert meaning.startswith(sentence)
    assert meaning.endswith("choice." if first.startswith("Wait") else "rate.")


def test_a_lower_rate_shortens_the_wait(run):
    """As it says; and `rate` finds the rate for half of it."""
    line = f"{PATH} --duration 8 --json"
    tau = run(f"delay {line} --rate 40pps").answer["required_startup_delay_s"]
    slower = run(f"rate {line} --delay {tau / 2}").answer["packet_rate_pps"]
    assert slower < 40
    assert run(f"delay {line} --rate {slower * 0.999}pps").answer["required_startup_delay_s"] <= tau / 2


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (3.1234, "3.13 s"), (3.13, "3.13 s"), (0.0041, "0.00410 s"), (99.99, "100.0 s"), (1234.1, "1235 s")],
)
def test_wait_is_never_rounded_down(seconds, text):
    assert words.wait(seconds) == text
    assert float(words.wait(seconds).split()[0]) >= seconds


def test_narrow_terminal_loses_nothing(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TERM", "xterm")
    text = text_of([Table([("0.123456", "7.891011e-07")], ("startup delay", "late fraction"))])
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    assert max(map(len, lines)) <= 20
    assert set("startupdelaylatefraction0.1234567.891011e-07") <= set("".join(lines))
    assert "…" not in text


@pytest.mark.parametrize("command", ["", *group.commands])
def test_help(run, command):
    done = run(f"{command} -h")
    assert done == run(f"{command} --help")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"Usage: tcpstream {command}".rstrip())
    assert max(map(len, done.out.splitlines())) <= 100
    for parameter in group.commands[command].params if command else ():
        assert isinstance(parameter, click.Argument) or parameter.hidden or parameter.opts[0] in done.out


def test_commands_are_listed_in_the_order_of_use(run):
    listed = run("--help").out.split("Commands:")[1]
    assert [line.split()[0] for line in listed.strip().splitlines()] == [
        *("throughput", "share", "stored", "live", "delay", "play", "transfer", "rate", "estimate", "fit"),
        *("sweep", "score", "simulate", "validate", "figure", "claims", "doctor", "schema"),
    ]


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (KeyboardInterrupt(), 130, ""),
        (MemoryError(), 1, "tcpstream: error: not enough memory for this solve"),
        (tcpstream.AccuracyError("lost 1e-3"), 1, "tcpstream: error: lost 1e-3"),
        (tcpstream.MissingExtraError("reading captures", "dpkt", "capture"), 2, "tcpstream: error: reading captures"),
    ],
)
def test_what_stops_a_solve(monkeypatch, capsys, error, status, words):
    def stop(path):
        raise error

    monkeypatch.setattr("tcpstream.tcp.throughput", stop)
    assert main(shlex.split(f"throughput {PATH}")) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert err.strip().startswith(words)
    assert len(err.strip().splitlines()) == (1 if words else 0)
