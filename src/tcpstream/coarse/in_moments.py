"""A chain in moments: its outcomes, and what they come to in the long run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.propagate import visited
from ..tcp.chain import Chain
from .outcomes import Outcomes, outcomes
from .outlook import outlook, stationary

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EARLY = 400
"""Transitions from the start in which states are visited that may be rare in the long run."""

KEPT = 4
"""Chains that are kept for the next question."""


@dataclass(frozen=True)
class InMoments:
    """Outcomes of a chain, and what follows from them; each is computed when it is asked for.

    Attributes
    ----------
    chain : Chain
    outcomes : Outcomes
    """

    chain: Chain
    outcomes: Outcomes

    @cached_property
    def most(self) -> Floats:
        """The largest probability of each state at any of the first transitions."""
        known = self.outcomes
        return visited(known.starts, known.to, known.chance, self.chain.first_state, EARLY)

    @property
    def rates(self) -> tuple[float, float]:
        """Mean and variance of the packets delivered per round, in the long run."""
        return self._long_run.mean, self._long_run.variance

    @property
    def outlook(self) -> Floats:
        """Packets that each state adds to those delivered later, over the mean in the same time."""
        return self._long_run.outlook

    @cached_property
    def _long_run(self) -> LongRun:
        known = self.outcomes
        source = np.repeat(np.arange(known.n_states), np.diff(known.starts))
        return long_run(
            source, known.to, known.chance, known.mean, known.variance, known.rounds.astype(np.float64), known.n_states
        )


def throughput(source: Ints, target: Ints, weight: Floats, mean: Floats, elapsed: Floats, n: int) -> float:
    """Return the packets per round that moves between n places deliver, in the long run."""
    flow = stationary(source, target, weight, n)[source] * weight
    return float((flow @ mean) / (flow @ elapsed))


class LongRun(NamedTuple):
    """What moves between n places deliver in the long run.

    Attributes
    ----------
    mean, variance : float
        Per round.
    outlook : (n,) array
        What each place adds to the packets delivered later, over the mean in the same time: the solution of Poisson's
        equation.
    """

    mean: float
    variance: float
    outlook: Floats


def long_run(
    source: Ints, target: Ints, weight: Floats, mean: Floats, variance: Floats, elapsed: Floats, n: int
) -> LongRun:
    """Return what moves between n places deliver in the long run.

    The variance is that of martingale differences: with h the outlook, of x - T t + h(next).
    """
    visits = stationary(source, target, weight, n)
    flow = visits[source] * weight
    time = float(flow @ elapsed)
    per_round = float(flow @ mean) / time
    rest = mean - per_round * elapsed
    change, clock = (np.bincount(source, weight * one, n).astype(np.float64) for one in (rest, elapsed))
    later = outlook(source, target, weight, change, visits, clock)
    ahead = rest + later[target] - later[source]
    return LongRun(per_round, float(flow @ (variance + ahead**2)) / time, later)


def in_moments(chain: Chain) -> InMoments:
    """Return a chain in moments; the last few are kept."""
    return _made(_Same(chain))


class _Same:
    """A chain that equals itself only."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.chain is other.chain

    def __hash__(self) -> int:
        return id(self.chain)


@lru_cache(KEPT)
def _made(same: _Same) -> InMoments:
    return InMoments(same.chain, outcomes(same.chain))
