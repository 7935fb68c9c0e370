"""Where a capture was taken, the round trip times seen there, and the timer that TCP derives from them.

A round trip has two parts, seen from the point of capture: down to the receiver and back (data to its
acknowledgement) and up to the sender and back (acknowledgement to the data that echo its timestamp). At the
sender the second is nothing, at the receiver the first; their sum is the round trip time anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .flow import Flow

#: Linux's smallest variance term of the retransmission timer, TCP_RTO_MIN [s].
LEAST_VARIATION = 0.2
_SUCCESSIVE = 10
_NEGLIGIBLE = 0.1

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Upstream:
    """The way from the point of capture to the sender and back.

    Attributes
    ----------
    least : float
        The smallest delay seen [s].
    times, delays : array of float
        Times [s] until which a delay [s], the smallest of ten successive samples, holds.
    below, above : float
        By how much [s] the true delay may lie off `delays`: down to the smallest, up to the upper quartile of samples,
        as the sender may have waited for something else, or queues may have grown.
    source : {"timestamps", "handshake", "none"}
        What it was measured with.
    """

    least: float
    times: Floats
    delays: Floats
    below: float
    above: float
    source: str


def upstream(flow: Flow) -> Upstream:
    """Measure the way to the sender by timestamps, else by the handshake, else not at all (delay 0)."""
    samples = _echoes(flow)
    if len(samples) >= _SUCCESSIVE:
        blocks = np.array_split(samples, len(samples) // _SUCCESSIVE)
        delays = np.array([block[:, 1].min() for block in blocks])
        times = np.array([block[-1, 0] for block in blocks])
        least, middle = float(delays.min()), float(delays.mean())
        above = max(float(np.quantile(samples[:, 1], 0.75)) - middle, 0.0)
        return Upstream(least, times, delays, middle - least, above, "timestamps")
    least, source = (flow.handshake[1], "handshake") if flow.handshake else (0.0, "none")
    return Upstream(least, np.zeros(1), np.full(1, least), least / 2, least / 2, source)


def _echoes(flow: Flow) -> Floats:
    """Return rows of time and delay: the first data packet to echo each acknowledgement's timestamp."""
    acks = np.flatnonzero(flow.stamped & ~flow.is_data)
    if not len(acks):
        return np.empty((0, 2))
    stamps, first = np.unique(flow.tsval[acks], return_index=True)
    data = np.flatnonzero(flow.stamped & flow.is_data)
    place = np.minimum(np.searchsorted(stamps, flow.tsecr[data]), len(stamps) - 1)
    origin = acks[first[place]]
    echoing = (stamps[place] == flow.tsecr[data]) & (origin < data)
    data, origin = data[echoing], origin[echoing]
    once = np.sort(np.unique(flow.tsecr[data], return_index=True)[1])
    times = flow.time[data[once]]
    return np.column_stack((times, times - flow.time[origin[once]]))


def vantage(down: Floats, up: Upstream) -> str:
    """Name the point of capture by the share of the round trip that lies towards the sender."""
    near = float(np.quantile(down, 0.1))
    share = up.least / (up.least + near) if up.least > 0 else 0.0
    if share < _NEGLIGIBLE:
        return "sender"
    return "receiver" if share > 1 - _NEGLIGIBLE else "between"


def acknowledges_at_once(flow: Flow, down: Floats) -> bool:
    """Tell whether acknowledgements follow data sooner than the other way round, as at a receiver."""
    turn = flow.is_data[1:] & ~flow.is_data[:-1]
    gaps = np.diff(flow.time)[turn]
    return bool(len(gaps) and np.median(down) < np.median(gaps))


def round_trips(times: Floats, down: Floats, up: Upstream, where: str) -> Floats:
    """Return round trip times [s]: delays to the receiver and back, plus to the sender and back then."""
    if where == "sender":
        return down + up.least
    block = np.minimum(np.searchsorted(up.times, times), len(up.delays) - 1)
    return np.asarray(down + up.delays[block], dtype=float)


def timers(rtt: Floats) -> Floats:
    """Return the retransmission timer [s] after each round trip time, as Linux computes it.

    RFC 6298 with alpha = 1/8 and beta = 1/4, its variance term 4 RTTVAR floored at 0.2 s (TCP_RTO_MIN), where
    the RFC floors the whole timer at 1 s.
    """
    smooth, variation = float(rtt[0]), float(rtt[0]) / 2
    result = np.empty(len(rtt))
    for i, sample in enumerate(map(float, rtt)):
        if i:
            variation += (abs(smooth - sample) - variation) / 4
            smooth += (sample - smooth) / 8
        result[i] = smooth + max(LEAST_VARIATION, 4 * variation)
    return result
