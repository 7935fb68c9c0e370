"""The first slow start of a source that always has something to send: until its first loss it is in one place.

What loses there enters the transient from outside: short rounds by position, and states after fast retransmits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..numerics.measure import Law
from ..tcp.reno import DUPLICATE_ACKS, RenoSource


@dataclass
class Opening:
    """The first slow start, one round at a time.

    Parameters
    ----------
    source : RenoSource
        Without states of a first slow start it is over from the beginning.

    Attributes
    ----------
    state : int
    delivered : int
        Packets.
    chance : float
        Probability that it still goes on.
    """

    source: RenoSource
    state: int = field(default=0, init=False)
    delivered: int = field(default=0, init=False)
    chance: float = field(init=False)
    _recovering: list[tuple[int, Law]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.chance = 1.0 if self.source.opening else 0.0

    @property
    def law(self) -> list[Law]:
        """Where it is, with its probability; nothing when it is over."""
        return [Law(self.delivered, np.array([self.chance]))] if self.chance > 0 else []

    def step(self, floor: int) -> tuple[list[tuple[int, Law]], list[Law], list[Law], float]:
        """Make one round.

        Parameters
        ----------
        floor : int
            What lies below it at the end of the round is removed.

        Returns
        -------
        entered : list of (int, Law)
            States of the source that are entered at the end of the round.
        short, few : list of Law
            Short rounds that begin then, and where those without fast retransmit will end; nothing when it is over.
        removed : float
            Of short rounds, and of the slow start itself.
        """
        source, n, s = self.source, self.delivered, self.state
        p, q = source.loss, 1 - source.loss
        entered, self._recovering = self._recovering, []
        if self.chance == 0.0:
            return entered, [], [], 0.0
        short, few = (Law(n, np.zeros(2 * source.max_window)) for _ in range(2))
        removed = 0.0
        _, *losses = (one[source.opening_losses.state == s] for one in source.opening_losses)
        for j, sent, window in zip(*(one.tolist() for one in losses)):
            chance = self.chance * p * q**j
            if n + j < floor:
                removed += chance
                continue
            short.mass[j] += chance
            law = p * q ** np.arange(sent + 1)
            law[sent] = q**sent
            fewer = law[:DUPLICATE_ACKS]
            few.mass[j : j + len(fewer)] += chance * fewer
            if sent >= DUPLICATE_ACKS:
                fast = Law(n + j + DUPLICATE_ACKS, chance * law[DUPLICATE_ACKS:])
                self._recovering.append((int(source.recover_to[window]), fast))
        w = int(source.windows[s])
        self.chance *= q**w
        self.delivered += w
        self.state = s + 1
        if self.state == source.opening:
            ((target, _),) = source.growth.of(s)
            entered += [(target, law) for law in self.law]
            self.chance = 0.0
        if self.delivered < floor:
            removed += self.chance
            self.chance = 0.0
        return entered, [short], [few], removed
