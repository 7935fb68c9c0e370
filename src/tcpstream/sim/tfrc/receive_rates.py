"""What was received in the last two round trips, which limits what the sender may send (RFC 5348, Section 4.3)."""

from __future__ import annotations

import math

TICK = 1e-6
"""Of the sender's clock [s]: times this near are equal."""


class ReceiveRates:
    """X_recv_set: receive rates [bytes/s] and when they were reported [s]; at first, from `now` on, without a limit."""

    def __init__(self, now: float = 0.0) -> None:
        self._rates: list[tuple[float, float]] = [(now, math.inf)]

    @property
    def largest(self) -> float:
        """The largest of the rates [bytes/s]."""
        return max(rate for _, rate in self._rates)

    def update(self, now: float, rate: float, rtt: float) -> None:
        """Add a rate, and forget what is older than two round trips."""
        self._rates = [one for one in self._rates if one[0] >= now - 2 * rtt - TICK] + [(now, rate)]

    def maximize(self, now: float, rate: float) -> None:
        """Keep nothing but the larger one of a new rate and what there is, as new."""
        known = [one for _, one in self._rates if one < math.inf]
        self._rates = [(now, max(rate, *known) if known else rate)]

    def halve(self) -> None:
        """Halve all rates."""
        self._rates = [(time, rate / 2) for time, rate in self._rates]

    def replace(self, now: float, rate: float) -> None:
        """Forget all rates for one."""
        self._rates = [(now, rate)]
