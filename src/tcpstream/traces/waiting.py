"""What a sender waited for before each new packet: data, the receiver's window, its own clock, or acknowledgements."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .connections import Ints
from .delivered_series import MOST_SECONDS
from .flow import Flow
from .transmissions import AT_ONCE

#: A backlogged sender answers an acknowledgement within this time [s].
_ANSWER = 1e-3
#: Stretches of a flow in which its largest lead over a constant rate is looked for.
_STRETCHES = 20
#: Fewer packets than this in a stretch, on average, make any line.
_FEWEST = 5
#: Of a long flow so many packets are looked at for it.
_SAMPLE = 100_000
#: Two packets and what rounding adds: as far as a stream of constant rate strays from it.
_STRAYING = 2.5

#: Linux's longest timer [s]: no timer explains a longer pause.
_RTO_MAX = 120.0

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
    idle : tuple of float
        Time in each second from the first new packet on in which the sender waited for its application or for the
        receiver's window [s].
    """

    application: float
    window: float
    clock: float
    steady: float
    rate: float
    announced: int | None
    payload: int
    idle: tuple[float, ...]


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
    rows, again = _new(flow)
    acks = np.flatnonzero(~flow.is_data)
    windows = None if flow.scale is None else flow.window[acks].astype(np.int64) << flow.scale
    announced = None if windows is None else int(np.median(windows))
    middle = int(np.median(flow.payload[rows]))
    span = float(flow.time[rows[-1]] - flow.time[rows[0]])
    if span <= 0:
        return Waiting(0.0, 0.0, 0.0, 0.0, 0.0, announced, middle, ())
    seconds = np.arange(min(int(span), MOST_SECONDS) + 2).astype(np.float64) + flow.time[rows[0]]
    held, late = np.zeros(len(seconds) - 1), _ANSWER + upstream / 2
    numbers = np.maximum.accumulate(flow.mark[acks])
    heard = _Heard(
        time=flow.time[acks] + upstream,
        number=numbers,
        edge=None if windows is None else np.maximum.accumulate(numbers + windows),
        asks=flow.payload[acks] > 0,
    )
    application, window, clock, free = np.sum(
        [
            _shares(flow, heard, rows[i : i + AT_ONCE + 1], again[i : i + AT_ONCE], late, seconds, held)
            for i in range(0, len(again), AT_ONCE)
        ],
        axis=0,
    ).tolist()
    some = rows[:: -(-len(rows) // _SAMPLE)]
    sent = (flow.mark[some] + flow.payload[some] - flow.mark[rows[0]]) / flow.mss
    steady, rate = _steady(flow.time[some] - flow.time[rows[0]], sent)
    return Waiting(
        application=application / span,
        window=window / span,
        clock=clock / free if free > 0 else 0.0,
        steady=steady,
        rate=rate,
        announced=announced,
        payload=middle,
        idle=tuple(np.minimum(held, 1.0).tolist()),
    )


def pauses(time: Floats, throughput: float) -> list[str]:
    """Return what is said of a pause that is most of a flow and longer than any timer.

    Parameters
    ----------
    time : (n,) array
        When data packets passed [s], in order; two or more.
    throughput : float
        From the first to the last of them [packets/s].
    """
    span, longest = float(time[-1] - time[0]), float(np.diff(time).max())
    if longest <= max(_RTO_MAX, span / 2):
        return []
    rest = span - longest
    without = f", without this pause {throughput * span / rest:.4g} packets/s" if rest > 0 else ""
    return [
        f"no data were sent for {longest:.4g} s of {span:.4g} s, and no timer lasts so long: the throughput is that of "
        f"the whole time{without}"
    ]


@dataclass(frozen=True)
class _Heard:
    """The acknowledgements: when the sender hears them [s], numbers, right edges of windows if known, with payload?"""

    time: Floats
    number: Ints
    edge: Ints | None
    asks: NDArray[np.bool_]


def _new(flow: Flow) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
    """Return the rows of packets with new data, and whether others were sent between each one and the next."""
    found, order = array("I"), array("I")
    top, count = int(flow.mark[flow.is_data][0]), 0
    for i in range(0, len(flow.time), AT_ONCE):
        rows = i + np.flatnonzero(flow.is_data[i : i + AT_ONCE])
        tops = np.maximum.accumulate(np.concatenate(([top], flow.mark[rows] + flow.payload[rows])))
        new = np.flatnonzero(np.diff(tops) > 0)
        found.extend(rows[new].tolist())
        order.extend((count + new).tolist())
        top, count = int(tops[-1]), count + len(rows)
    return np.frombuffer(found, np.uint32), np.diff(np.frombuffer(order, np.uint32)) > 1


def _shares(
    flow: Flow,
    heard: _Heard,
    rows: NDArray[np.uint32],
    again: NDArray[np.bool_],
    late: float,
    seconds: Floats,
    held: Floats,
) -> tuple[float, float, float, float]:
    """Return the time [s] that new packets waited for application, window and clock, and what is left for the last.

    The time spent on the first two is added to `held`, second by second.
    """
    start, until = flow.time[rows[:-1]], flow.time[rows[1:]]
    end, gap = flow.mark[rows] + flow.payload[rows], until - start
    last = np.searchsorted(heard.time, until, side="right") - 1  # the acknowledgement heard last before each packet
    since = until - np.maximum(start, np.where(last >= 0, heard.time[last], start))
    blocked = np.zeros(len(gap))
    if heard.edge is not None:
        blocked = np.clip(_first(heard, heard.edge, end[1:], -np.inf) - start, 0, gap)
    emptied = _first(heard, heard.number, end[:-1], np.inf)
    empty = np.where(emptied <= until, until - np.maximum(emptied, start), -1.0)  # how long nothing was in flight
    asked = (empty >= 0) & (last >= 0) & heard.asks[last]  # by what the other end sent
    short = flow.payload[rows[:-1]] % flow.mss > 0
    nothing = np.where(empty > late, empty, 0.0)
    idle = np.where(short & (asked | (since > late)), gap - blocked, nothing)
    application = np.where(~again & (blocked < gap / 2), idle, 0.0)
    silent = np.where(again, nothing, application)  # also after the last packets were sent again
    held += _by_second(start, blocked, seconds) + _by_second(until - silent, silent, seconds)
    rest, free = ~again & (application == 0), gap - blocked
    return (
        float(application.sum()),
        float(blocked.sum()),
        float(np.minimum(since, free)[rest].sum()),
        float(free[rest].sum()),
    )


def _by_second(start: Floats, lasts: Floats, seconds: Floats) -> Floats:
    """Return how much of each second is in some intervals [s], of which none overlap and the later come later."""
    before = np.cumsum(lasts) - lasts
    passed = np.stack([before, before + lasts], axis=1).ravel()
    return np.diff(np.interp(seconds, np.stack([start, start + lasts], axis=1).ravel(), passed))


def _first(heard: _Heard, column: Ints, numbers: Ints, never: float) -> Floats:
    """Return when a column first reached each of these numbers [s]."""
    first = np.searchsorted(column, numbers)
    return np.where(first < len(column), heard.time[np.minimum(first, len(column) - 1)], never)


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
