"""Replays: the simulator's TCP over a link whose rate follows a session."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tcpstream import sim

from .sessions import SECONDS, Floats, Session

RTT, BUFFER = 0.2, 20
"""R without a queue [s], and packets that wait before the link at most; in replays and in predictions."""

RATES = 0.2, 0.4, 0.6, 0.8, 1.0
"""Rates of the video, as shares of the mean throughput of the first half."""

DELAYS, DURATION = (2.0, 5.0), 120.0
"""Startup delays, and length of the video [s]."""

SENDER: dict[str, Any] = {"sender": "linux", "tcp": "reno-sack"}

TCP = sim.Tcp("rack", max_window=2172, initial_window=10, timer="rfc6298", granularity=0.2)
"""The same sender in the simulator."""

QUANTUM = 8 * 1500
"""Bits that the simulator takes a packet for."""


def opportunities(session: Session) -> Floats:
    """Return when packets can leave the link [s]: evenly within a second, the last one when the session ends."""
    packets = np.append(0.0, np.cumsum(session.packets))
    whole = np.arange(1, math.floor(packets[-1]) + 1)
    times = np.interp(whole, packets, np.arange(len(packets), dtype=float))
    return np.append(times, float(SECONDS))


def delivered(session: Session) -> Floats:
    """Return when each packet of a stored video that is long enough is with the client [s]."""
    link = sim.Link(RTT / 2, capacity=opportunities(session), queue=BUFFER)
    scenario = sim.single_path(link, sim.Link(RTT / 2), TCP)
    run = sim.simulate(scenario, float(SECONDS), np.random.default_rng(1))  # nothing is random in it
    return run.flows[0].times


def stalled(times: Floats, rate: float, delay: float) -> bool:
    """Return whether a player that starts after a delay on the clock of `tcpstream.play` misses a packet.

    The client's clock is half a round trip late.
    """
    count = math.ceil(rate * DURATION - 1e-9)
    due = delay + RTT / 2 + np.arange(count) / rate
    return len(times) < count or bool((times[:count] > due + 1e-9).any())


def replayed(half: list[Session], mean: float) -> dict[str, Any]:
    """Return the share of sessions that stall, by rate and delay, with its standard error.

    Sessions of a trace are alike: the error is that of a ratio of sums over traces.
    """
    times = [delivered(session) for session in half]
    found = np.array([[[stalled(one, x * mean, tau) for tau in DELAYS] for x in RATES] for one in times], dtype=float)
    owner = np.unique([session.trace for session in half], return_inverse=True)[1]
    share = found.mean(axis=0)
    sums = np.zeros((owner.max() + 1, *share.shape))
    np.add.at(sums, owner, found - share)
    error = np.sqrt((sums**2).sum(axis=0) * len(sums) / max(len(sums) - 1, 1)) / len(half)
    could = sum(session.packets.sum() for session in half)
    return {
        "sessions": len(half),
        "carried": sum(map(len, times)) / could,
        "stalled": share.tolist(),
        "standard_error": error.tolist(),
    }
