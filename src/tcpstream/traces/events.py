"""Loss events: packets lost while nothing sent before them was missing, and what followed them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .fates import Fates, Packet

#: Resolution of the times in most captures [s].
_RESOLUTION = 1e-6


@dataclass
class Events:
    """Counts over a flow.

    Attributes
    ----------
    trials : int
        Packets of known fate that were sent while nothing was missing.
    episodes : list of int
        Packets lost in each loss episode, the first one included; one episode per event.
    neighbours : list of (window, lost)
        For each first loss with another packet behind it in its window: packets in flight, and whether that one was
        lost too.
    timeouts : int
        Retransmissions of the oldest missing packet after a silence.
    """

    trials: int = 0
    episodes: list[int] = field(default_factory=list)
    neighbours: list[tuple[int, bool]] = field(default_factory=list)
    timeouts: int = 0


def count_events(fates: Fates, upstream: float, silence: float, mss: int, round_trip: float) -> Events:
    """Walk the transmissions in order of sending and count the loss events.

    A packet is a trial if it was sent while nothing was missing: everything lost before, and everything sent
    before the first retransmission of a loss (the recovery point of RFC 6582), was acknowledged when it left
    the sender. That depends on earlier packets only, so for independent losses the share of lost trials is
    the loss rate itself, and under losses in bursts it is the rate at which bursts begin.

    Parameters
    ----------
    fates : Fates
        The transmissions and acknowledgements, as they passed the point of capture.
    upstream : float
        Delay from the point of capture to the sender and back [s]: an acknowledgement that passes at t
        governs what passes from t + upstream on.
    silence : float
        A retransmission this long [s] after the last packet or acknowledgement was sent by a timer.
    mss : int
        Payload of a full packet [bytes].
    round_trip : float
        Smallest round trip time [s]: what is sent within it after a loss cannot be an answer to it.
    """
    result = Events()
    if not fates.sent:
        return result
    acked = top = recovery = horizon = fates.sent[0].start
    latest = fates.sent[0].time
    position = window = 0
    first: Packet | None = None
    for packet in fates.sent:
        while position < len(fates.acks) and fates.acks[position][0] + upstream <= packet.time + _RESOLUTION:
            latest = max(latest, fates.acks[position][0] + upstream)
            acked = max(acked, fates.acks[position][1])
            position += 1
        missing = acked < horizon
        known = packet.lost or packet.acked
        if first is not None and known and not packet.again and packet.time - first.time < round_trip:
            result.neighbours.append((window, packet.lost))
        first = None
        if not missing:
            # a packet lost before the point of capture bears the time of a later one: then the flight before it counts
            flight = -(-(packet.end - acked) // mss)
            window = max(flight, window) if packet.lost else flight
        if not missing and known:
            result.trials += 1
            if packet.lost:
                result.episodes.append(1)
                first = packet
        elif missing and packet.lost:
            result.episodes[-1] += 1
        if packet.lost:
            horizon = max(horizon, packet.end)
        if packet.again and missing:
            result.timeouts += packet.start <= acked and packet.time - latest >= silence
            if packet.start >= recovery:
                recovery = top
                horizon = max(horizon, recovery)
        top = max(top, packet.end)
        latest = max(latest, packet.time)
    return result
