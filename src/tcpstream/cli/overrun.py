"""How a command ends that is over its time limit in compiled code, which does not look at the clock."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from . import interrupt
from .streams import say

GRACE = 1.0
"""Seconds that it has to end by itself, with a better message."""

FAILED = 1
"""Exit status, as without an accurate answer."""


@contextmanager
def ended(seconds: float) -> Iterator[None]:
    """End this process, if it is the command's own, when this block takes a moment longer than so many seconds."""
    timer = Timer(seconds + GRACE, _end, [seconds])
    timer.daemon = True
    if interrupt.owned():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _end(seconds: float) -> None:
    interrupt.clean()
    say(
        f"error: the time limit of {seconds:g} s is over, in a long step that does not tell how far it is: "
        "give a longer --time-limit or a smaller --max-window"
    )
    os._exit(FAILED)
