"""The short round after a loss of TCP Reno, in moments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tcp.burst import DUPLICATE_ACKS

Floats = NDArray[np.float64]


def per(chance: Any, *sums: Any) -> Any:
    """Return sums over a probability, and 0 where there is none."""
    some = np.where(chance > 0, chance, 1.0)
    return tuple(one / some for one in sums)


def between(values: Floats, first: Floats, end: Floats) -> Floats:
    """Return the sums of ``values[first:end]``."""
    sums = np.append(0.0, np.cumsum(values))
    return np.asarray(sums[end.astype(np.int64)] - sums[first.astype(np.int64)])


class ShortRounds:
    """The short round of j packets, i of which are delivered before a loss, after j of a window."""

    def __init__(self, loss: float, most: int) -> None:
        self.loss, self.j = loss, np.arange(most + 1, dtype=np.float64)

    def after(self, fast: bool, part: bool | None = None) -> tuple[Floats, Floats, Floats]:
        """Probability that the short round of j leads to a fast retransmit, or not, mean and square of its packets.

        `part` is for one part of these rounds: those in which nothing is lost, or something, before a fast
        retransmit; else those in which something arrives, or nothing.
        """
        p, q, j = self.loss, 1 - self.loss, self.j
        i = np.arange(len(j), dtype=np.float64)
        counted = i >= DUPLICATE_ACKS if fast else i < DUPLICATE_ACKS
        if part is not None and not fast:
            counted &= (i > 0) == part
        whole = part if fast else None
        sums = []
        for power in range(3):
            lost = np.where(counted & (whole is not True), i**power * p * q**i, 0.0)
            all_ = np.where(counted & (whole is not False), i**power * q**i, 0.0)
            sums.append(np.append(0.0, np.cumsum(lost))[:-1] + all_)
        return sums[0], *per(sums[0], sums[1], sums[2])

    def between(
        self, first: Floats, end: Floats, fast: bool, part: bool | None
    ) -> tuple[Floats, Floats, Floats, Floats]:  # fmt: skip
        """Return the probability of ``first <= j < end``, the moments of all packets, and the mean of j, by window."""
        p, q, j = self.loss, 1 - self.loss, self.j
        total, mean, square = self.after(fast, part)
        chance = np.where(j >= 1, p * q**j * total, 0.0)
        sums = [
            between(chance * values, first, end)
            for values in (np.ones_like(j), j + mean, j**2 + 2 * j * mean + square, j)
        ]
        return sums[0], *per(sums[0], *sums[1:])
