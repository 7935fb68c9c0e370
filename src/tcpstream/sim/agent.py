"""An agent that follows the rules of the Markov model packet by packet, in rounds: abstraction without protocol.

It has no queue, no acknowledgements and no clock but rounds. Where it differs from a chain, the solver is wrong; where
a TCP sender differs from it, the model is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..errors import positive, whole
from .delivery import Delivery
from .engine.compiled import loop
from .losses import probability

TOP_LEVEL = 6
"""Doublings after which the timer grows no more."""


def rounds_agent(
    *,
    loss: float,
    rtt: float,
    timeout_ratio: float,
    max_window: int,
    duration: float,
    rng: np.random.Generator,
    packet_rate: float | None = None,
    rounds_per_increase: int = 1,
) -> Delivery:
    """Let an agent send for some time as the model says TCP does (Section 3.2, Table VI).

    Parameters
    ----------
    loss : float
        p: probability of a packet to be the first loss of its round; the rest of the round is lost with it.
    rtt : float
        R [s].
    timeout_ratio : float
        T_O = R_TO / R; a wait that is no whole number of rounds is one of the two next to it, with its mean.
    max_window : int
        [packets].
    duration : float
        How long [s].
    rng : numpy.random.Generator
    packet_rate : float, optional
        mu of a live source [packets/s]; without it there is always something to send.
    rounds_per_increase : int
        b.

    Returns
    -------
    Delivery
        What is delivered in a round has the time of its beginning, since the model judges it with what is played in
        the same round. The loss rates are what the agent saw.
    """
    probability("loss", loss)
    positive("rtt", rtt, "s")
    positive("timeout_ratio", timeout_ratio)
    whole("max_window", max_window, unit="packets")
    rounds = int(positive("duration", duration, "s") / rtt)
    delivered = np.zeros(rounds + 1, dtype=np.int64)
    counts = np.zeros(3, dtype=np.int64)
    generated = math.inf if packet_rate is None else positive("packet_rate", packet_rate, "packets/s") * rtt
    _send(loss, timeout_ratio, whole("max_window", max_window), rounds_per_increase, generated, rng, delivered, counts)
    times = np.repeat(rtt * np.arange(rounds, dtype=np.float64), np.diff(delivered))
    sent, events, at_risk = map(int, counts)
    return Delivery(
        times=times,
        duration=rounds * rtt,
        interval=0.0 if packet_rate is None else 1 / packet_rate,
        loss_rate=1 - len(times) / sent if sent else math.nan,
        loss_event_rate=events / at_risk if at_risk else math.nan,
        rtt=rtt,
        rto=timeout_ratio * rtt,
        sent=sent,
        timeouts=0,
        fast_retransmits=0,
    )


@loop
def _send(
    p: float,
    timeout_ratio: float,
    max_window: int,
    b: int,
    generated: float,
    rng: np.random.Generator,
    delivered: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """Write packets delivered by the end of each round, and sent packets, first losses and packets at risk."""
    window, full, before = 1, 0, 0  # before: window of the round of a loss, 0 if this round is not the one after
    level, again, wait = 0, False, 0
    for i in range(1, len(delivered)):
        delivered[i] = delivered[i - 1]
        if wait > 0:
            wait -= 1
            continue
        exists = generated * i
        if generated * (i - 1) - delivered[i] <= 1e-9:  # nothing to send when the round begins
            continue
        size = 1 if level > 0 else window
        arrived = 0
        while arrived < size and rng.random() >= p:
            arrived += 1
        counts[0] += size
        counts[1] += 1 if arrived < size else 0
        counts[2] += min(arrived + 1, size)
        delivered[i] += arrived
        if delivered[i] > exists:
            delivered[i] = int(exists + 1e-9)
        if level > 0:
            if arrived == 0:
                wait = _rounds(timeout_ratio * 2.0 ** min(level, TOP_LEVEL), rng) - 1
                level, again = min(level + 1, TOP_LEVEL + 1), True
            elif again:
                again = False
            else:
                window, full, level = min(2, max_window), 0, 0
        elif before > 0:  # the short round
            if arrived >= 3:
                window = before // 2
            else:
                level, again = 1, True
                wait = _rounds(max(timeout_ratio - 1.0, 1.0), rng) - 1
            full, before = 0, 0
        elif arrived == size:
            full += 1
            if full == b:
                window, full = min(window + 1, max_window), 0
        elif arrived == 0:
            level, again, full = 1, True, 0
            wait = _rounds(timeout_ratio, rng) - 1
        else:
            window, full, before = arrived, 0, window


@loop
def _rounds(wait: float, rng: np.random.Generator) -> int:
    """Return a whole number of rounds with a mean of `wait`."""
    below = math.floor(wait + 1e-9)
    return below + (1 if rng.random() < wait - below - 1e-9 else 0)
