"""Which loss process a capture shows: is the packet after a first loss lost with it?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics.confidence import wilson
from .intervals import Measured
from .loss_events import Events

#: A likelihood ratio of this much decides: under the other process it comes up in at most 1 of as many captures.
DECISIVE = 20.0
#: A smaller doubt than this is not spelt out to people.
_SURE = 1e-9


@dataclass(frozen=True)
class LossProcess:
    """Independent losses, or the chain's, where a first loss takes the rest of its round with it.

    Attributes
    ----------
    fits : {"independent", "round", "neither", "undecided"}
        The process whose likelihood is at least 20 times the other's; "neither" where the interval of `next_lost` lies
        in the middle half between what the two expect.
    next_lost : Measured or None
        Share of first losses whose next packet, of the same window, was lost too; None if there is none.
    if_independent, if_round : float
        The share that each process expects, 0 to 1.
    log10_ratio : float
        Decimal logarithm of the likelihood of `round` losses over that of independent ones.

    Notes
    -----
    With p the loss-event rate and w packets in flight, the first loss of a round falls on its last packet with
    probability l = p q^(w-1) / (1 - q^w), q = 1 - p (Section 3.2 of the paper). The next packet is then lost with
    probability p, and otherwise surely: 1 - q l in all. Independent losses lose it with probability p. If one process
    is the true one, the likelihood ratio favours the other by a factor of K or more with probability at most 1/K
    (Markov's inequality).
    """

    fits: str
    next_lost: Measured | None
    if_independent: float
    if_round: float
    log10_ratio: float

    @property
    def error(self) -> float:
        """Bound on the probability of a ratio so far from 1 under the process that it speaks against."""
        return float(10.0 ** -min(abs(self.log10_ratio), 300.0))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists; None where nothing was seen."""
        seen = self.next_lost
        return {
            "fits": self.fits,
            "next_lost": seen and seen.value,
            "next_lost_interval": seen and [seen.low, seen.high],
            "next_lost_if_independent": self.if_independent,
            "next_lost_if_round": self.if_round,
            "log10_likelihood_ratio": self.log10_ratio,
            "error": self.error,
        }

    def sentence(self) -> str:
        """Return one line for people."""
        if self.next_lost is None:
            return "undecided: no first loss has a next packet in its window"
        names = {
            "independent": "independent",
            "round": "in rounds, as the chain's",
            "neither": "neither independent nor in rounds",
            "undecided": "undecided",
        }
        doubt = (
            f" (else less likely than {max(self.error, _SURE):.1g})" if self.fits in ("independent", "round") else ""
        )
        return (
            f"{names[self.fits]}{doubt}: after a first loss {self.next_lost.value:.2g} of the next packets are lost; "
            f"expected {self.if_independent:.2g} if independent, {self.if_round:.2g} if in rounds"
        )


def loss_process(events: Events) -> LossProcess:
    """Compare independent with `round` losses by what followed each first loss."""
    p = len(events.episodes) / events.trials
    if not events.neighbours or p == 1:
        return LossProcess("undecided", None, p, 1.0, 0.0)
    window, lost = np.array(events.neighbours, dtype=float).T
    survive = np.log1p(-p)
    log_last = np.log(p) + (window - 1) * survive - np.log(-np.expm1(window * survive))
    in_round = 1 - (1 - p) * np.exp(log_last)
    log_ratios = np.where(lost == 1, np.log(in_round / p), log_last)  # (1 - in_round) / (1 - p) is l
    log10_ratio = float(log_ratios.sum()) / math.log(10)
    hits, trials = int(lost.sum()), len(lost)
    seen = Measured(
        hits / trials,
        *wilson(hits, trials),
        f"{hits} lost of {trials} packets sent next after a first loss, in the same window; Wilson score",
    )
    expected = float(in_round.mean())
    return LossProcess(_decide(seen, p, expected, log10_ratio), seen, p, expected, log10_ratio)


def _decide(seen: Measured, independent: float, in_round: float, log10_ratio: float) -> str:
    quarter = (in_round - independent) / 4
    if independent + quarter < seen.low and seen.high < in_round - quarter:
        return "neither"
    if abs(log10_ratio) < math.log10(DECISIVE):
        return "undecided"
    return "round" if log10_ratio > 0 else "independent"
