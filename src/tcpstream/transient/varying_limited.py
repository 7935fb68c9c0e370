"""The transient of a live path that varies: one of each regime, side by side, between which its mass changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.carried_rows import carry
from ..numerics.measure import Measure
from ..tcp.silences import LEVELS
from ..tcp.varying_chain import VaryingChain
from .account import Account
from .independent_limited import LimitedIndependent
from .limited import Limited

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class LimitedVarying(Limited):
    """Evolution of a chain of regimes, one round at a time, in packets received.

    A regime changes in rounds in which nothing can be sent, too. `distribution` says what is in order. Parameters as
    for `Limited`.

    Parameters
    ----------
    chain : VaryingChain
        What sends.
    """

    def __init__(self, chain: VaryingChain, ceiling: int, steps_per_packet: int = 1, trace: int = 0) -> None:
        super().__init__(ceiling, steps_per_packet, trace)
        self._chain, together = chain, _Together()
        self._parts = [_Part(part, ceiling, steps_per_packet, trace) for part in chain.parts]
        for i, (part, begin) in enumerate(zip(self._parts, chain.begins.tolist())):
            part.account = together
            part.starts_with(begin)
            part.beside = i, self._parts, chain
        self._together = together

    def step(self, ceiling: int, *, final: bool = True) -> None:
        """Make one round; `ceiling` and `final` as for `Limited.step`."""
        for part in self._parts:
            part.step(ceiling, final=final)
        once, parts = self._chain.switching.after(1), self._parts
        low = min(part.span[0] for part in parts)
        end = max(part.span[1] for part in parts)
        states = [part.states for part in parts]
        new = [np.zeros((n, end - low)) for n in states]
        reached = [np.zeros((2, n), dtype=np.int64) for n in states]
        timeouts = np.zeros((len(parts), 2, LEVELS, end - low))
        for i, (part, row) in enumerate(zip(parts, self._chain.maps)):
            x, t = part.mass
            x_span = np.zeros(len(x.mass), dtype=np.int64), np.full(len(x.mass), x.mass.shape[1])
            for j, (to, n) in enumerate(zip(row, states)):
                into = np.minimum(to[: len(x.mass)], n - 1)
                carry(x.mass, *x_span, into, once[i, j], x.origin - low, new[j], *reached[j])
                timeouts[j][..., t.origin - low : t.end - low] += once[i, j] * t.mass
        for part, rows, levels in zip(parts, new, timeouts):
            part.put(Measure(low, rows), Measure(low, levels))
        self.round += 1
        self.ceiling = ceiling
        self.account.done, self.account.neglected = self._together.done, self._together.neglected
        self.account.close(self.left)

    @property
    def left(self) -> float:
        """Probability that is still followed."""
        return float(sum(part.left for part in self._parts))

    def rest(self) -> int:
        """Skip the rounds in which all that is left waits, and return how many; for a ceiling that stays."""
        rounds = min(part.could_rest() for part in self._parts)
        for part in self._parts:
            part.round += rounds
        self.round += rounds
        return rounds

    def distribution(self) -> Measure:
        """Return the measure of the packets delivered in order by now, what is done left out."""
        every = [part.distribution() for part in self._parts]
        origin = min(one.origin for one in every)
        total = Measure(origin, np.zeros(max(one.end for one in every) - origin))
        for one in every:
            total.add(one)
        return total


class _Together(Account):
    """The account of all regimes, which is closed by what follows them all."""

    def close(self, followed: float) -> None:
        """Compare nothing: a regime alone has less than 1."""


class _Part(LimitedIndependent):
    """A regime: what begins to wait in it ends to do so in another one."""

    beside: tuple[int, list[_Part], VaryingChain]

    @property
    def states(self) -> int:
        """Rows of mass by state."""
        return len(self._x.mass)

    @property
    def mass(self) -> tuple[Measure, Measure]:
        """What sends a window, by state, and what retransmits, by level."""
        return self._x, self._timeouts

    @property
    def span(self) -> tuple[int, int]:
        """Positions of `mass`."""
        both = self.mass
        return min(one.origin for one in both), max(one.end for one in both)

    def starts_with(self, chance: float) -> None:
        """Begin with a probability."""
        self._x.mass *= chance

    def put(self, x: Measure, timeouts: Measure) -> None:
        """Replace `mass`."""
        self._x, self._timeouts = x, timeouts

    def could_rest(self) -> int:
        """Return how many rounds `rest` would skip if the other regimes did."""
        before = self.round
        rounds = self.rest()
        self.round = before
        if rounds == 0 and not self._pending and self.left == 0.0 and not self._sending.mass.any():
            return 1 << 40
        return rounds

    def _enter(self, rounds: int, level: int, weight: float, waiting: Measure) -> None:
        """Let a measure wait; in which regime it will be then is drawn now."""
        i, parts, chain = self.beside
        for other, chance in zip(parts, chain.switching.after(rounds - 1)[i].tolist()):
            other._waiting = other._waiting.covering(waiting.origin, waiting.end)
            other._retransmit_at(self.round + rounds, level, weight * chance, waiting)
