"""What a flow delivered second by second, and in which seconds losses alone governed it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .fates import Fates
from .transmissions import LOST

#: A flow that lasts longer, or whose times are absurd, has no series [s].
MOST_SECONDS = 1_000_000
#: A sender that waited for its application or its receiver longer than this in a second was held back by them [s].
_WAITED = 0.1
#: Halved so often, the window forgets how large it was in the first slow start.
_LOSSES = 3


@dataclass(frozen=True)
class DeliveredSeries:
    """Packets in each whole second of a flow, from its first data packet on.

    Attributes
    ----------
    packets : tuple of int
        Distinct data packets that arrived, by the second in which they were sent; none of a flow of more than 11 days.
    held_back : tuple of bool
        Whether the sender waited a tenth of the second or longer for its application or for its receiver's window.
    opening : int
        Seconds until three losses in different round trips ended the first slow start; 0 where the capture lacks it.
    acknowledged : tuple of int
        Packets by the second in which they were first acknowledged, in order or selectively.
    shortest, longest : tuple of float
        Round trips that ended in each second [s]; NaN where none did.
    """

    packets: tuple[int, ...]
    held_back: tuple[bool, ...]
    opening: int
    acknowledged: tuple[int, ...]
    shortest: tuple[float, ...]
    longest: tuple[float, ...]

    @property
    def governed_by_losses(self) -> NDArray[np.bool_]:
        """The seconds after the opening in which the sender was not held back."""
        found = ~np.array(self.held_back, dtype=np.bool_)
        found[: self.opening] = False
        return found


def delivered_series(
    fates: Fates,
    arrived: NDArray[np.bool_],
    idle: tuple[float, ...],
    times: tuple[float, float],
    round_trip: float,
    moments: NDArray[np.float64],
    trips: NDArray[np.float64],
    *,
    opens: bool,
) -> DeliveredSeries:
    """Return the packets that `arrived` in each whole second.

    Parameters
    ----------
    fates : Fates
        The transmissions.
    arrived : array of bool
        Which of them are counted.
    idle : tuple of float
        Time in each second in which the sender had nothing to send, or its receiver no room [s].
    times : (float, float)
        When the first data packet and the last one passed [s].
    round_trip : float
        Losses at least so far apart [s] are two events.
    moments, trips : array of float
        When round trips ended, and how long they were [s].
    opens : bool
        Whether the capture holds the start of the connection.
    """
    begin, end = times
    seconds = int(end - begin)
    if seconds > MOST_SECONDS:
        return DeliveredSeries((), (), 0, (), (), ())

    def counted(times: NDArray[np.float64]) -> tuple[int, ...]:
        counts, _ = np.histogram(times, seconds or 1, (begin, begin + (seconds or 1)))
        return tuple(counts[:seconds].tolist())

    waited = np.zeros(seconds)
    known = idle[:seconds]
    waited[: len(known)] = known
    opening = _opening(fates.sent.time[fates.sent.having(LOST)] - begin, round_trip, seconds) if opens else 0
    second = (moments - begin).astype(np.int64)
    ended = (second >= 0) & (second < seconds)
    extremes = np.full((2, seconds), [[np.inf], [-np.inf]])
    np.minimum.at(extremes[0], second[ended], trips[ended])
    np.maximum.at(extremes[1], second[ended], trips[ended])
    shortest, longest = np.where(np.isfinite(extremes), extremes, np.nan).tolist()
    return DeliveredSeries(
        packets=counted(fates.sent.time[arrived]),
        held_back=tuple((waited >= _WAITED).tolist()),
        opening=opening,
        acknowledged=counted(fates.answered),
        shortest=tuple(shortest),
        longest=tuple(longest),
    )


def _opening(losses: NDArray[np.float64], round_trip: float, seconds: int) -> int:
    """Return the seconds until the third loss event, or all of them."""
    last = -np.inf
    for _ in range(_LOSSES):
        after = np.searchsorted(losses, last + round_trip, side="right")
        if after == len(losses):
            return seconds
        last = float(losses[after])
    return min(int(last) + 1, seconds)
