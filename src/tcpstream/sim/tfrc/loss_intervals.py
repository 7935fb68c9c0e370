"""The average loss interval (RFC 5348, Sections 5.4 and 5.5)."""

from __future__ import annotations

WEIGHTS = (1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2)
"""Of the last loss intervals, newest first."""

THRESHOLD = 0.25
"""What is left of the weight of older intervals at least, when the open one is long."""


class LossIntervals:
    """The last eight loss intervals.

    Parameters
    ----------
    discounting : bool
        Whether older intervals count less while the open one is more than twice as long as their average.
    """

    def __init__(self, *, discounting: bool = False) -> None:
        self._discounting = discounting
        self._closed: list[float] = []
        self._discounts: list[float] = []

    def close(self, length: float) -> None:
        """Add an interval of so many packets, the newest."""
        discount = self._discount(length)
        self._closed = [length, *self._closed][: len(WEIGHTS)]
        self._discounts = [1.0, *(discount * one for one in self._discounts)][: len(WEIGHTS)]

    def event_rate(self, length: float) -> float:
        """Return p, while so many packets have been sent since the last loss event began; 0 before the first."""
        if not self._closed:
            return 0.0
        discount = self._discount(length)
        lengths = [length, *self._closed[:-1]]  # the open interval takes the place of the oldest
        discounts = [1.0, *(discount * one for one in self._discounts[:-1])]
        return 1 / max(_mean(lengths, discounts), self._closed_mean())

    def _discount(self, length: float) -> float:
        """Return DF, what the weights of closed intervals are multiplied with."""
        if not self._discounting or not self._closed or length <= (twice := 2 * self._closed_mean()):
            return 1.0
        return max(twice / length, THRESHOLD)

    def _closed_mean(self) -> float:
        return _mean(self._closed, self._discounts)


def _mean(lengths: list[float], discounts: list[float]) -> float:
    weights = [weight * discount for weight, discount in zip(WEIGHTS, discounts)]
    return sum(weight * length for weight, length in zip(weights, lengths)) / sum(weights)
