"""What goes wrong around an answer: streams, interruptions, the system; and what is not caught."""

import errno
import os
import signal
import subprocess
import sys
import time

import click
import pytest

from tcpstream.cli import main
from tcpstream.cli.app import group
from tcpstream.cli.streams import LONGEST

GOOD = "throughput --loss 0.02 --rtt 100ms --rto 300ms --sender classic"
BAD = "throughput --loss 2 --rtt 100ms --rto 300ms --sender classic"
FULL = "tcpstream: error: cannot write the answer: No space left on device\n"


@pytest.fixture
def failing(monkeypatch):
    """Add a command that raises what is given."""

    def add(error):
        @click.command()
        def fail():
            raise error

        monkeypatch.setitem(group.commands, "fail", fail)

    return add


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX shell")
@pytest.mark.parametrize(
    ("line", "status", "out", "err"),
    [
        (f"{GOOD} >/dev/full", 1, "", FULL),
        ("--help >/dev/full", 1, "", "tcpstream: error: No space left on device\n"),
        (f"{GOOD} >&-", 1, "", "tcpstream: error: cannot write the answer: standard output is closed\n"),
        (f"{BAD} 2>&-", 2, "", ""),
        (f"{BAD} 2>/dev/full", 2, "", ""),
        ("--help | true; exit ${PIPESTATUS[0]}", 141, "", ""),
    ],
)
def test_streams(line, status, out, err):
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m tcpstream {line}"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (status, out, err)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_interruption_ends_a_long_run_at_once():
    """Compiled code in a thread, which would go on for minutes, does not hold it up."""
    line = "simulate --rtt 100ms --rate 1000pps --live --seconds 100000 --runs 2"
    run = subprocess.Popen([sys.executable, "-m", "tcpstream", *line.split()], stdout=-1, stderr=-1, text=True)
    time.sleep(3)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=20)
    assert run.returncode in (130, -signal.SIGINT)
    assert (out, err.strip()) == ("", "")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "full", "a\x1b.csv"), r"error: a\x1b.csv: No space left on device"),
        (OSError("strange"), "error: strange"),
        (MemoryError(), "error: not enough memory for this solve"),
        (OverflowError("too large"), "error: no answer: OverflowError: too large (test_cli_failures.py, line "),
        (RecursionError("too deep"), "error: no answer: RecursionError: too deep (test_cli_failures.py, line "),
    ],
)
def test_failures_of_the_system_and_of_arithmetic_are_one_line(failing, capsys, error, words):
    failing(error)
    assert main(["fail"]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err


@pytest.mark.parametrize("error", [TypeError("no such thing"), IndexError(), AssertionError(), ZeroDivisionError()])
def test_what_only_a_mistake_of_the_program_raises_is_not_hidden(failing, error):
    failing(error)
    with pytest.raises(type(error)):
        main(["fail"])


def test_an_interruption_while_the_program_loads(monkeypatch):
    def load(*_):
        raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "tcpstream.cli.app")
    monkeypatch.setattr("builtins.__import__", load)
    status = main([])
    monkeypatch.undo()
    assert status == 130


def test_long_messages_are_cut_and_say_so(run):
    done = run(f"estimate {'x' * 9000}")
    assert done.status == 2
    assert len(done.err) < LONGEST + 100
    assert " ... (" in done.err


def test_a_name_that_is_no_text_is_printed_all_the_same():
    line = f"{sys.executable} -m tcpstream estimate $'\\xff\\x1b[31m'"
    done = subprocess.run(["bash", "-c", line], capture_output=True, env=os.environ | {"LC_ALL": "C.UTF-8"})
    assert done.returncode == 2
    assert b"\\udcff\\x1b[31m" in done.stderr
