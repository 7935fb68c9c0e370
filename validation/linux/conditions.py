"""What is run: paths, losses, senders, sources."""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict, dataclass
from typing import Any

EVENTS = 2000
"""Loss events of a run: the standard error of T of `SEEDS` together is then about 1.5%."""

LONGEST = 1800.0
"""Conditions that would need longer [s] are left out."""

WARMUP = 20.0
"""Not counted at the start of a backlogged or live run [s]."""


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
"""T / mu of the videos, about, for the T of `NEAR`."""

NEAR = {
    "round": {
        (0.01, 0.1): 93.03, (0.01, 0.3): 31.95, (0.02, 0.1): 57.22, (0.02, 0.3): 20.23, (0.04, 0.1): 33.4,
        (0.04, 0.3): 12.38,
    },
    "bernoulli": {
        (0.01, 0.1): 121.65, (0.01, 0.3): 40.65, (0.02, 0.1): 82.03, (0.02, 0.3): 27.47, (0.04, 0.1): 53.0,
        (0.04, 0.3): 17.96,
    },
}  # fmt: skip
"""T that a chain without slow start gave by p and R, when the runs were planned [packets/s]."""

CLIPS = {
    ("round", "reno"): {
        (0.01, 0.1): 68.9, (0.01, 0.3): 23.7, (0.02, 0.1): 42.4, (0.02, 0.3): 15.0, (0.04, 0.1): 24.8, (0.04, 0.3): 9.17
    },
    ("bernoulli", "reno"): {
        (0.01, 0.1): 90.3, (0.01, 0.3): 30.1, (0.02, 0.1): 61.2, (0.02, 0.3): 20.5, (0.04, 0.1): 39.8, (0.04, 0.3): 13.5
    },
    ("bernoulli", "cubic"): {
        (0.01, 0.1): 83.9, (0.01, 0.3): 38.8, (0.02, 0.1): 55.2, (0.02, 0.3): 23.0, (0.04, 0.1): 35.1, (0.04, 0.3): 13.6
    },
}  # fmt: skip
"""Packet rates of the short stored videos by sender, p and R: T / 1.35 of each one's chain [packets/s]."""

VIDEO_SENDERS = SENDERS[:3]

VIDEO = 60.0
"""Length of the stored videos [s]."""

SEEDS = (1, 2, 3)
"""Runs of each file that a chain is made for; those that differ in nothing else are put together."""

VIDEO_SEEDS = (1, 2)
"""Runs of each stored video of that length."""

CLIP = 20.0
"""Length of short stored videos [s], of which more are fetched, and more is late."""

CLIP_SEEDS = {"round": SEEDS, "bernoulli": tuple(range(1, 9))}
"""Runs of each: with independent losses few videos are late."""

SECTION_5 = {
    "round": {
        (0.12, 25.0): 0.038, (0.12, 40.0): 0.02, (0.12, 50.0): 0.015, (0.25, 25.0): 0.015, (0.25, 40.0): 0.007,
        (0.25, 50.0): 0.0049, (0.35, 25.0): 0.0087, (0.35, 40.0): 0.004, (0.35, 50.0): 0.0028,
    },
    "bernoulli": {
        (0.12, 25.0): 0.068, (0.12, 40.0): 0.036, (0.12, 50.0): 0.025, (0.25, 25.0): 0.023, (0.25, 40.0): 0.01,
        (0.25, 50.0): 0.0068, (0.35, 25.0): 0.013, (0.35, 40.0): 0.0055, (0.35, 50.0): 0.0036,
    },
}  # fmt: skip
"""p of the live videos of Section 5 by R and packet rate: a chain has T / mu of 1.2 there."""

PIECES = {"round": 0.03, "bernoulli": 0.051}
"""p of its stored videos of 14 packets/s, R = 0.3 s: T / mu of 1.09."""

LIVE = 2700.0
STORED = 2700.0
STORED_CLIPS = 1800.0
"""Lengths of the runs with videos [s]."""

DISTURBED = 0.2
"""A run of which a larger share had to be left out, in and after stalls of the machine, is rejected."""

LATE = 0.02
"""So is one whose packets were later on average [round trips], but for runs of many short connections."""


def disturbed(record: dict[str, Any]) -> bool:
    """Return whether a busy machine disturbed a run, whatever it measured; of pieces each stands for itself."""
    condition = Condition(**record["condition"])
    if condition.piece:
        return False
    late = not condition.video and record["mean_lateness"] > LATE * condition.rtt
    return bool(record["left_out"] > DISTURBED or late)


def files() -> list[Condition]:
    """Return the runs that measure T, those that are not too slow; and the paths of the videos in any case."""
    found = []
    for (losses, tcp, sack), p, rtt in itertools.product(SENDERS, LOSSES, ROUND_TRIPS):
        events_per_second = p * 1.25 / (rtt * math.sqrt(p))  # the square root law
        seconds = WARMUP + max(120.0, math.ceil(EVENTS / events_per_second))
        if seconds <= LONGEST:
            seeds = SEEDS if (losses, tcp, sack) in VIDEO_SENDERS else SEEDS[:1]
            found += [Condition(losses, p, rtt, tcp, sack, seconds=seconds, seed=s) for s in seeds]
    known = {(one.losses, one.p, one.rtt, one.tcp, one.sack) for one in found}
    slow = [
        Condition(losses, p, rtt, tcp, sack, seconds=LONGEST, seed=s)
        for losses, tcp, sack in VIDEO_SENDERS
        for p, rtt in NEAR[losses]
        for s in SEEDS
        if (losses, p, rtt, tcp, sack) not in known
    ]
    return found + slow


def videos() -> list[Condition]:
    """Return the runs that measure late fractions, live and stored."""
    found = []
    for losses, tcp, sack in VIDEO_SENDERS:
        for (p, rtt), T in NEAR[losses].items():
            rates = [float(f"{T / ratio:.3g}") for ratio in RATIOS]
            path = (losses, p, rtt, tcp, sack)
            found += [Condition(*path, rates[0], VIDEO, seconds=STORED, seed=s) for s in VIDEO_SEEDS]
            found += [Condition(*path, rate, seconds=LIVE) for rate in rates]
    return found


def clips() -> list[Condition]:
    """Return the runs with short stored videos."""
    return [
        Condition(losses, p, rtt, tcp, sack, rate, CLIP, seconds=STORED_CLIPS, seed=s)
        for losses, tcp, sack in VIDEO_SENDERS
        for (p, rtt), rate in CLIPS[losses, tcp].items()
        for s in CLIP_SEEDS[losses]
    ]


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
    found = []
    for losses, tcp, sack in VIDEO_SENDERS:
        for (rtt, rate), p in SECTION_5[losses].items():
            found.append(Condition(losses, p, rtt, tcp, sack, rate, seconds=1000.0))
        p = PIECES[losses]
        found += [Condition(losses, p, 0.3, tcp, sack, 14.0, seconds=2000.0, piece=100.0, seed=s) for s in range(1, 9)]
    return found


def everything() -> list[Condition]:
    """Return all runs, in the order in which they are made."""
    return [*videos(), *clips(), *section_5(), *files(), *others()]
