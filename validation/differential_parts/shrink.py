"""A case that is wrong, made as simple as it stays wrong."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tcpstream import TcpstreamError

from .cases import Case
from .judge import judge

LONGEST = 30.0
"""Seconds that it may take."""


def kinds(wrong: list[dict[str, Any]]) -> set[str]:
    """Return what is wrong, without the delays."""
    return {one["name"].split("(")[0] for one in wrong}


def simpler(case: Case) -> Iterator[Case]:
    """Yield cases that differ in one thing and are simpler."""
    path, video = case.path, case.video
    for name in ("halving", "backoff", "detection", "rounds_per_increase", "initial_window"):
        if name in path:
            yield replace(case, path={k: v for k, v in path.items() if k != name})
    if "bottleneck" in path:
        plain = {k: v for k, v in path.items() if k not in ("bottleneck", "buffer")}
        yield replace(case, path=plain | {"max_window": case.to_path().max_window})
    if case.application_limited:
        W = case.to_path().max_window
        yield replace(case, application_limited=False, path=path | {"max_window": W})
    if case.horizon == "paper":
        yield replace(case, horizon="end")
    if "curve" in video:
        yield replace(case, video={"packet_rate": case.to_video().packet_rate, "duration": video["duration"]})
    if path["rtt"] != 0.1 and path["tcp"] != "cubic" and "curve" not in video:  # the same in rounds
        s = 0.1 / path["rtt"]
        scaled = {k: v * s for k, v in video.items() if k == "duration"}
        limited = {"bottleneck": path["bottleneck"] / s} if "bottleneck" in path else {}
        rate = {"packet_rate": video["packet_rate"] / s}
        yield replace(case, path=path | limited | {"rtt": 0.1}, video=scaled | rate)
    if "duration" in video and "curve" not in video:
        for share in (0.1, 0.5):
            shorter = float(f"{video['duration'] * share:.2g}")
            if shorter >= 3 * path["rtt"]:
                yield replace(case, video=video | {"duration": shorter})
    if path.get("max_window", 1) > 2 and not case.quantum:
        yield replace(case, path=path | {"max_window": path["max_window"] // 2})
    for name in ("timeout_ratio", "loss"):
        for digits in (1, 2):
            rounded = float(f"{path[name]:.{digits}g}")
            if rounded != path[name]:
                yield replace(case, path=path | {name: max(rounded, 1.0) if name == "timeout_ratio" else rounded})
    if "curve" not in video:
        m = video["packet_rate"] * path["rtt"]
        for digits in (1, 2, 3):
            rounded = float(f"{m:.{digits}g}")
            if not math.isclose(rounded, m, rel_tol=1e-12):
                yield replace(case, video=video | {"packet_rate": rounded / path["rtt"]})


def shrunk(case: Case, wrong: list[dict[str, Any]]) -> tuple[Case, list[dict[str, Any]]]:
    """Return a simpler case with the same fault, and what is wrong there."""
    fault = min(kinds(wrong))
    check = (fault,) if not fault.startswith(("agent", "twin")) else (fault.split()[0],)
    begun, found = time.process_time(), wrong
    again = True
    while again:
        again = False
        for one in simpler(case):
            if time.process_time() - begun > LONGEST:
                return case, found
            try:
                record = judge(one, checks=check)
            except TcpstreamError:
                continue
            if fault in kinds(record.get("wrong", [])):
                case, found, again = one, record["wrong"], True
                break
    return case, found
