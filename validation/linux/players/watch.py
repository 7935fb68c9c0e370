"""Sessions of players, many at once."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from . import mpv
from .cases import Case
from .network import SERVER, served
from .rejection import delayed
from .session import Fetched, Session, UnreadableError

APART = 0.2
"""From one player's begin to the next [s]: beginning costs the most CPU."""

PRIORITY = 5
"""Of the players, in real time; that of the router is higher."""

HERE = Path(__file__).parent


def watch(case: Case, folder: Path, seed: int, number: int) -> dict[str, Any]:
    """Make so many sessions of a case, and return their record."""
    write_media(case, folder)
    play = {"mpv": _mpv, "segments": _segments}[case.kind]
    with served(folder, case.tcp, {"p": case.p, "rtt": case.rtt, "seed": seed}) as router:
        watched = _together(number, lambda index: play(case, folder, index))
    sessions = [_record(router["stalls"], *one) for one in watched]
    return {"router": router, "sessions": sessions}


def write_media(case: Case, folder: Path) -> None:
    """Write a segment, or a video of constant rate: sound that takes next to no CPU to decode, in the AU format."""
    if case.kind == "segments":
        (folder / "segment").write_bytes(bytes(case.bytes))
        return
    pcm_16, channels = 3, 1
    head = struct.pack(">4s5I", b".snd", 24, case.bytes, pcm_16, case.samples_per_second, channels)
    (folder / "media.au").write_bytes(head + bytes(case.bytes))


def _together(number: int, play: Callable[[int], Session | Fetched | str]) -> list[Any]:
    """Let so many players play, each begun a little after the one before; return when each began, ended, and saw."""

    def one(index: int) -> tuple[float, float, Session | Fetched | str]:
        time.sleep(APART * index)
        begin = time.monotonic()
        seen = play(index)
        return begin, time.monotonic(), seen

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(one, range(number)))


def _record(
    stalls: list[tuple[float, float]], begin: float, end: float, seen: Session | Fetched | str
) -> dict[str, Any]:
    """Return the record of a session: what was seen, and what was wrong beside the player."""
    if isinstance(seen, str):
        return {"session": None, "wrong": seen}
    late = "the path forwarded a packet too late" if delayed(stalls, begin, end) else None
    return {"session": seen.to_dict(), "wrong": late}


def _mpv(case: Case, folder: Path, index: int) -> Session | str:
    """Play the video once; a sentence where that failed."""
    log = folder / f"mpv-{index}.log"
    command = mpv.command(f"{SERVER}media.au", case.wait, str(log))
    try:
        _run(command, case)
        return mpv.read(log.read_text(encoding="utf-8", errors="replace"))
    except (UnreadableError, OSError, subprocess.SubprocessError) as error:
        return str(error)[:200]


def _segments(case: Case, folder: Path, index: int) -> Fetched | str:  # noqa: ARG001
    """Fetch the video in segments once; a sentence where that failed."""
    numbers = [str(value) for value in (round(case.seconds / case.segment), case.segment, case.held)]
    try:
        return Fetched(**json.loads(_run([sys.executable, str(HERE / "segment_client.py"), *numbers], case)))
    except (ValueError, OSError, subprocess.SubprocessError) as error:
        return str(error)[:200]


def _run(command: list[str], case: Case) -> str:
    """Run a player before what else the machine does; return what it prints."""
    limit = 60 + 6 * case.seconds
    done = subprocess.run(command, timeout=limit, preexec_fn=_first, capture_output=True, text=True, check=True)
    return done.stdout


def _first() -> None:
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    except OSError:
        os.nice(-10)
