"""A path from a packet capture: read it, follow its largest flow, measure."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from ..errors import CaptureError
from .capping import capping
from .capture import Datagrams, read_segments
from .clock import coarse, require_clock
from .connections import Connection, connections
from .decrease import decrease
from .delivered_series import delivered_series
from .detection import detection, repairs
from .diagnosis import bulk_is_udp, limitation
from .fates import Fates, follow
from .flow import Flow, read_flow, require_data
from .loss_events import count_events
from .measured_values import delivered, packets_per_ack, quantiles, rates, throughput, times
from .missing_acks import lacks_acks, missing_echoes, not_known, too_long
from .opening import first_flight
from .process import loss_process
from .result import FlowSize, PathEstimate
from .timing import Upstream, acknowledges_at_once, plausible, round_trips, upstream, vantage
from .transmissions import SEEN
from .waiting import pauses, waiting

#: The spread of fewer round trips than this is not known.
FEWEST_ROUND_TRIPS = 2
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
        Headers suffice (the first 128 bytes of each packet). The flow with most payload in one direction is
        analysed; `PathEstimate.others` lists the others.

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

    Examples
    --------
    >>> import tcpstream
    >>> found = tcpstream.estimate("examples/linux-reno.pcap")
    >>> round(found.loss.value, 3)
    0.016
    >>> found.rtt.low < found.rtt.value < found.rtt.high
    True
    """
    notes: list[str] = []
    name = f"the capture {file!s}"
    datagrams: Datagrams = {}
    found = connections_of(file, name, notes, datagrams)
    others, payload = sizes(found[1:]), max(found[0].payload)
    del found[1:]
    estimate = measure(read_flow(found.pop(), f"the largest TCP flow of {name}", notes), name, notes)
    aside = bulk_is_udp(max(datagrams.values(), default=0), payload)
    return replace(estimate, limitation=aside or estimate.limitation, others=others)


def connections_of(
    file: str | PathLike[str], name: str, notes: list[str], datagrams: Datagrams | None = None
) -> list[Connection]:
    """Return the connections of a capture that carry payload, the largest first; at least one."""
    found = connections(read_segments(file, notes, datagrams))
    if not found:
        raise CaptureError(f"{name} holds no TCP packet with payload, only connection set-up and acknowledgements")
    return found


def sizes(found: list[Connection]) -> tuple[FlowSize, ...]:
    """Return what is said of flows that are not measured."""
    return tuple(FlowSize(c.name, c.data[c.sender], c.payload[c.sender]) for c in found)


def measure(flow: Flow, name: str, notes: list[str]) -> PathEstimate:
    """Return the estimate from one flow; `name` is how messages name it, `notes` become warnings."""
    require_data(flow.is_data, name)
    up = upstream(flow)
    fates = follow(flow, sum(flow.handshake) / 2 if flow.handshake else _PATIENCE)
    kept = plausible(fates.moments, fates.delays, fates.ack_times, up.least)
    moments, down, late = fates.moments[kept], fates.delays[kept], fates.delays[~kept]
    if len(down) < FEWEST_ROUND_TRIPS:
        raise CaptureError(
            f"{name} shows {len(down)} acknowledgements of data sent once: at least {FEWEST_ROUND_TRIPS}, "
            "and so both directions, are needed for the RTT"
        )
    if up.source == "none" and acknowledges_at_once(flow, down):
        raise CaptureError(
            f"{name} was taken at the receiver and has neither TCP timestamps nor the handshake: the RTT "
            "cannot be measured; capture at the sender, or from the start of the connection"
        )
    mss, header, label, sack = flow.mss, flow.header, flow.name, len(flow.blocks) > 0
    tick, echoes = flow.tick, missing_echoes(flow)
    where = vantage(down, up)
    ahead = 0.0 if where == "sender" else up.least
    waits, opening, waited = repairs(flow, fates), flow.opening, waiting(flow, ahead)
    del flow  # the larger part of the memory
    trips = round_trips(moments, down, up, where)
    passed = fates.sent.time[fates.sent.having(SEEN)]
    begin, end = passed[[0, -1]].tolist()
    if begin == end or trips.max() <= 0:
        raise CaptureError(f"{name} has the same time on all its packets: nothing can be measured")
    rtt, rto, ratio = times(trips, float(down.min()), up, where)
    require_clock(tick, rtt.value, name)
    least = float(trips.min())
    events = count_events(fates, up.least, _SILENCE * rto.value, mss, least)
    if not events.trials:
        raise CaptureError(f"{name} has no data packet sent while nothing was missing: no loss rate can be measured")
    loss, event_rate = rates(fates, events, where)
    fall = decrease(fates, events, mss, least) if where == "sender" and sack else None
    arrived, opens = delivered(fates), first_flight(fates, opening, ahead)
    per_ack = packets_per_ack(fates)
    lacking = lacks_acks(*echoes, per_ack, mss)
    throughput_pps, throughput_bps = throughput(fates, arrived, begin, end, header)
    capped = capping(fates.sent, moments, trips, opening)
    limits = limitation(waited, capped, fall, where, mss=mss, rate=throughput_pps.value)
    return PathEstimate(
        loss=loss,
        loss_event_rate=event_rate,
        loss_process=loss_process(events),
        sack=sack,
        decrease=fall,
        detection=detection(waits, where, sack=sack, round_trip=least),
        first_flight=opens,
        rtt=rtt,
        rtt_quantiles=quantiles(trips, float(down.min()), up, where),
        packets_per_ack=per_ack,
        rto=rto,
        timeout_ratio=ratio,
        throughput_pps=throughput_pps,
        throughput_bps=throughput_bps,
        series=delivered_series(
            fates, arrived, waited.idle, (begin, end), rtt.value, moments, trips, opens=opens is not None
        ),
        packets=len(fates.sent),
        timeouts=events.timeouts,
        duration_s=end - begin,
        packet_size=mss + header,
        vantage=where,
        flow=label,
        limitation=limits if limits is None or lacking is None else not_known(lacking),
        others=(),
        warnings=(
            *notes,
            *coarse(tick, rtt.value),
            *too_long(lacking),
            *pauses(passed, throughput_pps.value),
            *_limits(mss, fates, up, where, late),
        ),
    )


def _limits(mss: int, fates: Fates, up: Upstream, where: str, late: NDArray[np.float64]) -> list[str]:
    """Return a sentence for everything about this flow that limits its use."""
    found: list[str] = []
    if fates.unseen:
        found.append(
            f"{-(-fates.unseen // mss)} packets were acknowledged that the capture does not hold: "
            "it lacks packets, and its loss rates may be off"
        )
    if len(late):
        found.append(
            f"{len(late)} of {len(fates.delays)} delays from data to acknowledgement, up to {late.max():.3g} s, are "
            "left out of the RTT: the sender's timer would have run out before, and nothing was sent again"
        )
    if up.left_out and where != "sender":
        found.append(
            f"{up.left_out} of {up.left_out + len(up.delays)} delays until the sender answers, each the smallest of "
            "ten, are left out of the RTT: it waited for its application"
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
