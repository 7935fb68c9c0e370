"""How late a finite video is: a transient pass of any explicit chain that knows how much it has delivered."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, choice, real
from ..path import Path
from ..system import watch
from ..video import Video
from .chain import Part

#: A packet that arrives when it is due is on time: less than this many packets behind is not behind.
ON_TIME = 1e-9


@dataclass(frozen=True)
class Judgement:
    """Lateness of a video of finite length.

    Attributes
    ----------
    late_fraction : float
        f, the expected fraction of late packets (equations 1 to 4).
    late_probabilities : NDArray, shape (rounds,)
        P_i, the probability that round i = 1, 2, ... has a late packet (equation 5).
    no_late_probability : float
        alpha, the probability that no packet of the video is late (Section 3.3.2).
    """

    late_fraction: float
    late_probabilities: NDArray[np.float64]
    no_late_probability: float

    @property
    def no_late_bound(self) -> float:
        """The lower bound of Theorem 1 on alpha, the product of all 1 - P_i."""
        return float(np.prod(1 - self.late_probabilities))


def due_by_round(path: Path, video: Video, delay: float, horizon: str) -> tuple[NDArray[np.float64], float]:
    """Return B_i, the packets due by round i = 0, 1, ..., and the number of packets that are judged.

    Parameters
    ----------
    path : Path
        Its round trip time is the length of a round.
    video : Video
        With a duration.
    delay : float
        Startup delay tau >= 0 [s].
    horizon : {"end", "paper"}
        Judge the whole video, until duration + tau; or stop, as the paper does, at round L = duration / R
        rounded down, and divide by mu R L.

    Raises
    ------
    InputError
        For a video without a duration, a negative delay, an unknown horizon, or a video shorter than one
        round at the paper's horizon.
    """
    choice("horizon", horizon, ("end", "paper"))
    delay = real("startup delay", delay, "s")
    if delay < 0:
        raise InputError(f"startup delay must be at least 0 s, got {delay:g} s")
    if video.duration is None:
        raise InputError("a video of finite length needs its duration [s]")
    if horizon == "end":
        rounds = math.ceil((video.duration + delay) / path.rtt - 1e-9)
        judged = video.packets
    else:
        rounds = math.floor(video.duration / path.rtt + 1e-9)
        judged = video.packet_rate * path.rtt * rounds
        if rounds < 1:
            raise InputError(f"the paper's horizon needs a video of at least one round, {path.rtt:g} s")
    return video.due(np.arange(rounds + 1) * path.rtt - delay), judged


def judge(
    start: NDArray[np.float64],
    step: Callable[[int], Sequence[Part]],
    due: NDArray[np.float64],
    judged: float,
) -> Judgement:
    """Follow a chain from `start` and count the late packets of every round.

    Round i has ``min(B_i - B_(i-1), max(B_i - A_i, 0))`` late packets, A_i those in order. For alpha a second
    distribution follows that loses, in every round, the mass that is behind.

    Parameters
    ----------
    start : NDArray, shape (states,)
        Distribution at time 0.
    step : callable
        Round i = 1, 2, ... to the parts of its transition matrix, each with A_i after its moves [packets].
    due : NDArray, shape (rounds + 1,)
        B_i, packets due by the end of round i = 0, 1, ... [packets].
    judged : float
        Packets that f is a fraction of [packets].
    """
    now, never_late = start, start
    late = 0.0
    behind_probabilities = np.zeros(len(due) - 1)
    for i in range(1, len(due)):
        watch.at(i - 1, len(due) - 1, watch.SHORTER)
        after, on_time = np.zeros_like(now), np.zeros_like(now)
        for part in step(i):
            behind = due[i] - part.in_order
            behind[behind < ON_TIME] = 0.0
            moved = now * part.share
            late += float(moved @ np.minimum(due[i] - due[i - 1], behind))
            behind_probabilities[i - 1] += moved[behind > 0].sum()
            after += np.asarray(now @ part.matrix)
            on_time += np.asarray(np.where(behind > 0, 0.0, never_late) @ part.matrix)
        now, never_late = after, on_time
    return Judgement(late / judged, behind_probabilities, float(never_late.sum()))
