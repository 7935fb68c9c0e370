"""The window of CUBIC between two losses: counted by acknowledgements, and in whole packets, as Linux does."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept

FASTEST = 2
"""Acknowledgements for a packet more, at least: growth by a half in a round (RFC 9438, Section 4.2)."""

FRESH = 20
"""Acknowledgements for a packet more, at most, while no window of a loss is known (Linux, tcp_cubic.c)."""


@kept()
def cubic_line(
    start: int, plateau: int, already: int, scale: float, rtt: float, growth: float, fresh: bool, largest: int,
    most: float, pipe: float = math.inf,
) -> NDArray[np.int64]:  # fmt: skip
    """Return the windows of the rounds of a stage of congestion avoidance [packets].

    Parameters
    ----------
    start : int
        Window at its begin, cwnd_epoch [packets].
    plateau : int
        W_max; K = 0 if it is not above `start` [packets].
    already : int
        Acknowledgements of its first round that count; of each further one, all.
    scale : float
        C [packets/s^3].
    rtt : float
        R [s].
    growth : float
        Of W_est [packets a round].
    fresh : bool
        Whether no window of a loss is known.
    largest, most : int, float
        The line ends before the window is as large, or once more packets are sent.
    pipe : float
        What a bottleneck carries in a round [packets]: no more is acknowledged.

    Notes
    -----
    RFC 9438, Sections 4.2 to 4.4. For each acknowledgement the window grows by ``(target - cwnd) / cwnd``, and by no
    less than leads to W_est. In round n of the stage, whose acknowledgements come together, target is W_cubic at
    (n + 1) R, of which the distance from the plateau is cut to whole packets.
    """
    K = math.pow(max(plateau - start, 0) / scale, 1.0 / 3.0)
    origin = max(plateau, start)
    window, friendly, credit, n, sent = start, float(start), 0, 0, 0.0
    found: list[int] = []
    left = already
    while True:
        since = (n + 1.0) * rtt - K
        away = int(min(scale * abs(since) ** 3 + 1e-9, 2.0 * largest))
        target = origin - away if since < 0.0 else origin + away
        while left > 0:
            each = window // (target - window) if target > window else 100 * window
            if fresh:
                each = min(each, FRESH)
            ahead = int(friendly + 1e-9) - window
            if ahead > 0:
                each = min(each, window // ahead)
            each = max(each, FASTEST)
            enough = max(each - credit, 1)
            if credit >= each:  # earned when a packet cost more
                window += 1
                credit = 0
            to_friendly = math.ceil((math.floor(friendly + 1e-9) + 1 - friendly) * window / growth - 1e-9)
            step = max(1, min(left, enough, to_friendly))
            left -= step
            friendly += growth * step / window
            credit += step
            if credit >= each:
                window += 1
                credit -= each
        if window >= largest or sent > most:
            return np.array(found, dtype=np.int64)
        found.append(window)
        sent += min(float(window), pipe)
        n += 1
        left = window
        if window > pipe:
            left = min(left, int(math.floor((n + 1) * pipe) - math.floor(n * pipe)))
