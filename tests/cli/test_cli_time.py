"""Time limits, and what a terminal shows of a solve."""

import os
import subprocess
import sys
import time

import pytest

import tcpstream
from tcpstream.cli import progress
from tcpstream.cli.app import group
from tcpstream.system import watch

PATH = "--loss 0.02 --rtt 100ms --rto 300ms --sender classic"
ASKED = {
    "delay": "--rate 25pps --duration 8s",
    "stored": "--rate 25pps --duration 8s --delay 1",
    "live": "--rate 25pps --delay 1",
    "rate": "--live --delay 2",
}
BEGUN, ENDED = b"\x1b[?25l", b"\x1b[?25h"


@pytest.mark.parametrize("command", ASKED)
def test_a_time_limit_that_is_exceeded(run, command):
    done = run(f"{command} {PATH} {ASKED[command]} --time-limit 1e-6ms --json")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("tcpstream: error: the time limit of 1e-09 s is over, ")
    assert done.err.count("\n") == 1
    remedies = done.err.split(": give ")[1]
    assert remedies.startswith("a longer --time-limit")
    options = {word.rstrip(",") for word in remedies.split() if word.startswith("--")}
    assert options <= {one.opts[0] for one in group.commands[command].params}


def test_a_time_limit_that_is_not(run):
    line = f"delay {PATH} --rate 25pps --live"
    assert run(f"{line} --time-limit 10min") == run(line)


def test_a_path_that_does_not_carry_a_stream_is_known_before_time_is_over(run):
    done = run("delay --loss 0.1% --rtt 20ms --rate 25Mbps --live --losses independent --time-limit 1e-6ms --json")
    assert done.status == 3
    assert done.answer["carried"] is None
    assert done.answer["throughput_pps"] < 25e6 / 12000


def test_a_coarse_stream_whose_time_is_over_is_not_solved_otherwise():
    path, video = tcpstream.Path(loss=0.001, rtt=0.02), tcpstream.Video(bitrate=15e6)
    with tcpstream.time_limit(1e-9), pytest.raises(tcpstream.TimeLimitError):
        tcpstream.live(path, video)


def test_a_throughput_that_was_measured_takes_time(run):
    assert run("throughput --throughput 50pps --rtt 100ms --sender classic --time-limit 1e-6ms").status == 1
    assert run(f"throughput {PATH} --time-limit 10").status == 0


@pytest.mark.parametrize(
    ("given", "words"), [("0", "time limit must be greater than 0 s, got 0 s"), ("soon", "--time-limit: 'soon' is not")]
)
def test_bad_time_limits(run, given, words):
    done = run(f"throughput {PATH} --time-limit {given}")
    assert (done.status, done.out) == (2, "")
    assert words in done.err


@pytest.fixture
def terminal():
    """Run Python with standard error on a terminal; return exit status, standard output, and what is seen."""
    pty = pytest.importorskip("pty")

    def call(code):
        ours, theirs = pty.openpty()
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=theirs) as process:
            os.close(theirs)
            seen = b""
            try:
                while more := os.read(ours, 65536):
                    seen += more
            except OSError:  # its other end is closed
                pass
            os.close(ours)
            return process.wait(60), process.stdout.read(), seen

    return call


SLOW = """
import sys, time
from tcpstream import tcp
from tcpstream.cli import main, progress
from tcpstream.system import watch

def slow(path):
    for done in range(8):
        watch.at(done, 8)
        time.sleep(0.1)
    return 50.0

progress.AFTER = {after}
tcp.throughput = slow
status = main("throughput --loss 0.02 --rtt 100ms --sender classic {options}".split())
print("rich.progress" in sys.modules)
sys.exit(status)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_a_slow_solve_has_a_bar_that_vanishes(terminal):
    status, out, seen = terminal(SLOW.format(after=0.1, options=""))
    assert (status, out[:11]) == (0, b"throughput ")
    assert seen.startswith(BEGUN)
    assert b"solving" in seen
    assert b"%" in seen
    assert seen.rstrip().endswith(b"\x1b[2K")  # the line is cleared, and the cursor is there again
    assert seen.count(BEGUN) == seen.count(ENDED) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_a_quick_solve_has_none(terminal):
    assert terminal(SLOW.format(after=30, options=""))[2] == b""


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_a_bar_gives_way_to_an_error(terminal):
    status, out, seen = terminal(SLOW.format(after=0.1, options="--time-limit 500ms"))
    assert (status, out) == (1, b"True\n")
    assert b"tcpstream: error: the time limit of 0.5 s is over" in seen.split(b"\x1b[2K")[-1]


def test_a_pipe_sees_nothing_and_loads_nothing():
    done = subprocess.run(
        [sys.executable, "-c", SLOW.format(after=0.1, options="")], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("False\n")


def test_code_that_does_not_look_at_the_clock_ends_as_well():
    """Rounds of a transfer are one compiled loop."""
    line = "transfer --loss .1% --rtt 40ms --size 20MB --time-limit 1s"
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "tcpstream", *line.split()], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("the time limit of 1 s is over") == done.stderr.count("\n") == 1
    assert time.monotonic() - begun < 15  # loading is counted


def test_a_bar_that_comes_too_late_does_not_begin(monkeypatch):
    late = progress._Late("solving")
    late.end()
    late.begin()
    late.show(0.5)
    assert not late._stack._exit_callbacks


def test_looks_are_cheap():
    """Some hundred nanoseconds where nobody watches; ten times that is allowed here."""
    begun = time.perf_counter()
    for done in range(10_000):
        watch.at(done, 10_000)
    assert time.perf_counter() - begun < 10_000 * 3e-6
    assert tcpstream.time_limit.__doc__
