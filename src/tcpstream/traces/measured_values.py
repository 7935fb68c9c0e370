"""From fates and delays to measured values with their intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..numerics.confidence import wilson
from .fates import Fates
from .intervals import BATCHES, Measured, batch_means, correlation
from .loss_events import Events
from .timing import LEAST_VARIATION, Upstream, timers
from .transmissions import ACKED, AGAIN, LOST, SEEN

#: Linux rounds a timer up to its next tick [s], at 250 Hz.
TICK = 0.004

#: Quantiles of the round trip time that are reported [%].
QUANTILES = (10, 50, 90, 99)


def times(trips: NDArray[np.float64], least: float, up: Upstream, where: str) -> tuple[Measured, Measured, Measured]:
    """Return the round trip time [s], the retransmission timer [s] and their ratio; no trip takes less than `least`."""
    value, low, high = batch_means(trips)
    below, above = min(value - low, max(value - float(trips.min()), 0.0)), high - value
    how = f"mean of {len(trips)} delays from data to acknowledgement, of packets sent once (Karn)"
    if where != "sender":
        below, above = below + up.below, above + up.above
        how += (
            ", plus that until data echo an acknowledgement's timestamp, the smallest of ten at a time"
            if up.source == "timestamps"
            else ", plus one delay to the sender and back, seen in the handshake"
        )
    rtt = Measured(value, max(value - below, min(least, value)), value + above, f"{how}; interval by batch means")
    value, low, high = batch_means(timers(trips))
    rto = Measured(
        value,
        min(max(min(low, value - below), rtt.low + LEAST_VARIATION), value),
        max(high, value + above) + TICK,
        "mean of SRTT + max(0.2 s, 4 RTTVAR) over these round trips (RFC 6298, Linux's floor); batch means, and a tick",
    )
    ratio = rto.value / rtt.value
    high = rto.high / rtt.low if rtt.low > 0 else ratio
    return rtt, rto, Measured(ratio, max(rto.low / rtt.high, 1.0), max(high, ratio), "rto / rtt")


def quantiles(trips: NDArray[np.float64], least: float, up: Upstream, where: str) -> dict[int, Measured]:
    """Return the 10, 50, 90 and 99% quantiles of the round trip time [s] by their percentage; none below `least`."""
    extra = (up.below, up.above) if where != "sender" else (0.0, 0.0)
    design = correlation(trips)
    found = {}
    for percent in QUANTILES:
        levels = wilson(percent / 100 * len(trips), len(trips), design)
        low, value, high = np.quantile(trips, (levels[0], percent / 100, levels[1])).tolist()
        how = f"{percent}% quantile of the {len(trips)} round trips; order statistics, widened for their correlation"
        found[percent] = Measured(value, max(low - extra[0], min(least, value)), high + extra[1], how)
    return found


def packets_per_ack(fates: Fates) -> Measured | None:
    """Return the mean number of packets that an acknowledgement covers; None if none covers packets in order."""
    if not len(fates.per_ack):
        return None
    value, low, high = batch_means(fates.per_ack.astype(float))
    how = f"mean of {len(fates.per_ack)} acknowledgements of packets in order, while nothing was missing; batch means"
    return Measured(value, max(low, 1.0), high, how)


def rates(fates: Fates, events: Events, where: str) -> tuple[Measured, Measured]:
    """Return the loss rate and the loss-event rate."""
    known = fates.sent.state & (LOST | ACKED) != 0
    sent = int(np.count_nonzero(fates.sent.having(SEEN) & known))
    lost = min(int(np.count_nonzero(fates.sent.having(LOST))), sent)
    counts = np.array(events.episodes, dtype=float)
    design = max(float((counts**2).sum() / counts.sum()), 1.0) if len(counts) else 1.0
    seen = {
        "sender": "that had to be retransmitted",
        "receiver": "that arrived late into a hole",
        "between": "retransmitted, or late into a hole,",
    }[where]
    loss = Measured(
        lost / sent,
        *wilson(lost, sent, design),
        f"{lost} data packets {seen} over {sent} sent; Wilson score, widened for losses that come together",
    )
    event_rate = Measured(
        len(counts) / events.trials,
        *wilson(len(counts), events.trials),
        f"{len(counts)} first losses over {events.trials} sent while nothing was missing; Wilson score",
    )
    return loss, event_rate


def delivered(fates: Fates) -> NDArray[np.bool_]:
    """Tell which transmissions are the last copies of data packets that arrived: each packet once."""
    sent = fates.sent
    found = sent.having(SEEN | ACKED)
    again = np.unique(sent.start[sent.having(AGAIN)])
    repeated = np.flatnonzero(
        found & (np.searchsorted(again, sent.start, "right") > np.searchsorted(again, sent.start))
    )
    repeated = repeated[::-1]
    found[repeated] = False
    found[repeated[np.unique(sent.start[repeated], return_index=True)[1]]] = True
    return found


def throughput(
    fates: Fates, arrived: NDArray[np.bool_], start: float, end: float, header: int
) -> tuple[Measured, Measured]:
    """Return the packets that `arrived`, per second between two times [s], and their bits with headers [bytes]."""
    sent = fates.sent
    what = f"{np.count_nonzero(arrived)} distinct data packets acknowledged in {end - start:.1f} s; batch means"
    times, bits = sent.time[arrived], 8.0 * (sent.length[arrived].astype(float) + header)

    def rate(weights: NDArray[np.float64] | None, how: str) -> Measured:
        counts, _ = np.histogram(times, BATCHES, (start, end), weights=weights)
        value, low, high = batch_means(counts * BATCHES / (end - start))
        return Measured(value, max(low, 0.0), high, how)

    return rate(None, what), rate(bits, f"bits of {what}; each packet as long as it is, with IP and TCP headers")
