"""The command as a user runs it: streams, exit status, plain output, cheap help."""

import os
import re
import subprocess
import sys

import pytest

import tcpstream

PATH = "--loss 0.02 --rtt 100ms --rto 300ms --sender classic"
COMMANDS = ["throughput", "stored", "live", "delay", "estimate", "simulate"]
HEAVY = ("numpy", "scipy", "numba", "rich", "dpkt", "pandas", "matplotlib")


def test_version(process):
    assert process("--version") == (0, f"tcpstream {tcpstream.__version__}\n", "")


def test_table_is_plain_whatever_the_environment_says(run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    done = run(f"delay {PATH} --rate 10pps --live")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("Wait ")
    assert done.out.isprintable() or "\x1b" not in done.out
    assert re.search(r"^throughput T +57\.22 packets/s \(686\.7 kbit/s\)$", done.out, re.MULTILINE)


def test_json_alone_on_stdout(process, capture):
    done = process(f"throughput --capture {capture} --json")
    assert done.status == 0
    assert done.answer["throughput_pps"] > 0
    assert all(line.startswith("tcpstream: warning: ") for line in done.err.splitlines())


def test_bad_input(process):
    done = process("throughput --loss 2 --rtt 100ms --rto 300ms --sender classic --json")
    assert done == (2, "", "tcpstream: error: loss rate must lie between 1e-09 and 0.999, got 2: 2% is 0.02\n")


def test_no_finite_delay(process):
    done = process(f"live {PATH} --rate 58pps --delay 1")
    assert done.status == 3
    assert done.out.startswith("The path carries less than 57.22 packets/s (686.7 kbit/s): ")
    assert done.err.count("\n") == 1
    assert "57.22 packets/s" in done.err
    assert "58 packets/s" in done.err


def test_finer_than_accurate(run):
    done = run(f"delay {PATH} --rate 10pps --live --target 1e-300")
    assert (done.status, done.out) == (1, "")
    assert re.fullmatch("tcpstream: error: .*1e-300 is finer than .*\n", done.err)


def test_ascii_terminal(process):
    done = process(f"throughput {PATH}", PYTHONIOENCODING="ascii")
    assert done.status == 0
    assert done.out.isascii()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["-h"], *([name, "--help"] for name in COMMANDS)])
def test_help_imports_only_click(arguments):
    code = (
        "import sys; from tcpstream.cli import main; status = main(sys.argv[1:]); "
        f"print(*sorted({set(HEAVY)!r} & set(sys.modules)), file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "\n")
    assert "tcpstream" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_closed_pipe_is_quiet():
    command = f"{sys.executable} -m tcpstream throughput {PATH} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_click_s_own(process, shell):
    done = process("", _TCPSTREAM_COMPLETE=f"{shell}_source")
    assert (done.status, done.err) == (0, "")
    assert f"_TCPSTREAM_COMPLETE={shell}_complete" in done.out


def test_completion_knows_commands_and_options(process):
    def completed(words, number):
        done = process("", _TCPSTREAM_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(number))
        return [line.partition(",")[2] for line in done.out.splitlines()]

    assert completed("tcpstream st", 1) == ["stored"]
    assert completed("tcpstream delay --target", 2) == ["--target", "--target-no-late"]


@pytest.mark.parametrize(("given", "used"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_linear_algebra_has_one_thread_unless_told(given, used):
    code = (
        "import os, sys, types; "
        "show = lambda argv: print(os.environ['OPENBLAS_NUM_THREADS'], 'numpy' in sys.modules) or 0; "
        "sys.modules['tcpstream.cli.app'] = types.SimpleNamespace(answer=show); "
        "import tcpstream.cli; tcpstream.cli.main()"
    )
    others = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", code], env=others | given, capture_output=True, text=True, check=True)
    assert done.stdout == f"{used} False\n"
