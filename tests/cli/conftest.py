"""Two ways to run the command line: in this process, and as the user does."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from described import problems

import tcpstream
import tcpstream.answers.constancy as of_constancy
from tcpstream import traces
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


def checked(words, done):
    """Return a run whose JSON, if it has any, is as the schema of its command says."""
    if "--json" in words and done.out:
        assert problems(words[0], done.answer) == []
    return done


ESTIMATE, CONSTANCY = traces.estimate, of_constancy.constancy


@cache
def of_the_example():
    """The estimate of the example's capture, for which many commands ask."""
    return ESTIMATE(CAPTURE)


@cache
def constancy_of_the_example():
    return CONSTANCY(of_the_example())


def estimate_once(file):
    """Return what a capture shows; the example is read once."""
    return of_the_example() if Path(file) == CAPTURE else ESTIMATE(file)


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command line in this process, as in a window so wide that no sentence is broken."""
    monkeypatch.setenv("COLUMNS", "10000")
    assert tcpstream.estimate is not estimate_once  # it is taken from there when it is first asked for, and stays
    monkeypatch.setattr(traces, "estimate", estimate_once)

    def constancy(estimate, *given, **chosen):
        known = estimate is of_the_example() and not given and not chosen
        return constancy_of_the_example() if known else CONSTANCY(estimate, *given, **chosen)

    monkeypatch.setattr(of_constancy, "constancy", constancy)

    def call(line):
        words = shlex.split(line)
        return checked(words, Run(main(words), *capsys.readouterr()))

    return call


@pytest.fixture
def process():
    """Run a command line in a process of its own, its output piped, no sentence broken unless COLUMNS says so."""

    def call(line, **environment):
        environment = os.environ | {"COLUMNS": "10000"} | environment
        command = [sys.executable, "-W", "error", "-m", "tcpstream", *shlex.split(line)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
        return checked(shlex.split(line), Run(done.returncode, done.stdout, done.stderr))

    return call


@pytest.fixture
def capture():
    """The recorded flow of the examples."""
    return CAPTURE
