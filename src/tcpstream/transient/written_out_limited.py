"""The transient of any live chain, every state written out; slow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..numerics.measure import Measure
from ..tcp.chain import Chain
from .limited import NEGLIGIBLE, Limited, take
from .round_clock import RoundClock

Floats = NDArray[np.float64]


class LimitedWrittenOut(Limited):
    """Evolution of a chain from its transitions alone, by state and packets received; parameters as for `Limited`.

    Parameters
    ----------
    chain : Chain
        What sends.
    """

    def __init__(self, chain: Chain, ceiling: int, steps_per_packet: int = 1, trace: int = 0) -> None:
        super().__init__(ceiling, steps_per_packet, trace)
        self._clock = RoundClock.of(chain)
        self._mass = Measure(ceiling, np.zeros((self._clock.states, 1)))
        self._mass.mass[self._clock.start, 0] = 1.0
        self._delivered = Measure(ceiling, np.ones(1))

    def step(self, ceiling: int, *, final: bool = True) -> None:
        """Make one round; `ceiling` and `final` as for `Limited.step`."""
        now, behind = self._mass, self._behind(ceiling)
        paused = take(now, self.ceiling)
        origin = min(now.origin, behind)
        most = self.steps_per_packet * max(move.received for move in self._clock.moves)
        end = min(now.end + most, ceiling + 1)
        new = Measure(origin, np.zeros((self._clock.states, end - origin)))
        in_order = Measure(origin, np.zeros(end - origin))
        for move in self._clock.moves:
            moved = np.asarray(move.matrix @ now.mass)
            new.add(Measure(now.origin + self.steps_per_packet * move.received, moved), limit=ceiling)
            there = Measure(now.origin + self.steps_per_packet * move.in_order, moved.sum(axis=0))
            in_order.add(there, limit=ceiling)
        if paused is not None:
            new.mass[:, behind - origin] += np.asarray(self._clock.waits @ paused)
            in_order.mass[behind - origin] += paused.sum()
        self._delivered = in_order
        if final:
            done = take(new, ceiling)
            self.account.done += 0.0 if done is None else float(done.sum())
            take(in_order, ceiling)
        kept, dropped = Measure(origin, new.mass.sum(axis=0)).trimmed(NEGLIGIBLE)
        self.account.neglected += dropped
        if kept is None:
            self._mass = Measure(origin, np.zeros((self._clock.states, 1)))
        else:
            used = slice(kept.origin - origin, kept.end - origin)
            self._mass = Measure(kept.origin, np.ascontiguousarray(new.mass[:, used]))
        self.round += 1
        self.ceiling = ceiling
        self.account.close(self.left)

    @property
    def left(self) -> float:
        """Probability that is still followed."""
        return float(self._mass.mass.sum())

    def rest(self) -> int:
        """Return 0: every round is made."""
        return 0

    def distribution(self) -> Measure:
        """Return the measure of the packets delivered in order by now, what is done left out."""
        return self._delivered
