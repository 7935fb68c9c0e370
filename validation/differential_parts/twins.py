"""The chains written out, where they are small: `tcpstream.explicit`, and the twins beside the tests."""

from __future__ import annotations

import sys
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from tcpstream.explicit import explicit_live_finite, explicit_stored

from .cases import Case

sys.path.insert(0, str(FilePath(__file__).resolve().parents[2] / "tests" / "twins"))

LARGEST_WINDOW, MOST_ROUNDS, MOST_PACKETS, LONGEST_TIMER = 6, 50, 60, 8.0
"""Of a case that is written out."""


def is_small(case: Case) -> bool:
    """Return whether a case is written out: stored, or a finite stream on a lattice."""
    path, video = case.to_path(), case.to_video()
    if video.duration is None or path.max_window > LARGEST_WINDOW or path.timeout_ratio > LONGEST_TIMER:
        return False
    m, rounds = video.packet_rate * path.rtt, video.duration / path.rtt
    if rounds > MOST_ROUNDS or video.packets > MOST_PACKETS:
        return False
    if case.kind == "finite" and (abs(m - round(m)) > 1e-9 or abs(rounds - round(rounds)) > 1e-9):
        return False
    if path.tcp == "reno":
        return path.detection == "duplicates" and path.initial_window is None
    return path.initial_window is None and case.horizon == "end"


def written_out(case: Case, tau: float) -> tuple[float, float | None]:
    """Return f, and of stored media alpha, at a delay."""
    path, video = case.to_path(), case.to_video()
    if path.tcp == "reno":
        if case.kind == "stored":
            found = explicit_stored(path, video).judge(tau, horizon=case.horizon)
            return found.late_fraction, found.no_late_probability
        return explicit_live_finite(path, video, tau).late_fraction, None
    import sack_twin  # type: ignore[import-not-found]

    twin: Any = sack_twin
    assert video.duration is not None
    if case.kind == "stored":
        t = np.maximum(np.arange(int(np.ceil((video.duration + tau) / path.rtt - 1e-9)) + 1) * path.rtt - tau, 0)
        due = np.asarray(video.due(t))
        late, alpha = twin.finite(path, due, np.full(len(due), np.inf))
        return late / video.packets, alpha
    return twin.stream(path, video, tau), None
