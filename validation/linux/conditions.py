"""What is run: paths, losses, senders, sources."""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict, dataclass
from typing import Any

EVENTS = 2000
"""Loss events of a run: the standard error of T is then about 1.5%."""

LONGEST = 1800.0
"""Conditions that would need longer [s] are left out."""

WARMUP = 20.0
"""Not counted at the start [s]."""


@dataclass(frozen=True)
class Condition:
    """A run.

    Attributes
    ----------
    losses : {"bernoulli", "round", "gilbert-elliott"}
    p : float
        Loss probability that the process is asked for.
    rtt : float
        Round trip propagation delay [s].
    tcp : {"reno", "cubic", "bbr"}
    sack : bool
    packet_rate : float
        Of a live stream [packets/s]; 0 for a backlogged sender.
    seed : int
    """

    losses: str
    p: float
    rtt: float
    tcp: str = "reno"
    sack: bool = True
    packet_rate: float = 0.0
    seed: int = 1

    @property
    def name(self) -> str:
        """What tells a run from others."""
        return " ".join(str(value) for value in asdict(self).values())

    @property
    def expected(self) -> float:
        """Throughput, roughly [packets/s]: the square root law."""
        return 1.25 / (self.rtt * math.sqrt(self.p))

    @property
    def seconds(self) -> float:
        """Length of the run [s]."""
        rate = self.packet_rate or self.expected
        return WARMUP + max(120.0, math.ceil(EVENTS / (self.p * rate)))

    def to_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return asdict(self)


LOSSES = (0.001, 0.002, 0.004, 0.01, 0.02, 0.04)
ROUND_TRIPS = (0.02, 0.05, 0.1, 0.2, 0.3)
SENDERS = (
    ("round", "reno", True),
    ("bernoulli", "reno", True),
    ("bernoulli", "cubic", True),
    ("round", "cubic", True),
    ("round", "reno", False),
    ("bernoulli", "reno", False),
)


DISTURBED = 0.2
"""A run of which a larger share had to be left out, in and after stalls of the machine, is rejected."""


def disturbed(record: dict[str, Any]) -> bool:
    """Return whether a busy machine disturbed a run, whatever it measured."""
    return bool(record["left_out"] > DISTURBED)


def backlogged() -> list[Condition]:
    """Return the runs that measure T, those that are not too slow."""
    found = [
        Condition(losses, p, rtt, tcp, sack)
        for (losses, tcp, sack), p, rtt in itertools.product(SENDERS, LOSSES, ROUND_TRIPS)
    ]
    return [one for one in found if one.seconds <= LONGEST]
