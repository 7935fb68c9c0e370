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
#: A conforming timer is no longer than this [s], or SRTT + 4 RTTVAR (RFC 6298, Section 2.4); before any sample this.
_FLOOR, _FIRST = 1.0, 3.0
#: A sender answers no later than this many times as late as usual, and a second: else it waited for its application.
_USUAL = 4.0
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
    left_out : int
        Delays, each the smallest of ten, that are not used: the sender waited for its application.
    """

    least: float
    times: Floats
    delays: Floats
    below: float
    above: float
    source: str
    left_out: int = 0


def upstream(flow: Flow) -> Upstream:
    """Measure the way to the sender by timestamps, else by the handshake, else not at all (delay 0)."""
    samples = _echoes(flow)
    if len(samples) >= _SUCCESSIVE:
        blocks = np.array_split(samples, len(samples) // _SUCCESSIVE)
        delays = np.array([block[:, 1].min() for block in blocks])
        times = np.array([block[-1, 0] for block in blocks])
        usual = delays <= _FLOOR + _USUAL * np.median(delays)
        times, delays = times[usual], delays[usual]
        least, middle = float(delays.min()), float(delays.mean())
        above = max(float(np.quantile(samples[:, 1], 0.75)) - middle, 0.0)
        return Upstream(least, times, delays, middle - least, above, "timestamps", int(np.count_nonzero(~usual)))
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


def plausible(moments: Floats, delays: Floats, ack_times: Floats, up: float) -> NDArray[np.bool_]:
    """Tell which delays may be round trips: those in which the sender's timer did not run out.

    Parameters
    ----------
    moments, delays : array of float
        When data sent once were acknowledged [s], and how long after they passed [s].
    ack_times : array of float
        When anything new was acknowledged [s].
    up : float
        Smallest delay from the point of capture to the sender and back [s].

    Notes
    -----
    The timer runs since the data were sent or since the last acknowledgement (RFC 6298, Section 5). A sender whose
    timer ran out has sent again. If the capture does not show that, it lacks packets, or its machine slept: such a
    delay is no round trip, and one of them may be larger than all others together.
    """
    answers = np.concatenate(([-np.inf], np.union1d(ack_times, moments)))
    ends = np.flatnonzero(np.diff(answers) > _FLOOR) + 1
    last = np.searchsorted(answers[ends - 1], moments) - 1  # the first silence has no beginning
    silence = np.minimum(answers[ends][last], moments) - np.maximum(answers[ends - 1][last], moments - delays)
    kept = silence <= _FLOOR
    if kept.all():
        return kept
    smooth: float | None = None
    variation, limit = 0.0, _FIRST
    for i, (quiet, delay) in enumerate(zip(silence.tolist(), delays.tolist())):
        kept[i] = quiet <= limit
        if kept[i]:
            if smooth is None:
                smooth, variation = delay, delay / 2
            variation += (abs(smooth - delay) - variation) / 4
            smooth += (delay - smooth) / 8
            limit = max(_FLOOR, up + smooth + 4 * variation)
    return kept


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
