"""Loss processes of the emulated path: each is asked about every data packet, in order, and remembers what it did."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Losses:
    """Independent losses.

    Attributes
    ----------
    p : float
        Loss probability.
    asked, first, lost : int
        Packets, those lost that `p` decided, and all lost.
    """

    p: float
    rng: np.random.Generator
    asked: int = 0
    first: int = 0
    lost: int = 0

    def lose(self, round_number: int) -> bool:  # noqa: ARG002
        """Return whether a data packet of a round is lost."""
        self.asked += 1
        gone = bool(self.rng.random() < self.p)
        self.first += gone
        self.lost += gone
        return gone


@dataclass
class RoundLosses(Losses):
    """The chain's losses: the first of a round, with probability p, takes the rest of the round with it."""

    lost_round: int = field(default=-1)

    def lose(self, round_number: int) -> bool:
        """Return whether a data packet of a round is lost."""
        if round_number == self.lost_round:
            self.lost += 1
            return True
        if super().lose(round_number):
            self.lost_round = round_number
            return True
        return False


@dataclass
class GilbertElliott(Losses):
    """Losses come in bad states, of `length` packets on average, half of which are lost; `p` overall."""

    length: float = 10.0
    bad: bool = False

    def lose(self, round_number: int) -> bool:  # noqa: ARG002
        """Return whether a data packet is lost."""
        self.asked += 1
        share = 2 * self.p  # of packets in the bad state
        to_good = 1 / self.length
        change = to_good if self.bad else to_good * share / (1 - share)
        if self.rng.random() < change:
            self.bad = not self.bad
        gone = bool(self.bad and self.rng.random() < 0.5)
        self.lost += gone
        return gone


PROCESSES = {"bernoulli": Losses, "round": RoundLosses, "gilbert-elliott": GilbertElliott}
