"""Standard output and error as the shell left them: closed, full, a pipe that nobody reads, of any encoding."""

from __future__ import annotations

import io
import os
import shutil
import sys
from typing import TextIO

from ..errors import printable
from .fitting import wrapped

LONGEST = 2000
"""Characters of a message; a value that a file gives may be longer."""


def settle() -> None:
    """Make standard error something that can be written to, and let no character fail to be printed."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(message: str) -> None:
    """Print a message on standard error; where that is full, there is nobody to tell.

    It is one line, but on a terminal, where it is broken at words.
    """
    line = printable(" ".join(message.split()))
    if len(line) > LONGEST:
        line = f"{line[:LONGEST]} ... ({len(line)} characters)"
    line = f"tcpstream: {line}"
    if sys.stderr.isatty():
        line = wrapped(line, shutil.get_terminal_size().columns)
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        abandon(sys.stderr)


def abandon(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere, so that the flush at exit does not fail again."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except OSError:  # no file behind it
        return
