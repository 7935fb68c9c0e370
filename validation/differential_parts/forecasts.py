"""Seconds that a case will take, roughly, so that long ones are counted and not run."""

from __future__ import annotations

import math

from tcpstream.numerics.lattices import lattices, order
from tcpstream.tcp import Chain
from tcpstream.transient.cost import affordable, forecast
from tcpstream.transient.select import nanoseconds

from .cases import Case

EPOCHS = 60
"""Loss epochs of an endless stream."""

ROUND = 2e-4
"""Seconds of a round of a live stream, however small."""

DEEP = 45.0
"""What is followed has a probability above exp(-DEEP)."""

AHEAD = 4
"""Positions followed of a long stored video, in backlogs of that depth."""

LONG_ROUNDS, SAFE = 2000, 0.98
"""Rounds and load from which and up to which a stored video is long and safe."""


def depth(case: Case, T: float, m: float) -> float:
    """Return a backlog that is hardly ever exceeded [packets], for T and m packets in a round.

    It grows in the longest of back-offs, which two losses out of three packets repeat, and in the slow waves of the
    window, whose variance is of the order of T^3 / 10 a round.
    """
    if m >= T * (1 - 1e-6):
        return math.inf
    p, T_O = case.path["loss"], case.path["timeout_ratio"]
    back_off = -math.log(1 - (1 - p) ** 2) / (64 * m * T_O)
    waves = 2 * (T - m) / (0.1 * T**3 + T)
    return float(DEEP / min(back_off, waves))


def seconds(case: Case, chain: Chain) -> float:
    """Return the seconds that one solve of a case will take."""
    path, video = case.to_path(), case.to_video()
    cell = nanoseconds(chain) * 1e-9
    m = video.packet_rate * path.rtt
    deep = depth(case, chain.packets_per_round, m)
    rounds = (video.duration or math.inf) / path.rtt
    if case.kind == "stored":
        span = video.packets
        if "curve" not in case.video and rounds > LONG_ROUNDS and m < SAFE * chain.packets_per_round:
            span = min(span, AHEAD * deep)
        quantum = case.quantum or affordable(chain, rounds, span)
        return forecast(chain, rounds, span, quantum).cells * cell
    lattice = lattices(m, order(m, chain.packets_per_round, chain.n_cells))
    steps = len(lattice) * max(one.steps_per_packet for one in lattice)
    if case.kind == "endless":
        return EPOCHS * chain.followed_states * deep * steps * 3 * cell
    return rounds * (ROUND + chain.followed_states * (min(deep, m * rounds) + chain.largest_round) * steps * 3 * cell)
