"""The first slow start of a chain that always has something to send: until its first loss it is in one place.

What loses there enters the transient from outside: short rounds by position, and states after fast retransmits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..numerics.measure import Measure
from ..tcp.burst import DUPLICATE_ACKS, BurstChain


@dataclass
class FirstSlowStart:
    """The first slow start, one round at a time.

    Parameters
    ----------
    chain : BurstChain
        Without states of a first slow start it is over from the beginning.

    Attributes
    ----------
    state : int
    delivered : int
        Packets.
    chance : float
        Probability that it still goes on.
    """

    chain: BurstChain
    state: int = field(default=0, init=False)
    delivered: int = field(default=0, init=False)
    chance: float = field(init=False)
    _recovering: list[tuple[int, Measure]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.chance = 1.0 if self.chain.n_initial_slow_start else 0.0

    @property
    def measure(self) -> list[Measure]:
        """Where it is, with its probability; nothing when it is over."""
        return [Measure(self.delivered, np.array([self.chance]))] if self.chance > 0 else []

    def step(self, floor: int) -> tuple[list[tuple[int, Measure]], list[Measure], list[Measure], float]:
        """Make one round.

        Parameters
        ----------
        floor : int
            What lies below it at the end of the round is removed.

        Returns
        -------
        entered : list of (int, Measure)
            States of the chain that are entered at the end of the round.
        short, few : list of Measure
            Short rounds that begin then, and where those without fast retransmit will end; nothing when it is over.
        removed : float
            Of short rounds, and of the slow start itself.
        """
        chain, n, s = self.chain, self.delivered, self.state
        p, q = chain.loss, 1 - chain.loss
        entered, self._recovering = self._recovering, []
        if self.chance == 0.0:
            return entered, [], [], 0.0
        short, few = (Measure(n, np.zeros(2 * chain.graph.max_window)) for _ in range(2))
        removed = 0.0
        _, *losses = (one[chain.first_slow_start_losses.state == s] for one in chain.first_slow_start_losses)
        for j, sent, window in zip(*(one.tolist() for one in losses)):
            chance = self.chance * p * q**j
            if n + j < floor:
                removed += chance
                continue
            short.mass[j] += chance
            measure = p * q ** np.arange(sent + 1)
            measure[sent] = q**sent
            fewer = measure[:DUPLICATE_ACKS]
            few.mass[j : j + len(fewer)] += chance * fewer
            if sent >= DUPLICATE_ACKS:
                fast = Measure(n + j + DUPLICATE_ACKS, chance * measure[DUPLICATE_ACKS:])
                self._recovering.append((int(chain.recover_to[window]), fast))
        w = int(chain.graph.windows[s])
        self.chance *= q**w
        self.delivered += w
        self.state = s + 1
        if self.state == chain.n_initial_slow_start:
            ((target, _),) = chain.graph.growth.of(s)
            entered += [(target, measure) for measure in self.measure]
            self.chance = 0.0
        if self.delivered < floor:
            removed += self.chance
            self.chance = 0.0
        return entered, [short], [few], removed
