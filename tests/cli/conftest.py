"""Two ways to run the command line: in this process, and as the user does."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tcpstream.cli import main

CAPTURE = Path(__file__).parents[2] / "examples" / "linux-reno.pcap"


class Run(NamedTuple):
    """What a run left behind."""

    status: int
    out: str
    err: str

    @property
    def answer(self) -> dict[str, Any]:
        """The JSON object that is all of stdout."""
        answer = json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        assert isinstance(answer, dict)
        return answer


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command line in this process, as in a window so wide that no sentence is broken."""
    monkeypatch.setenv("COLUMNS", "10000")

    def call(line):
        status = main(shlex.split(line))
        return Run(status, *capsys.readouterr())

    return call


@pytest.fixture
def process():
    """Run a command line in a process of its own, its output piped, whatever the environment says of colours."""

    def call(line, **environment):
        command = [sys.executable, "-W", "error", "-m", "tcpstream", *shlex.split(line)]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, timeout=300)
        return Run(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def capture():
    """The recorded flow of the examples."""
    return CAPTURE
