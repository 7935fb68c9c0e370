"""By how much the window falls at a loss: half in Reno, to 0.7 of it in CUBIC."""

from __future__ import annotations

import numpy as np

from ..numerics.confidence import wilson
from .fates import Fates
from .intervals import Measured
from .loss_events import Events
from .transmissions import AGAIN

#: Ratios that are taken for 0.5 (RFC 5681, Section 3.1; some more in small windows) and 0.7 (RFC 9438, Section 4.6).
_RANGES = {"reno": (0.35, 0.62), "cubic": (0.62, 0.85)}
NEITHER = "neither Reno nor CUBIC"
#: In smaller windows [packets] the rounding to whole packets hides the ratio.
_SMALLEST_WINDOW = 8
#: The range of fewer ratios than this holds their median with a probability below 95%.
_FEWEST = 6


def decrease(fates: Fates, events: Events, mss: int, round_trip: float) -> Measured | None:
    """Return the packets in flight after a fast recovery over those before it; None if too few show it.

    Parameters
    ----------
    fates : Fates
        The transmissions and acknowledgements, as they passed the sender.
    events : Events
        Of these transmissions: their loss episodes.
    mss : int
        Payload of a full packet [bytes].
    round_trip : float
        Smallest round trip time [s].

    Notes
    -----
    Before: the most packets in flight from the first loss until all sent before it is acknowledged, one round trip
    later. After: the most in the first half of the round trip from which on nothing is missing: the window has not
    grown yet. Episodes with a timeout or with a second recovery are left out.
    """
    sent = fates.sent
    position = np.searchsorted(fates.ack_times, sent.time, side="right")
    acked = np.concatenate((sent.start[:1], fates.acks))[position]
    flight = -(-(sent.start + sent.length - acked) // mss)
    new = ~sent.having(AGAIN)
    ratios = []
    for lost, mended in events.recoveries:
        end = int(np.searchsorted(sent.time, sent.time[mended] + round_trip / 2))
        felt = new[lost:mended] & (acked[lost:mended] < sent.start[lost])
        felt[0] = True
        before = int(flight[lost:mended][felt].max())
        after = int(flight[mended:end][new[mended:end]].max(initial=0))
        if before >= _SMALLEST_WINDOW and end < len(sent) and after:
            ratios.append(after / before)
    if len(ratios) < _FEWEST:
        return None
    low, high = wilson(len(ratios) / 2, len(ratios))
    low, value, high = np.quantile(ratios, (low, 0.5, high)).tolist()
    how = f"median of {len(ratios)} ratios of the packets in flight after and before a fast recovery; order statistics"
    return Measured(value, low, high, how)


def named(ratio: Measured | None) -> str | None:
    """Return the congestion control with this decrease, "reno", "cubic" or `NEITHER`; None if that is not known."""
    if ratio is None:
        return None
    for name, (low, high) in _RANGES.items():
        if low <= ratio.low and ratio.high <= high:
            return name
    clear = all(ratio.high < low or high < ratio.low for low, high in _RANGES.values())
    return NEITHER if clear else None
