"""What the model says of a case: by the capture of another connection, and by the path itself."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

from tcpstream import (
    BufferedPlay,
    Path,
    Player,
    SegmentPlay,
    SegmentPlayer,
    Video,
    estimate,
    play,
    throughput,
    transfer_time,
)

from .cases import MSS, Case
from .mpv import LOOK, OUTPUT

MEASURED = ("loss", "rtt", "rto")
PROPOSED = ("tcp", "initial_window", "detection")
SHOWN = ("packets", "loss", "rtt_s", "rto_s", "throughput_pps", "intervals")

TCP = {"reno": "reno-sack", "cubic": "cubic"}
"""The chain of a kernel's congestion control, for independent losses."""

ENDS = ("estimate", "best", "worst")
"""The paths of a capture: as estimated, and at the ends of its intervals."""

FOUND = (*ENDS, "throughput")
"""What is asked of a capture: these paths, and that with the p for its throughput."""

BEFORE = 2
"""Round trips before the first data: the handshake and the request."""

Values = dict[str, dict[str, float]]
"""Of each quantity the value and the error of the solve."""


def paths(capture: FilePath) -> dict[str, Any]:
    """Return what a capture measured, its path, the ends of its intervals, and with the p for its throughput."""
    found = estimate(capture)
    measured = found.to_dict()
    best, worst = found.ends(sender="classic")
    assert best is not None
    path = _given(found.path(sender="classic"))
    given = {key: value for key, value in path.items() if key != "loss"}
    fitted = Path.from_throughput(measured["throughput_pps"], sender="classic", **given)
    return {
        "measured": {key: measured[key] for key in SHOWN},
        "estimate": path,
        "best": _given(best),
        "worst": _given(worst),
        "throughput": {"loss": fitted.loss, **given},
    }


def _given(path: Path) -> dict[str, Any]:
    return {key: getattr(path, key) for key in (*MEASURED, *PROPOSED)}


def known(case: Case) -> dict[str, Any]:
    """Return the path as it was made."""
    variation = 0.2
    return {
        "loss": case.p, "rtt": case.rtt, "rto": case.rtt + variation, "tcp": TCP[case.tcp], "initial_window": 10,
        "detection": "rack",
    }  # fmt: skip


def path_throughput(given: dict[str, Any]) -> float:
    """Return T of the chain of a path [packets/s]."""
    return throughput(Path(sender="classic", **given))


def predicted(case: Case, given: dict[str, Any]) -> Values:
    """Return what a path makes of a case.

    Parameters
    ----------
    case : Case
    given : dict
        Of the path, as `paths` has them.
    """
    path = Path(sender="classic", **given)
    if case.kind == "segments":
        return _segments(case, path)
    started = {"start": _start(case, path)}
    if path.tcp == "cubic":  # chains with so many states count no stalls
        return started
    held = case.wait + OUTPUT + LOOK  # what comes while it waits for the next look, as fast as it plays
    seen = play(path, Video(packet_rate=case.rate, duration=case.seconds), _player(held))
    assert isinstance(seen, BufferedPlay)
    assert seen.mean_stalls is not None
    off = seen.errors
    return started | {
        "stall_probability": {"value": seen.stall_probability, "error": off["stall_probability"]},
        "stalls": {"value": seen.mean_stalls, "error": off["mean_stalls"]},
        "stalled": {"value": seen.mean_total_rebuffer, "error": off["mean_total_rebuffer"]},
    }


def _start(case: Case, path: Path) -> dict[str, float]:
    """Return when mpv starts [s]: a look later than its buffers are full, as slow start fills them in bursts."""
    held = case.wait + OUTPUT
    if path.tcp == "cubic":
        found = transfer_time(path, bytes=held * case.rate * MSS, setup_round_trips=1)
        return {"value": LOOK + found.mean, "error": found.errors["mean"]}
    seen = play(path, Video(packet_rate=case.rate, duration=2 * held), _player(held))
    assert isinstance(seen, BufferedPlay)
    return {"value": LOOK + BEFORE * path.rtt + seen.mean_join_time, "error": 0.0}


def _player(held: float) -> Player:
    return Player(start_buffer=held, resume_buffer=held)


def _segments(case: Case, path: Path) -> Values:
    video = Video(packet_rate=case.rate, duration=case.seconds)
    seen = play(path, video, SegmentPlayer(segment=case.segment, client_buffer=case.held))
    assert isinstance(seen, SegmentPlay)
    per_hour, off = 3600 / case.seconds, seen.errors
    return {
        "stalls_per_hour": {"value": per_hour * seen.mean_stalls, "error": per_hour * off["mean_stalls"]},
        "download": {"value": seen.mean_download_time, "error": off["mean_download_time"]},
    }
