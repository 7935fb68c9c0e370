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
"""Not counted at the start of a backlogged or live run [s]."""

LEAST_TIMER = 0.2
"""The kernel's retransmission timer is about the round trip time and this [s]."""


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
        Of a video [packets/s]; 0 for a file. Slower stored videos are judged from the same arrivals, by `RATIOS`.
    video : float
        Length of a stored video [s], fetched again and again, each time over a new connection; 0 for a live one.
    rate, queue : float, int
        Of the path [Mbit/s; packets]; 0 for no limit.
    seconds : float
        Length of the run [s].
    piece : float
        One connection, of which each piece of so long [s] is a stored video (Section 5.2); 0 for none.
    seed : int
    """

    losses: str
    p: float
    rtt: float
    tcp: str = "reno"
    sack: bool = True
    packet_rate: float = 0.0
    video: float = 0.0
    rate: float = 0.0
    queue: int = 0
    seconds: float = LONGEST
    piece: float = 0.0
    seed: int = 1

    @property
    def name(self) -> str:
        """What tells a run from others."""
        return " ".join(str(value) for value in asdict(self).values())

    @property
    def kind(self) -> str:
        """What is sent: "file", "live", "stored" or "pieces" (Section 5.2)."""
        if self.packet_rate == 0:
            return "file"
        if self.piece:
            return "pieces"
        return "stored" if self.video else "live"

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

RATIOS = (1.3, 1.6, 2.0)
"""T / mu of the videos, about: T is here the chain's."""

VIDEO_LOSSES = (0.01, 0.02, 0.04)
VIDEO_ROUND_TRIPS = (0.1, 0.3)
VIDEO_SENDERS = SENDERS[:3]

VIDEO = 60.0
"""Length of the stored videos [s]."""

LIVE_LOAD, STORED_LOAD = 1.2, 1.09
"""T / mu in Section 5: of the live videos, about, and of the stored ones."""

LIVE = 2700.0
STORED = 2700.0
"""Lengths of the runs with videos [s]."""

DISTURBED = 0.2
"""A run of which a larger share had to be left out, in and after stalls of the machine, is rejected."""


def disturbed(record: dict[str, Any]) -> bool:
    """Return whether a busy machine disturbed a run, whatever it measured; of pieces each stands for itself."""
    return bool(record["left_out"] > DISTURBED and not record["condition"]["piece"])


def files() -> list[Condition]:
    """Return the runs that measure T, those that are not too slow; and the paths of the videos in any case."""
    found = []
    for (losses, tcp, sack), p, rtt in itertools.product(SENDERS, LOSSES, ROUND_TRIPS):
        events_per_second = p * 1.25 / (rtt * math.sqrt(p))  # the square root law
        seconds = WARMUP + max(120.0, math.ceil(EVENTS / events_per_second))
        if seconds <= LONGEST:
            found.append(Condition(losses, p, rtt, tcp, sack, seconds=seconds))
    known = {(one.losses, one.p, one.rtt, one.tcp, one.sack) for one in found}
    slow = [
        Condition(losses, p, rtt, tcp, sack, seconds=LONGEST)
        for (losses, tcp, sack), p, rtt in itertools.product(VIDEO_SENDERS, VIDEO_LOSSES, VIDEO_ROUND_TRIPS)
        if (losses, p, rtt, tcp, sack) not in known
    ]
    return found + slow


def videos() -> list[Condition]:
    """Return the runs that measure late fractions, live and stored."""
    from tcpstream import Path, throughput  # a run needs none of it

    found = []
    for (losses, tcp, sack), p, rtt in itertools.product(VIDEO_SENDERS, VIDEO_LOSSES, VIDEO_ROUND_TRIPS):
        chain = "reno" if losses == "round" else "reno-sack"
        T = throughput(Path(loss=p, rtt=rtt, rto=rtt + LEAST_TIMER, tcp=chain))
        rates = [float(f"{T / ratio:.3g}") for ratio in RATIOS]
        found.append(Condition(losses, p, rtt, tcp, sack, rates[0], VIDEO, seconds=STORED))
        found.extend(Condition(losses, p, rtt, tcp, sack, rate, seconds=LIVE) for rate in rates)
    return found


def others() -> list[Condition]:
    """Return paths that no chain is made for: losses in long bursts, and a bottleneck that fills its queue."""
    bursts = [
        Condition("gilbert-elliott", p, rtt, tcp)
        for p, rtt, tcp in itertools.product((0.004, 0.02), (0.05, 0.1), ("reno", "cubic"))
    ]
    bottleneck = [
        Condition("bernoulli", p, 0.05, tcp, rate=8.0, queue=queue, seconds=900.0)
        for p, tcp, queue in itertools.product((0.0, 0.01), ("reno", "cubic", "bbr"), (15, 60))
    ]
    return bursts + bottleneck


def section_5() -> list[Condition]:
    """Return the runs in place of the paper's Internet experiments: its rates, round trips, lengths and load."""
    from scipy.optimize import brentq

    from tcpstream import Path, throughput

    def loss(chain: str, rtt: float, T: float) -> float:
        """Return the p at which a chain has T, to two digits."""
        path: dict[str, Any] = {"rtt": rtt, "rto": rtt + LEAST_TIMER, "tcp": chain}
        return float(f"{brentq(lambda p: throughput(Path(loss=p, **path)) - T, 5e-4, 0.2, rtol=1e-3):.2g}")

    found = []
    for (losses, tcp, sack), rtt, rate in itertools.product(VIDEO_SENDERS, (0.12, 0.25, 0.35), (25.0, 40.0, 50.0)):
        p = loss("reno" if losses == "round" else "reno-sack", rtt, LIVE_LOAD * rate)
        found.append(Condition(losses, p, rtt, tcp, sack, rate, seconds=1000.0))
    for losses, tcp, sack in VIDEO_SENDERS:
        p = loss("reno" if losses == "round" else "reno-sack", 0.3, STORED_LOAD * 14)
        found += [Condition(losses, p, 0.3, tcp, sack, 14.0, seconds=2000.0, piece=100.0, seed=s) for s in range(1, 9)]
    return found


def everything() -> list[Condition]:
    """Return all runs, in the order in which they are made."""
    return [*videos(), *section_5(), *files(), *others()]
