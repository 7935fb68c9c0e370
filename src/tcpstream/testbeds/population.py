"""Clips and paths as Chung, Claypool and Zhu found them on the Internet, drawn at random."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..sim import Clip

HIGH = (225e3, 350e3, 450e3)
LADDER = (20e3, 34e3, 45e3, 80e3, 150e3, *HIGH)

KINDS: tuple[tuple[float, tuple[tuple[float, ...], ...]], ...] = (
    (0.18, ((20e3,), (34e3,))),
    (0.06, ((45e3,),)),
    (0.11, tuple((rate,) for rate in HIGH)),
    (0.09, ((20e3, 36e3),)),
    (0.05, ((20e3, 34e3, 45e3),)),
    (0.06, ((20e3, 34e3, 45e3, 80e3),)),
    (0.03, ((45e3, 80e3, 150e3, 225e3),)),
    (0.42, (LADDER[:6], LADDER[:7], LADDER, LADDER[1:7], LADDER[1:], (20e3, 45e3, 80e3, 150e3, 225e3))),
)
"""How often, and the levels [bit/s], one kind as often as another.

Read off the paper: a single level in 35% (Figure 8), which is above 150 kbit/s in 40% of these (Section 5.3; here 31%,
since only 11% of all are so in Table 1); more than four levels in less than 50%; all levels above 37.5, 75 and 150
kbit/s in 20%, 11% and 11%, and all below in 27%, 38% and 44% (Table 1). The rates themselves are those that
RealProducer offered, and 36 kbit/s, since clips with several levels all had one above 35 (Section 3.3).
"""

MEDIAN, SHORTEST, LONGEST, SPREAD = 180.0, 20.0, 1800.0, 1.0
"""Lengths [s] (Section 3.1); lognormal, with a standard deviation of the logarithm, is assumed."""

RTT_SPREAD, LEAST_RTT = 0.5, 0.01
"""Round trip times are lognormal (assumed), with this standard deviation of the logarithm, and at least so long [s]."""


LOSSLESS, MOST_LOSS = 0.5, 0.3
"""Half of the clips saw no loss at the higher rates (Section 4); the others' losses are exponential, up to the second
number (assumed)."""


class Draw(NamedTuple):
    """A clip, and the way to its server.

    Attributes
    ----------
    clip : Clip
    rtt : float
        Of empty queues [s].
    loss : float
        Before the bottleneck.
    steps : bool
        Whether its server, over TCP, goes down level by level.
    """

    clip: Clip
    rtt: float
    loss: float
    steps: bool


def draw(rng: np.random.Generator, rtt_median: float, loss_mean: float, steps: float) -> Draw:
    """Return a clip and its way.

    Parameters
    ----------
    rng : numpy.random.Generator
        It draws as many numbers whatever the other parameters are.
    rtt_median : float
        [s].
    loss_mean : float
        Of the ways that lose packets; see `LOSSLESS`.
    steps : float
        Share of servers that go down level by level.
    """
    clip = draw_clip(rng)
    rtt = max(LEAST_RTT, rtt_median * float(np.exp(RTT_SPREAD * rng.standard_normal())))
    lossy, loss = rng.random() >= LOSSLESS, min(loss_mean * float(rng.exponential()), MOST_LOSS)
    return Draw(clip, rtt, loss if lossy else 0.0, rng.random() < steps)


def draw_clip(rng: np.random.Generator) -> Clip:
    """Return a clip."""
    kinds = KINDS[rng.choice(len(KINDS), p=[share for share, _ in KINDS])][1]
    rates = kinds[rng.integers(len(kinds))]
    while True:
        length = MEDIAN * float(np.exp(SPREAD * rng.standard_normal()))
        if SHORTEST <= length <= LONGEST:
            return Clip(round(length, 1), rates)
