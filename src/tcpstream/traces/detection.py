"""How a sender sees losses: by three duplicates or its timer, or sooner than either, as RACK-TLP does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numerics.confidence import wilson
from .fates import Fates
from .flow import Flow
from .intervals import Measured
from .timing import LEAST_VARIATION
from .transmissions import AGAIN, Transmissions

#: Packets that must have arrived after a missing one for a sender without RACK-TLP (RFC 5681, RFC 6675: DupThresh).
DUPLICATES = 3
#: Fewer repairs than this tell nothing.
FEWEST = 5
#: Share of the repairs that come sooner than a timer can: with RACK-TLP more, without it less.
BORDER = 0.25
#: Round trips until RACK knows of a loss: one, and a reordering window of a quarter (RFC 8985, Section 6.2).
_SEEN = 1.25
#: A timer may be early by a tick of the clock of Linux, at 250 Hz [s].
_TICK = 0.004


@dataclass(frozen=True)
class Detection:
    """How the sender sees losses.

    A repair is a retransmission that fewer than three duplicates precede, when all sent before the last retransmission
    is acknowledged. Without RACK-TLP (RFC 8985) the timer alone makes it.

    Attributes
    ----------
    fits : {"rack", "duplicates", "undecided"}
        What `tcpstream.Path` takes as `detection`, or that the capture does not tell.
    sooner : Measured or None
        Share of the repairs that came sooner than a timer can, with a Wilson score interval; None without any.
    reason : str
        Why, as a clause for people.
    """

    fits: str
    sooner: Measured | None
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {
            "fits": self.fits,
            "sooner": self.sooner and self.sooner.value,
            "sooner_interval": self.sooner and [self.sooner.low, self.sooner.high],
            "reason": self.reason,
        }


def repairs(flow: Flow, fates: Fates) -> NDArray[np.float64]:
    """Return how long [s] the timer had been running at each repair.

    It runs since the oldest missing packet was sent, or since an acknowledgement of new data after that (RFC 6298,
    Section 5). The capture is taken for the sender's.
    """
    sent = fates.sent
    rows = np.flatnonzero(sent.having(AGAIN))
    answered, number, since, duplicates = _known(flow, sent.time[rows])
    rows = rows[answered]
    top = _highest(sent.start + sent.length)[rows - 1]
    recovered = number >= np.concatenate((sent.start[:1], top[:-1]))[: len(rows)]
    chosen = recovered & (duplicates < DUPLICATES)
    oldest = sent.time[_oldest(sent, number[chosen])]
    return np.asarray(sent.time[rows[chosen]] - np.maximum(since[chosen], oldest), dtype=float)


def _known(
    flow: Flow, times: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]:
    """Return what a sender knows at some times: whether anything is acknowledged yet.

    And where it is: the number acknowledged, since when [s], and how many packets are reported to have arrived behind
    it, by as many duplicates or by one.
    """
    acks = ~flow.is_data
    time, number = flow.time[acks], _highest(flow.mark[acks])
    left, right = flow.blocks.T
    packets = np.where(left > 0, -(-(right - left) // flow.mss), 0)
    before = np.concatenate(([0], np.cumsum(packets))).astype(np.int32)  # may wrap, differences do not
    reported = np.diff(before[flow.first_block])[acks]
    so_far = np.cumsum(reported > 0, dtype=np.int32)
    last = np.searchsorted(time, times, side="right") - 1
    answered = last >= 0
    last = last[answered]
    first = np.searchsorted(number, number[last])
    return answered, number[last], time[first], np.maximum(so_far[last] - so_far[first], reported[last])


def _oldest(sent: Transmissions, numbers: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the row of the first copy of each of these numbers."""
    begins = _highest(np.where(sent.having(AGAIN), sent.start[0], sent.start))
    last = np.maximum(np.searchsorted(begins, numbers, side="right") - 1, 0)
    return np.searchsorted(begins, begins[last])


def _highest(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Replace each number by the highest up to it, in place: they may be many."""
    return np.maximum.accumulate(numbers, out=numbers)


def detection(waits: NDArray[np.float64], where: str, *, sack: bool, round_trip: float) -> Detection:
    """Tell how the sender sees losses.

    Parameters
    ----------
    waits : array of float
        Of `repairs` [s].
    where : {"sender", "receiver", "between"}
        Where the capture was taken.
    sack : bool
        Whether selective acknowledgements were seen.
    round_trip : float
        Smallest round trip time [s]: no timer of Linux is shorter than this and 0.2 s.
    """
    if not sack:
        return Detection("duplicates", None, "no SACK is seen, which RACK-TLP needs")
    if where != "sender":
        return Detection("undecided", None, "a capture away from the sender does not show what it knew")
    soonest = round_trip + LEAST_VARIATION - _TICK
    if _SEEN * round_trip >= soonest:
        return Detection("undecided", None, "at so long a round trip RACK-TLP is no sooner than the timer")
    count, early = len(waits), int(np.count_nonzero(waits < soonest))
    what = f"{early} of {count} retransmissions without three duplicates came sooner than a timer can"
    sooner = Measured(early / count, *wilson(early, count), f"{what}; Wilson score") if count else None
    if sooner is not None and count >= FEWEST:
        if sooner.low > BORDER:
            return Detection("rack", sooner, what)
        if sooner.high < BORDER:
            return Detection("duplicates", sooner, what)
    return Detection("undecided", sooner, f"{what}: too few to tell")
