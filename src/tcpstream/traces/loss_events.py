"""Loss events: packets lost while nothing sent before them was missing, and what followed them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .fates import Fates
from .transmissions import ACKED, AGAIN, AT_ONCE, LOST

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
    recoveries : list of (lost, mended)
        For each episode that a single fast recovery mended: the rows of its first loss, and of the first packet sent
        when nothing was missing any more.
    """

    trials: int = 0
    episodes: list[int] = field(default_factory=list)
    neighbours: list[tuple[int, bool]] = field(default_factory=list)
    timeouts: int = 0
    recoveries: list[tuple[int, int]] = field(default_factory=list)


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
    acked = top = recovery = horizon = int(fates.sent.start[0])
    latest = float(fates.sent.time[0])
    acks = _acknowledgements(fates, upstream)
    coming = next(acks, None)
    window = 0
    first: float | None = None
    begun: int | None = None
    reductions = 0
    for row, (time, start, length, state) in enumerate(fates.sent.rows()):
        end = start + length
        while coming is not None and coming[0] <= time + _RESOLUTION:
            latest, acked = max(latest, coming[0]), max(acked, coming[1])
            coming = next(acks, None)
        missing, lost, known = acked < horizon, bool(state & LOST), bool(state & (LOST | ACKED))
        if first is not None and known and not state & AGAIN and time - first < round_trip:
            result.neighbours.append((window, lost))
        first = None
        if not missing:
            if begun is not None and reductions == 1:
                result.recoveries.append((begun, row))
            begun = None
            # a packet lost before the point of capture bears the time of a later one: then the flight before it counts
            flight = max(-(-(end - acked) // mss), 1)
            window = max(flight, window) if lost else flight
        if not missing and known:
            result.trials += 1
            if lost:
                result.episodes.append(1)
                first, begun, reductions = time, row, 0
        elif missing and lost:
            result.episodes[-1] += 1
        if lost:
            horizon = max(horizon, end)
        if state & AGAIN and missing:
            if start <= acked and time - latest >= silence:
                result.timeouts += 1
                begun = None
            if start >= recovery:
                reductions += 1
                recovery = top
                horizon = max(horizon, recovery)
        top = max(top, end)
        latest = max(latest, time)
    return result


def _acknowledgements(fates: Fates, upstream: float) -> Iterator[tuple[float, int]]:
    """Yield when each acknowledgement governs what passes [s], and its number."""
    for i in range(0, len(fates.acks), AT_ONCE):
        part = slice(i, i + AT_ONCE)
        yield from zip((fates.ack_times[part] + upstream).tolist(), fates.acks[part].tolist())
