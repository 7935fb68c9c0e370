"""What a simulation would take, from above, before it is made."""

from __future__ import annotations

import math

from ..errors import InputError
from .application import Application
from .engine import records
from .engine.control_records import TAG
from .hosts import HEADERS
from .links import LARGEST_PACKET, Link
from .losses import Bernoulli, GilbertElliott, LossTrace, RoundLoss
from .scenario import Flow, Scenario
from .sources import Requests, Steady, Stored
from .tfrc import Tfrc

MOST_BYTES = 4 * 2**30
"""Memory of a run."""

MOST_PACKETS = 1e10
"""Packets of a run: more than an hour."""

ROOM = 64
"""Packets in flight that there is room for, a flow, besides those of the widest window."""

STEEP = 20.0
"""A window is hardly ever more than this over the square root of the loss probability."""


DOUBLINGS = 64
"""Of a rate in slow start: no run is as large."""


def ring(scenario: Scenario) -> int:
    """Return the length of what a sender and its receiver remember of packets, a power of two."""
    widest = max((flow.tcp.max_window for flow in scenario.flows if flow.tcp), default=1)
    return 1 << (2 * widest + 7).bit_length()


def places(scenario: Scenario) -> int:
    """Return the packets that the longest queue with a limit holds at most."""
    smallest = min(map(_smallest, scenario.flows))
    links = scenario.links.values()
    return max(1, *(max(link.queue or 0, (link.queue_bytes or 0) // smallest + 1) for link in links))


def _smallest(flow: Flow) -> int:
    """Return the size of a flow's smallest packet [bytes]."""
    if isinstance(flow.source, Application):
        return min(HEADERS, flow.tcp.ack_size) if flow.tcp else HEADERS
    return min(flow.tcp.packet_size, flow.tcp.ack_size) if flow.tcp else flow.packet_size


def check(scenario: Scenario, seconds: float) -> None:
    """Raise `InputError` for a scenario that would take too much memory or time.

    Parameters
    ----------
    scenario : Scenario
    seconds : float
        Simulated time [s].
    """
    flows, length = len(scenario.flows), ring(scenario)
    pool = 4 * length + ROOM * flows
    packet = records.PACKET.itemsize + records.EVENT.itemsize + 8
    paced = sum(flow.tcp is not None and flow.tcp.congestion == "bbr" for flow in scenario.flows)
    memory = pool * packet + (10 * flows + TAG.itemsize * paced) * length + 16 * len(scenario.links) * places(scenario)
    if memory > MOST_BYTES:
        raise InputError(
            f"this scenario would take {memory / 2**30:.3g} GiB, more than {MOST_BYTES // 2**30} GiB: "
            "lower max_window, or queue and queue_bytes"
        )
    if scenario.bins is not None and (room := 24 * flows * seconds / scenario.bins) > MOST_BYTES:
        raise InputError(
            f"the time bins would take {room / 2**30:.3g} GiB, more than {MOST_BYTES // 2**30} GiB: wider time bins"
        )
    packets = sum(_packets(flow, scenario, seconds - flow.start) for flow in scenario.flows if flow.start < seconds)
    if packets > MOST_PACKETS:
        raise InputError(
            f"{seconds:g} s may take {packets:.3g} packets, more than {MOST_PACKETS:.3g}: simulate a shorter time, or "
            "give longer delays, lower rates or smaller windows"
        )


def _packets(flow: Flow, scenario: Scenario, seconds: float) -> float:
    """Return how many packets a flow sends at most."""
    if flow.tcp is None:
        if isinstance(flow.source, Tfrc):
            links = [scenario.links[name] for name in (*flow.there, *flow.back)]
            return _paced(flow.source, links, seconds)
        return seconds * flow.source.packet_rate if isinstance(flow.source, Steady) else 0.0
    there, back = ([scenario.links[name] for name in route] for route in (flow.there, flow.back))
    around = sum(_delay(link) for link in (*there, *back))
    window = min(flow.tcp.max_window, *(_window(link) for link in there))
    rates = [window / around if around else math.inf]
    rates += [_rate(link) / (8 * flow.tcp.packet_size) for link in there]
    rates += [_rate(link) / (8 * flow.tcp.ack_size) * flow.tcp.ack_every for link in back]
    if isinstance(flow.source, Steady):
        rates.append(2 * flow.source.packet_rate)
    if isinstance(flow.source, Requests) and (think := float(flow.source.think.mean())) > 0:
        rates.append(2 * float(flow.source.packets.mean()) / think)
    most = seconds * min(rates)
    return min(most, 2.0 * flow.source.packets) if isinstance(flow.source, Stored) else most


def _paced(source: Tfrc, links: list[Link], seconds: float) -> float:
    """Return the packets that a flow under TFRC hardly exceeds; 0 where it is not known."""
    if type(source).feed is not Tfrc.feed or any(isinstance(link.loss, GilbertElliott | LossTrace) for link in links):
        return 0.0
    around = sum(map(_delay, links))
    rates = [math.inf if source.cap is None else source.cap / (8 * source.size)]
    rates += [2 * _rate(link) / (8 * source.size) for link in links]  # in slow start
    rates += [_window(link) / around for link in links if around]
    doublings = seconds / around if around else math.inf
    return min(seconds * min(rates), 4 * 2.0**doublings if doublings < DOUBLINGS else math.inf)


def _delay(link: Link) -> float:
    return min((link.delay, *(change.delay for change in link.changes if change.delay is not None)))


def _rate(link: Link) -> float:
    """Return a rate that a link does not exceed [bit/s]."""
    rate = max((link.rate, *(change.rate for change in link.changes if change.rate is not None)))
    if link.capacity is not None:
        rate = min(rate, 8 * LARGEST_PACKET * len(link.capacity) / float(link.capacity[-1]))
    return rate if link.bucket is None else min(rate, link.bucket.rate)


def _window(link: Link) -> float:
    if isinstance(link.loss, (Bernoulli, RoundLoss)) and not link.changes and link.loss.p > 0:
        return STEEP / math.sqrt(link.loss.p)
    return math.inf
