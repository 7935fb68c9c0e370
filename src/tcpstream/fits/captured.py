"""What a capture shows of a path that varies: a throughput trace, the round trip of an empty queue, and the buffer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..traces import PathEstimate, ThroughputTrace

HELD_BACK = 0.05
"""Share of the seconds in which a sender may have waited for its application or its receiver."""

NOT_THE_PATH = "udp", "interactive", "application", "receive-window"
"""What else limits a flow: it does not show what the path carries."""

NO_LINK = (
    "the capture shows no link that the flow kept busy: its losses or its application may limit what is taken for the "
    "rate of a link"
)

EVEN, FEW = 0.1, 10
"""Share by which seconds next to each other differ at most where the rate stays; and such seconds that suffice."""

FULL = 0.9
"""Quantile, over seconds, of the largest queue in each, that is taken for the buffer: in many a second no packet finds
it full."""


@dataclass(frozen=True)
class Captured:
    """What regimes are fitted to, and what all have in common.

    Attributes
    ----------
    trace : ThroughputTrace
        Packets acknowledged in each second: when they leave the bottleneck, half a round trip later.
    rtt : float
        Shortest round trip [s].
    buffer : int
        Packets that wait before the bottleneck at most: what a round trip longer than the shortest one holds.
    sender : dict
        Chain, initial window, detection of losses and timer, as proposed and measured.
    notes : tuple of str
        What limits the use of the capture.
    """

    trace: ThroughputTrace
    rtt: float
    buffer: int
    sender: dict[str, Any]
    notes: tuple[str, ...]


def captured(estimate: PathEstimate, packet_size: float) -> Captured:
    """Return what a capture shows of a path that varies.

    Parameters
    ----------
    estimate : PathEstimate
    packet_size : float
        [bytes]

    Raises
    ------
    InputError
        Where the path did not limit the flow.
    """
    series = estimate.series
    waited = sum(series.held_back)
    if waited > HELD_BACK * len(series.held_back):
        raise InputError(
            f"{estimate.flow}: in {waited} of {len(series.held_back)} seconds the sender waited for its application or "
            "its receiver, so that the capture does not show what the path carries: capture an endless download"
        )
    if not series.acknowledged:
        raise InputError(f"{estimate.flow}: the capture is too short, or too long, to have a series")
    packets = np.array(series.acknowledged, dtype=np.float64)
    rtt = float(np.nanmin(series.shortest))
    limited = estimate.limitation
    if limited is not None and limited.cause in NOT_THE_PATH:
        raise InputError(f"{estimate.flow}: not the path limited this flow ({limited.cause}): {limited.evidence}")
    queues = (np.array(series.longest) - rtt) * packets
    even = _even(packets)
    queues = queues[even] if even.sum() >= FEW else queues
    proposal = estimate.proposal
    return Captured(
        trace=ThroughputTrace(np.arange(len(packets) + 1.0), packets * 8 * packet_size, estimate.flow),
        rtt=rtt,
        buffer=max(1, math.ceil(float(np.nanquantile(queues, FULL)))),
        sender={
            "sender": "classic",
            "tcp": "reno-sack" if proposal.tcp == "reno" else proposal.tcp,
            "initial_window": proposal.initial_window,
            "detection": proposal.detection,
            "rto": max(estimate.rto.value, rtt),
        },
        notes=() if estimate.link is not None else (NO_LINK,),
    )


def _even(packets: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which seconds have about as many packets as those beside them: in others the rate has changed."""
    same = np.abs(np.diff(packets)) <= EVEN * np.maximum(packets[1:], packets[:-1])
    return np.asarray(np.append(True, same) & np.append(same, True))
