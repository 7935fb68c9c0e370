"""How long a chain is silent: retransmission timers, and what RACK-TLP does instead of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..path import Path

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
