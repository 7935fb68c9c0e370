"""How long a chain is silent: retransmission timers, and what RACK-TLP does instead of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..path import Path

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: A wait: the numbers of rounds it can take, each with its probability.
Wait = tuple[tuple[int, float], ...]

LEVELS = 7
"""Back-off levels e = 1..7."""

PROBE = 2.0
"""Rounds from the last packet to a tail loss probe (RFC 8985, Section 7.2: twice the smoothed round trip time)."""

SEEN = 1.25
"""Rounds from a packet to its loss being known, where a later packet arrives: R and the reordering window of R / 4
(RFC 8985, Section 6.2)."""


@dataclass(frozen=True)
class Waits:
    """Silences of a path, in rounds.

    Attributes
    ----------
    all_lost : float
        From the start of a round lost whole to the next packet.
    unseen : float
        From the start of a round whose losses do not end in a fast retransmit to the retransmission.
    lost_again : float
        From the start of a round with a loss to the retransmission after the first one was lost as well.
    backoff : tuple of 7 float
        From a packet lost at back-off level e to the next retransmission.
    """

    all_lost: float
    unseen: float
    lost_again: float
    backoff: tuple[float, ...]

    @classmethod
    def of(cls, path: Path) -> Waits:
        """Return those of a path.

        With RACK-TLP a probe goes before the timer, which therefore is not doubled yet at the first level.
        """
        first, rack = path.timeout_ratio, path.detection == "rack"
        exponents = [e - rack for e in range(1, LEVELS + 1)]
        factors = [2.0 ** min(e, 6) if path.backoff == "rfc6298" else 2.0 ** max(e - 1, 0) for e in exponents]
        return cls(
            all_lost=min(PROBE, first) if rack else first,
            unseen=min(SEEN, first - 1) if rack else first - 1,
            lost_again=min(1 + SEEN, first + 1) if rack else first + 1,
            backoff=tuple(factor * first for factor in factors),
        )


def wait(rounds: float) -> Wait:
    """Split a wait of any real length >= 1 [rounds] in its two neighbouring integers, keeping the mean."""
    nearest = round(rounds)
    if math.isclose(rounds, nearest, rel_tol=1e-9):
        return ((nearest, 1.0),)
    low = math.floor(rounds)
    return ((low, low + 1 - rounds), (low + 1, rounds - low))


def mean_wait(waits: Wait) -> float:
    """Return the mean of a wait [rounds]."""
    return sum(d * weight for d, weight in waits)


@dataclass(frozen=True)
class Silences:
    """Silences of a chain in whole rounds, and its timeouts: retransmissions at back-off levels 1 to 7.

    Attributes
    ----------
    whole_loss : Wait
        From the start of a round lost whole to the first retransmission.
    unrepaired : Wait
        From the start of a round whose losses are not repaired otherwise to the first retransmission.
    backoff : tuple of 7 Wait
        From a packet lost at back-off level e to the next retransmission.
    """

    whole_loss: Wait
    unrepaired: Wait
    backoff: tuple[Wait, ...]

    @property
    def every(self) -> tuple[Wait, ...]:
        """All of them."""
        return (self.whole_loss, self.unrepaired, *self.backoff)

    @property
    def total(self) -> int:
        """Rounds of all, each as long as it can be."""
        return sum(max(d for d, _ in wait) for wait in self.every)

    def longest(self, levels: int = LEVELS) -> int:
        """Return the rounds of the longest at back-off levels up to `levels`."""
        return max(d for wait in self.backoff[:levels] for d, _ in wait)

    def transform(
        self, loss: float, first: int, restart: int, z: float, one: float, tilt: Callable[[Wait], float], levels: int
    ) -> tuple[Ints, Ints, Floats]:
        """Return the part of `Chain.transform` that belongs to the timeouts.

        Parameters
        ----------
        loss : float
            p.
        first, restart : int
            States: the retransmission at level 1, which those of (1, 0), (2, 1), (2, 0), ... follow; after a timeout.
        z, one, tilt
            Factors of a packet, of a round, and of a wait.
        levels : int
            As for `Chain.transform`.
        """
        p, q = loss, 1 - loss
        rows, columns, values = [], [], []
        for e in range(1, LEVELS + 1):
            retransmit, fresh = first + 2 * (e - 1), first + 2 * (e - 1) + 1
            rows.append(np.array([retransmit, fresh]))
            columns.append(np.array([fresh, restart]))
            values.append(np.array([q * z * one, q * z * one]))
            up = min(e + 1, LEVELS)
            if e < levels or e == levels == LEVELS:
                rows.append(np.array([retransmit, fresh]))
                columns.append(np.full(2, first + 2 * (up - 1)))
                values.append(np.full(2, p * tilt(self.backoff[e - 1])))
        return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)

    def rows(self, loss: float, first: int, restart: int) -> list[tuple[int, int, float, int, int, int]]:
        """Return the transitions of the timeouts, for `Transitions.of`; parameters as for `transform`."""
        rows: list[tuple[int, int, float, int, int, int]] = []
        for e in range(1, LEVELS + 1):
            for again, state in ((True, first + 2 * (e - 1)), (False, first + 2 * (e - 1) + 1)):
                rows.append((state, state + 1 if again else restart, 1 - loss, 1, 1, 1))
                up = first + 2 * (min(e + 1, LEVELS) - 1)
                rows += [(state, up, loss * weight, 0, 0, d) for d, weight in self.backoff[e - 1]]
        return rows

    def rounds_at_levels(self, loss: float) -> Floats:
        """Return the mean rounds of the transitions from each state of the timeouts."""
        return np.repeat([loss * mean_wait(d) + (1 - loss) for d in self.backoff], 2)


TIMEOUT_LABELS = [(1, 0, 0, e, r) for e in range(1, LEVELS + 1) for r in (1, 0)]
"""States of the timeouts as in Table VI: (w, c, l, e, r)."""


def tilted_wait(theta: float, packets_due: float) -> Callable[[Wait], float]:
    """Return the factor of a wait in `Chain.transform`: its mean of exp(theta m d)."""
    return lambda waits: sum(weight * math.exp(theta * packets_due * d) for d, weight in waits)
