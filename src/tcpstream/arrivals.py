"""The law of the packets delivered by each round, from one transient pass: all that stored media needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .coarse import Coarse, follow
from .errors import AccuracyError
from .kernels.shortfall import missing, tabulate
from .saturated import Saturated
from .tcp.reno import RenoSource

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Number = TypeVar("Number", np.float64, np.int64)

ROW_NEGLIGIBLE = 1e-18
"""Probability left out at the low end of each row."""

RISK = 1e-17
"""Probability that what is followed no longer is late after all."""

MEMORY_LIMIT = 4 * 2**30
"""Bytes that the rows may take."""


@dataclass
class Arrivals:
    """For each round i the function y -> E[(y - A_i)+], kept as its values at whole y (or whole quanta).

    Late packets of a round are a difference of it, and P(A_i < b) its slope: every startup delay, playback rate and
    round trip time is served by the same rows. Rows are made when first asked for.

    Parameters
    ----------
    source : RenoSource
        What sends.
    packets : int
        Packets of the longest video: what is delivered beyond is never late.
    due : callable
        Given n, the most packets that can ever be due by the end of rounds 1 .. n, (n,) array: rows end there.
    packets_due, lead : float
        m, the most packets ever due per round, and the lead over them from which nothing is late again, but with a
        probability of 1e-17: what has it is followed no longer. By default everything is followed.
    quantum : int
        Packets per step of the lattice that the transient is made on.
    """

    source: RenoSource
    packets: int
    due: Callable[[int], Floats]
    packets_due: float = 0.0
    lead: float = math.inf
    quantum: int = 1
    transient: Saturated | Coarse = field(init=False)
    _table: Floats = field(default_factory=lambda: np.empty(1 << 20), init=False)
    _origins: Ints = field(default_factory=lambda: np.empty(1 << 8, dtype=np.int64), init=False)
    _starts: Ints = field(default_factory=lambda: np.zeros(1 << 8, dtype=np.int64), init=False)
    rounds: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.transient = follow(self.source, self.packets, self.quantum)

    def safe(self, round_number: int) -> float:
        """Return the position above which nothing is late any more after a round."""
        return self.packets_due * round_number + self.lead

    @property
    def error_bound(self) -> float:
        """Probability that is unaccounted for: dropped at the ends of windows and rows, and rounding."""
        risk = RISK if self.lead < math.inf else 0.0
        return self.transient.unaccounted + ROW_NEGLIGIBLE * self.rounds + risk

    def extend(self, rounds: int) -> None:
        """Make the rows of rounds 1 .. `rounds`."""
        if self.rounds >= rounds or self.transient.exhausted:
            return
        tops = np.ceil(self.due(rounds) / self.quantum).astype(np.int64)
        while self.rounds < rounds and not self.transient.exhausted:
            self.transient.step(safe=self.safe(self.rounds + 1))
            law = self.transient.law()
            i, start = self.rounds, int(self._starts[self.rounds])
            end = start + len(law.mass) + 2
            if 8 * end > MEMORY_LIMIT:
                raise AccuracyError(
                    f"the law of the arrivals takes more than {MEMORY_LIMIT / 2**30:.0f} GiB "
                    f"after {i} of {rounds} rounds: take a shorter video or a smaller max_window"
                )
            if end > len(self._table):
                self._table = _longer(self._table, end)
            if i + 2 > len(self._starts):
                self._starts, self._origins = _longer(self._starts, i + 2), _longer(self._origins, i + 2)
            first, size = tabulate(law.mass, ROW_NEGLIGIBLE, int(tops[i]) - law.origin, self._table[start:end])
            self._origins[i] = law.origin + first
            self._starts[i + 1] = start + size
            self.rounds += 1

    def missing(self, begin: Floats, end: Floats) -> Floats:
        """Return what of packets ``begin[i - 1]`` .. ``end[i - 1]`` is missing on average after rounds i = 1, 2, ...

        0 where nothing is left to follow.
        """
        result = np.zeros(len(end))
        n = min(len(end), self.rounds)
        missing(self._table, self._origins, self._starts, self.quantum, begin[:n], end[:n], result)
        return result

    def late(self, needed: Floats) -> Floats:
        """Return P(A_i < b) for whole b = ``needed[i - 1]`` in rounds i = 1, 2, ..."""
        Q = self.quantum
        begin = needed - 1 if Q == 1 else np.maximum(needed - (Q + 1) / 2, 0)
        chance = self.missing(begin, needed + (Q - 1) / 2) / Q
        return np.where(needed > 0, np.maximum(chance, 0.0), 0.0)


def delivered_quantiles(source: RenoSource, packets: int, quantum: int, rounds: int, quantiles: Floats) -> Floats:
    """Return quantiles of A_i, the packets delivered by the end of rounds i = 1 .. `rounds`.

    One pass of its own, in which nothing is left out: rows hold only what can still be late.

    Parameters
    ----------
    source : RenoSource
        What sends.
    packets : int
        Packets of the video: nothing is delivered beyond.
    quantum : int
        Packets per step of the lattice that the transient is made on, and of what is returned.
    rounds : int
    quantiles : (n,) array
        Probabilities u, 0 < u < 1; the least a with P(A_i <= a) >= u is returned.

    Returns
    -------
    (n, rounds) ndarray
        [packets]

    Raises
    ------
    AccuracyError
        For a quantile that lies within ten times the unaccounted probability of 0 or 1.
    """
    transient = follow(source, packets, quantum)
    found = np.full((len(quantiles), rounds), float(packets))
    for i in range(rounds):
        transient.step()
        if transient.exhausted:
            break
        law = transient.law()
        at = np.searchsorted(np.cumsum(law.mass), quantiles)
        found[:, i] = np.where(at < len(law.mass), np.minimum(quantum * (law.origin + at), packets), packets)
    least = 10 * transient.unaccounted
    for u in quantiles:
        if min(u, 1 - u) < least:
            raise AccuracyError(f"quantile {u:g} is nearer to 0 or 1 than ten times the error of {least / 10:.1e}")
    return found


def _longer(array: NDArray[Number], size: int) -> NDArray[Number]:
    """Return an array of three times `size` elements that starts the same: memory is not used before it is written."""
    longer = np.empty(3 * size, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
