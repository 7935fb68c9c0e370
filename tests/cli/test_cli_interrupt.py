"""Ctrl-C at any moment: the process ends at once, with 130 and without a word."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

STARTED = "import os; from tcpstream.cli import main; os.write(2, b'!'); main()"
PATH = "--loss 0.004 --rtt 100ms --sender classic"
POOL = f"stored {PATH} --rate 100pps --duration 10min --accuracy exact --delay 1,2,3,4,5,6"
"""Solved in a pool of threads, for minutes."""

AT_ONCE = 1.5
"""Seconds."""


def interrupted(line, moment, **environment):
    """Interrupt a command so many seconds after it began; return status, output, errors, and the seconds it took."""
    command = [sys.executable, "-c", STARTED, *line.split()]
    run = subprocess.Popen(command, stdout=-1, stderr=-1, env=os.environ | environment)
    assert run.stderr.read(1) == b"!"
    time.sleep(moment)
    run.send_signal(signal.SIGINT)
    begun = time.monotonic()
    out, err = run.communicate(timeout=60)
    return run.returncode, out, err.strip(), time.monotonic() - begun


def moments(seed, number, last):
    """One in each part of the time until `last` [s]."""
    generator = random.Random(seed)
    return [last * (i + generator.random()) / number for i in range(number)]


def later(*all_moments):
    """Moments that are tried before a release only."""
    return [pytest.param(moment, marks=pytest.mark.long) for moment in all_moments]


@pytest.mark.parametrize(
    "moment", [0.02, *moments(1, 3, 1.5), *moments(2, 1, 3.0), *later(*moments(1, 8, 1.5), *moments(2, 2, 6.0))]
)
def test_with_what_was_compiled(moment):
    """While modules load, in the first 1 to 2 s, and during a solve."""
    status, out, err, seconds = interrupted(POOL, moment)
    assert (status, out, err) == (130, b"", b"")
    assert seconds < AT_ONCE


@pytest.mark.parametrize("moment", [*moments(3, 3, 4.5), *later(*moments(3, 3, 1.5), *moments(4, 3, 9.0))])
def test_while_kernels_are_compiled(moment, tmp_path):
    status, out, err, seconds = interrupted(POOL, moment, NUMBA_CACHE_DIR=str(tmp_path))
    assert (status, out, err) == (130, b"", b"")
    assert seconds < AT_ONCE


def ended(code):
    """Run Python that interrupts itself; return status, output and errors."""
    lines = f"import os, signal, sys\nfrom tcpstream import tcp\nfrom tcpstream.cli import main\n{code}"
    lines += "\nsys.argv[1:] = 'throughput --loss 0.02 --rtt 100ms --sender classic'.split()\nmain()"
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr.strip()


def test_an_interruption_that_becomes_another_exception():
    """As of a module that was just loading."""
    code = """
def throughput(path):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(10**9): pass
    except KeyboardInterrupt as error:
        raise RuntimeError('no module') from error
tcp.throughput = throughput"""
    assert ended(code) == (130, "", "")


def test_an_interruption_that_cannot_be_raised():
    """As of a callback from compiled code."""
    code = """
class Gone:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(10**9): pass
tcp.throughput = lambda path: Gone() and 50.0"""
    assert ended(code) == (130, "", "")


def test_an_interruption_that_compiled_code_prints():
    """As where it imports a module."""
    code = """
import ctypes
called = b'import os, signal; os.kill(os.getpid(), signal.SIGINT); list(range(10**8))'
tcp.throughput = lambda path: ctypes.pythonapi.PyRun_SimpleString(called) and 50.0"""
    assert ended(code) == (130, "", "")


def test_an_interruption_that_is_not_heeded():
    code = """
def throughput(path):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(10**9): pass
    except KeyboardInterrupt:
        while True: pass
tcp.throughput = throughput"""
    assert ended(code) == (130, "", "")


def test_other_exceptions_that_cannot_be_raised_are_said():
    code = """
class Gone:
    def __del__(self):
        raise ValueError('lost')
tcp.throughput = lambda path: Gone() and 50.0"""
    status, _, err = ended(code)
    assert status == 0
    assert "ValueError: lost" in err


def test_where_interruptions_are_ignored():
    """As in a shell's background."""
    code = """
signal.signal(signal.SIGINT, signal.SIG_IGN)
def throughput(path):
    os.kill(os.getpid(), signal.SIGINT)
    return 50.0
tcp.throughput = throughput"""
    status, out, err = ended(code)
    assert (status, err) == (0, "")
    assert out.startswith("throughput T")
