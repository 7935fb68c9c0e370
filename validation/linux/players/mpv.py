"""mpv without a screen and a loudspeaker: its command, and what its log says that a viewer saw."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .session import Session, UnreadableError

OUTPUT = 0.2
"""Media that mpv's audio output holds beside the cache [s]: `--audio-buffer`."""

LOOK = 0.1
"""While it waits mpv looks at its cache about every 0.2 s: half of that later, on average."""

OPTIONS = (
    "--no-config", "--no-terminal", "--load-scripts=no", "--osc=no", "--ytdl=no", "--osd-level=0",
    "--vo=null", "--ao=null", f"--audio-buffer={OUTPUT}",
    "--cache=yes", "--cache-pause=yes", "--cache-pause-initial=yes",
    "--demuxer-readahead-secs=1000", "--demuxer-max-bytes=100MiB",
    "--demuxer-lavf-probe-info=no", "--stream-lavf-o=seekable=0",
)  # fmt: skip
"""It reads as fast as it can, neither reads ahead before it shows anything, nor asks for the end of the file first."""

LINE = re.compile(r"\[ *(\d+\.\d+)\]\[\w\]\[([^\]]+)\] (.*)")

CONNECTS = "tcp: Starting connection attempt"
PLAYS = "starting AO"
WAITS = "Enter buffering"
EMPTY = "audio end or underrun"
FINISHED = "finished playback, success"


def command(url: str, wait: float, log: str) -> list[str]:
    """Return the command that plays an address, starting and resuming with so much media in the cache [s]."""
    return ["mpv", *OPTIONS, f"--cache-pause-wait={wait}", f"--log-file={log}", url]


@dataclass(frozen=True)
class Event:
    """A line of the log: its time [s since mpv began], who wrote it, and what."""

    at: float
    who: str
    what: str


def events(log: str) -> list[Event]:
    """Return the lines of a log that have a time."""
    found = (LINE.match(line) for line in log.splitlines())
    return [Event(float(one[1]), one[2], one[3]) for one in found if one]


def read(log: str) -> Session:
    """Return what a viewer saw by a log of mpv.

    Raises
    ------
    UnreadableError
        Where mpv did not connect, begin, or play to the end.
    """
    connected = start = end = began = None
    stalls: list[tuple[float, float]] = []
    finished = False
    for event in events(log):
        if event.what.startswith(CONNECTS):
            connected = event.at if connected is None else connected
        elif event.what.startswith(PLAYS):
            start = event.at if start is None else start
            if began is not None:
                stalls.append((began - start, event.at - began))
                began = None
        elif event.what.startswith(WAITS) and start is not None:
            began = event.at
        elif event.what.startswith(EMPTY):
            end = event.at
        finished |= event.what.startswith(FINISHED)
    if connected is None or start is None or end is None or began is not None or not finished:
        last = log.splitlines()[-1:] or ["nothing"]
        raise UnreadableError(f"mpv did not play to the end: {last[0][:120]}")
    return Session(boot=connected, start=start - connected, stalls=stalls, played=end - start)
