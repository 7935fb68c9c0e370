"""What a sender waited for before each new packet: data, the receiver's window, its own clock, or acknowledgements."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .connections import Ints
from .flow import Flow

#: A backlogged sender answers an acknowledgement within this time [s].
_ANSWER = 1e-3
#: Stretches of a flow in which its largest lead over a constant rate is looked for.
_STRETCHES = 20
#: Fewer packets than this in a stretch, on average, make any line.
_FEWEST = 5
#: Two packets and what rounding adds: as far as a stream of constant rate strays from it.
_STRAYING = 2.5

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Waiting:
    """Shares of the time between the first new packet and the last, each 0 to 1.

    Attributes
    ----------
    application : float
        After a packet that was not full, or with nothing in flight: there was nothing to send, as between the requests
        of the other end.
    window : float
        Until the receiver announced room for the next packet.
    clock : float
        Of the rest without retransmissions: since the last packet or acknowledgement, either of which lets a backlogged
        sender go on at once. Near 0 if acknowledgements clock the sender.
    steady : float
        On the straight line along which a source of constant rate makes its packets.
    rate : float
        The slope of this line [packets/s].
    announced : int or None
        Median of the announced windows [bytes]; None if they are not known, as the handshake was not seen.
    payload : int
        Median payload of the new packets [bytes].
    """

    application: float
    window: float
    clock: float
    steady: float
    rate: float
    announced: int | None
    payload: int


def waiting(flow: Flow, upstream: float) -> Waiting:
    """Return what the sender of a flow waited for.

    Parameters
    ----------
    flow : Flow
        The flow and its acknowledgements.
    upstream : float
        An acknowledgement that passes at t governs what passes from t + `upstream` on [s]. Half of it is left for its
        variation.

    Notes
    -----
    Application and receiver limits are defined as in Zhang, Breslau, Paxson and Shenker, "On the Characteristics and
    Origins of Internet Flow Rates" (SIGCOMM 2002), but of time instead of flights.
    """
    rows = np.flatnonzero(flow.is_data)
    end = flow.mark[rows] + flow.payload[rows]
    new = np.concatenate(([True], end[1:] > np.maximum.accumulate(end)[:-1]))
    again = np.diff(np.flatnonzero(new)) > 1  # retransmissions between this packet and the next
    rows, end = rows[new], end[new]
    time, payload = flow.time[rows], flow.payload[rows]
    acks = np.flatnonzero(~flow.is_data)
    middle = int(np.median(payload))
    span = float(time[-1] - time[0])
    announced = None if flow.scale is None else int(np.median(flow.window[acks].astype(np.int64) << flow.scale))
    if span <= 0:
        return Waiting(0.0, 0.0, 0.0, 0.0, 0.0, announced, middle)
    heard, numbers = flow.time[acks] + upstream, np.maximum.accumulate(flow.mark[acks])
    start, gap = time[:-1], np.diff(time)
    last = np.searchsorted(heard, time[1:], side="right") - 1  # the acknowledgement heard last before each packet
    since = time[1:] - np.maximum(start, np.where(last >= 0, heard[last], start))
    blocked = np.clip(_allowed(flow, acks, heard, numbers, end[1:]) - start, 0, gap)
    short = payload[:-1] % flow.mss > 0
    empty = _empty(heard, numbers, start, time[1:], end[:-1])
    asked = (empty >= 0) & (last >= 0) & (flow.payload[acks[last]] > 0)  # by what the other end sent
    late = _ANSWER + upstream / 2
    idle = np.where(asked & short | (since > late) & short, gap - blocked, np.where(empty > late, empty, 0.0))
    application = np.where(~again & (blocked < gap / 2), idle, 0.0)
    rest = ~again & (application == 0)
    free = float((gap - blocked)[rest].sum())
    steady, rate = _steady(time - time[0], (end - end[0]) / flow.mss)
    return Waiting(
        application=float(application.sum()) / span,
        window=float(blocked.sum()) / span,
        clock=float(np.minimum(since, gap - blocked)[rest].sum()) / free if free > 0 else 0.0,
        steady=steady,
        rate=rate,
        announced=announced,
        payload=middle,
    )


def _empty(heard: Floats, numbers: Ints, start: Floats, until: Floats, end: Ints) -> Floats:
    """Return how long nothing had been in flight before each packet [s]; -1 if something was.

    `start` and `end` are time [s] and end of the packet before it.
    """
    first = np.searchsorted(numbers, end)
    since = np.where(first < len(heard), heard[np.minimum(first, len(heard) - 1)], np.inf)
    return np.where(since <= until, until - np.maximum(since, start), -1.0)


def _allowed(flow: Flow, acks: Ints, heard: Floats, numbers: Ints, end: Ints) -> Floats:
    """Return when the receiver first announced room up to each of these numbers; long ago where that is not known."""
    if flow.scale is None:
        return np.full(len(end), -np.inf)
    edges = np.maximum.accumulate(numbers + (flow.window[acks].astype(np.int64) << flow.scale))
    first = np.searchsorted(edges, end)
    return np.where(first < len(heard), heard[np.minimum(first, len(heard) - 1)], -np.inf)


def _steady(time: Floats, sent: Floats) -> tuple[float, float]:
    """Return the share of the time on a straight line, and its slope [packets/s].

    A source of constant rate is at times held up by losses, and then catches up with the line, but never runs ahead of
    it: the line goes through its largest leads. Its slope is the median of those between any two of them (Theil, 1950).
    """
    if len(sent) < _FEWEST * _STRETCHES:
        return 0.0, 0.0
    lead = sent - sent[-1] / time[-1] * time
    edges = np.searchsorted(time, np.linspace(0, time[-1], _STRETCHES + 1))
    tops = np.array([a + int(lead[a:b].argmax()) for a, b in pairwise(edges) if b > a])
    one, other = np.triu_indices(len(tops), 1)
    apart = time[tops[other]] - time[tops[one]]
    if not (apart > 0).any():
        return 0.0, 0.0
    rate = float(np.median((sent[tops[other]] - sent[tops[one]])[apart > 0] / apart[apart > 0]))
    lead = sent - rate * time
    on_line = np.abs(lead - np.quantile(lead, 0.9)) < _STRAYING
    return float(np.diff(time)[on_line[1:]].sum() / time[-1]), rate
