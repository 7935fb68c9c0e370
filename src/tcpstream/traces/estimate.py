"""A path from a packet capture: read it, follow its largest flow, measure."""

from __future__ import annotations

from os import PathLike

import numpy as np

from ..errors import CaptureError
from .capture import read_segments
from .events import count_events
from .fates import Fates, follow
from .flow import Flow, find_flow
from .intervals import Measured
from .measure import rates, throughput, times
from .process import LossProcess, loss_process
from .result import PathEstimate
from .timing import Upstream, acknowledges_at_once, round_trips, upstream, vantage

__all__ = ["LossProcess", "Measured", "PathEstimate", "estimate"]

#: Without a handshake, a hole filled within this time [s] was reordering.
_PATIENCE = 0.003
#: A retransmission after this share of the timer in silence was sent by the timer.
_SILENCE = 0.9


def estimate(file: str | PathLike[str]) -> PathEstimate:
    """Estimate a path from a packet capture of a TCP flow that crossed it.

    Parameters
    ----------
    file : path-like
        A pcap or pcapng file, taken at the sender, at the receiver or in between, that holds both directions.
        Headers suffice (the first 128 bytes of each packet). The direction with most payload is analysed.

    Returns
    -------
    PathEstimate
        Loss, round trip time, retransmission timer and throughput, with 95% intervals.

    Raises
    ------
    CaptureError
        When the file cannot be read, is no capture, holds no TCP flow of at least 10 data packets, or does
        not show the round trip time.
    MissingExtraError
        When dpkt is not installed: ``pip install 'tcpstream[capture]'``.

    Notes
    -----
    At the sender a data packet counts as lost if it had to be retransmitted, unless the original is seen to
    have arrived (DSACK, an older timestamp echoed, an acknowledgement faster than any round trip). At the
    receiver a packet counts as lost if its hole was filled late. In between, both are counted. The timer
    follows RFC 6298 with Linux's floor: the variance term is at least 0.2 s.
    """
    notes: list[str] = []
    name = f"the capture {file!s}"
    flow = find_flow(read_segments(file, notes), name, notes)
    up = upstream(flow)
    fates = follow(flow, sum(flow.handshake) / 2 if flow.handshake else _PATIENCE)
    if not fates.samples:
        raise CaptureError(f"{name} shows no acknowledgement of its data: both directions are needed for the RTT")
    return _assemble(flow, up, fates, name, notes)


def _assemble(flow: Flow, up: Upstream, fates: Fates, name: str, notes: list[str]) -> PathEstimate:
    moments, down = np.array(fates.samples).T
    if up.source == "none" and acknowledges_at_once(flow, down):
        raise CaptureError(
            f"{name} was taken at the receiver and has neither TCP timestamps nor the handshake: the RTT "
            "cannot be measured; capture at the sender, or from the start of the connection"
        )
    where = vantage(down, up)
    trips = round_trips(moments, down, up, where)
    sent = [packet.time for packet in fates.sent if packet.seen]
    if sent[0] == sent[-1] or trips.max() <= 0:
        raise CaptureError(f"{name} has the same time on all its packets: nothing can be measured")
    rtt, rto, ratio = times(trips, up, where)
    events = count_events(fates, up.least, _SILENCE * rto.value, flow.mss, float(trips.min()))
    loss, event_rate = rates(fates, events, where)
    return PathEstimate(
        loss=loss,
        loss_event_rate=event_rate,
        loss_process=loss_process(events),
        rtt=rtt,
        rto=rto,
        timeout_ratio=ratio,
        throughput_pps=throughput(fates, sent[0], sent[-1]),
        packets=len(fates.sent),
        timeouts=events.timeouts,
        duration_s=sent[-1] - sent[0],
        packet_size=flow.mss + flow.header,
        vantage=where,
        flow=flow.name,
        warnings=(*notes, *_limits(flow, fates, up, where)),
    )


def _limits(flow: Flow, fates: Fates, up: Upstream, where: str) -> list[str]:
    """Return a sentence for everything about this flow that limits its use."""
    found: list[str] = []
    if fates.unseen:
        found.append(
            f"{-(-fates.unseen // flow.mss)} packets were acknowledged that the capture does not hold: "
            "it lacks packets, and its loss rates may be off"
        )
    if fates.twice:
        found.append(f"{fates.twice} data packets are in the capture twice (two interfaces?): counted once")
    if where == "receiver":
        found.append("taken at the receiver: losses before a timeout and lost retransmissions may leave no trace there")
    if up.source == "none":
        found.append("no TCP timestamps and no handshake: taken to be captured at the sender, else the RTT is longer")
    elif up.source == "handshake" and where != "sender":
        found.append("no TCP timestamps: of the way to the sender only the handshake shows the delay")
    return found
