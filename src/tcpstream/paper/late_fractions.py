"""The parameters of Section 6, and the solves that its figures and claims share."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..answers.live import LiveStreaming, backlog_key, live_many, with_backlogs
from ..answers.stored import stored_many
from ..explore.load import rate_for, rtt_for
from ..path import Path
from ..video import Video
from .settings import WINDOW, Setting

Floats = NDArray[np.float64]

LOSSES = (0.004, 0.02, 0.04)
"""Low, medium and high loss rates p."""

TIMERS = (1, 2, 3, 4)
"""T_O."""

RTTS = (0.05, 0.1, 0.2, 0.3)
"""R [s]: 50 ms within a coast of the US, 100 ms between its coasts."""

RATE = 25.0
"""mu where R is varied [packets/s]."""

TARGET, SATISFACTORY = 1e-4, 10.0
"""Late fraction and startup delay [s] that satisfy: "below 10^-4 for a startup delay of around 10 seconds"."""

STORED = 80.0
"""Length of a stored video [s] "throughout this section"."""

Case = tuple[Path, Video]


def printed_path(setting: Setting, **tcp: Any) -> Path:
    """Return the path of a setting as Table II or IV prints it; the paper prints no largest window.

    Parameters
    ----------
    setting : Setting
    **tcp
        As for `over_rtt`.
    """
    tcp = {"max_window": WINDOW} | tcp
    return Path(sender="classic", loss=setting.loss, rtt=setting.rtt, timeout_ratio=setting.timeout_ratio, **tcp)


def over_rtt(loss: float, timer: float, ratio: float, **tcp: Any) -> Case:
    """Return a path whose R makes T/mu what it should be for 25 packets/s.

    Parameters
    ----------
    loss, timer, ratio : float
        p, T_O, T/mu.
    **tcp
        How `Path` differs from the classic sender: max_window, rounds_per_increase, backoff, halving.
    """
    rtt = rtt_for(sender="classic", loss=loss, timeout_ratio=timer, packet_rate=RATE, T_over_mu=ratio, **tcp)
    return Path(sender="classic", loss=loss, rtt=rtt, timeout_ratio=timer, **tcp), Video(packet_rate=RATE)


def over_rate(loss: float, timer: float, rtt: float, ratio: float, **tcp: Any) -> Case:
    """Return a path, and the video whose mu makes T/mu what it should be; parameters as `over_rtt`, R in seconds."""
    path = Path(sender="classic", loss=loss, rtt=rtt, timeout_ratio=timer, **tcp)
    return path, Video(packet_rate=rate_for(path, ratio))


_solved: dict[Hashable, LiveStreaming] = {}


def solve_live(cases: Iterable[Case]) -> list[LiveStreaming]:
    """Return what `live_many` does for streams without end; what one figure or claim has solved, no other solves again.

    Parameters
    ----------
    cases : iterable of (Path, Video)
    """
    cases = list(cases)
    new = {key: case for case in cases if (key := backlog_key(*case)) not in _solved}
    _solved.update(zip(new, live_many(new.values(), accuracy="exact")))
    return [with_backlogs(_solved[backlog_key(*case)], *case) for case in cases]


def required_delays(kind: str, cases: Iterable[Case]) -> Floats:
    """Return the startup delays [s] for a late fraction of 1e-4: live without end, or stored of 80 s.

    Parameters
    ----------
    kind : {"live", "stored"}
    cases : iterable of (Path, Video)
    """
    if kind == "live":
        return np.array([one.required_delay(TARGET) for one in solve_live(cases)])
    videos = [(path, Video(packet_rate=video.packet_rate, duration=STORED)) for path, video in cases]
    return np.array([one.required_delay(TARGET) for one in stored_many(videos)])
