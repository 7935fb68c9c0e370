"""The distribution of the packets delivered by each round, from one transient pass: all that stored media needs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.shortfall import missing, tabulate
from ..path import Path
from ..system import watch
from ..tcp import Chain, Varying, chain_of
from ..transient.backlogged import Backlogged
from ..transient.boundary import Boundary
from ..transient.cost import HEAD
from ..transient.select import backlogged
from .plan import RISK, Plan
from .timeline import Timeline

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Number = TypeVar("Number", np.float64, np.int64)

ROW_NEGLIGIBLE = 1e-18
"""Probability left out at the low end of each row."""

MEMORY_LIMIT = 4 * 2**30
"""Bytes that the rows may take."""


@dataclass(frozen=True)
class Record:
    """The rows of the first rounds. Arrays may hold more than these rows; what they hold of them never changes.

    Attributes
    ----------
    table, origins, starts : arrays
        See `kernels.shortfall.missing`.
    unaccounted : array
        Probability dropped and rounded away by the end of each round.
    rounds : int
    cells : int
        States times positions followed for them.
    complete : bool
        Whether nothing is left to follow.
    full : bool
        Whether the next row would take too much memory.
    """

    table: Floats
    origins: Ints
    starts: Ints
    unaccounted: Floats
    rounds: int = 0
    cells: int = 0
    complete: bool = False
    full: bool = False


class Arrivals:
    """For each round i the function y -> E[(y - A_i)+], kept as its values at whole y (or whole quanta).

    Late packets of a round are a difference of it, and P(A_i < b) its slope: every startup delay, playback rate and
    round trip time is served by the same rows. Rows are made in their order when first asked for, each by whichever
    thread comes first, and the same whoever asks for what: any number of threads may. A pickle holds none of them.

    On a lattice of several packets the first `HEAD` quanta of packets have rows of their own, which are exact.

    Parameters
    ----------
    path : Path or Varying
        Whose chain sends.
    cases : iterable of Timeline
        What is served: videos over this path and others with the same chain. Rows end where no more is due of any.
    plan : Plan
        How the transient is made.
    most : int, optional
        Packets from the start of the videos that are served; by default all.

    Attributes
    ----------
    packets : int
        Packets that are served: what is delivered beyond is never late.
    head : Arrivals or None
        The same packet by packet, for the first packets, where the quantum is larger.
    record : Record
        What has been made.
    """

    def __init__(
        self,
        path: Path | Varying,
        cases: Iterable[Timeline],
        plan: Plan = Plan(),  # noqa: B008 - a value
        most: int | None = None,
    ) -> None:
        self.path, self.cases, self.plan = path, _outline(cases), plan
        self.chain, self.quantum = chain_of(path), plan.quantum
        longest = max(one.packets for one in self.cases)
        self.packets = longest if most is None else min(most, longest)
        self.head: Arrivals | None = None
        if self.quantum > 1:
            self.head = Arrivals(path, self.cases, replace(plan, quantum=1), HEAD * self.quantum)
        self.record = Record(
            np.empty(1 << 20), np.empty(1 << 8, dtype=np.int64), np.zeros(1 << 8, dtype=np.int64), np.empty(1 << 8)
        )
        self._transient: Backlogged | None = None
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[Arrivals], tuple[Any, ...]]:
        """Pickle what rows are made from: the same bytes and the same answers whatever was asked before."""
        return type(self), (self.path, self.cases, self.plan, self.packets)

    def __copy__(self) -> Arrivals:
        """Return the same: nothing that can be read from it changes."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Arrivals:
        """Return the same: nothing that can be read from it changes."""
        return self

    def safe(self, round_number: int) -> float:
        """Return the position above which nothing is late any more after a round."""
        return self.plan.packets_due * round_number + self.plan.lead

    def unaccounted(self, rounds: int) -> float:
        """Return the probability lost by the end of a round: dropped at the ends of windows and rows, and rounding."""
        record = self._made(rounds)
        risk = RISK if self.plan.lead < math.inf else 0.0
        if self.head is not None:
            risk += self.head.unaccounted(rounds)
        return float(record.unaccounted[min(rounds, record.rounds) - 1]) + ROW_NEGLIGIBLE + risk

    def missing(self, begin: Floats, end: Floats) -> Floats:
        """Return what of packets ``begin[i - 1]`` .. ``end[i - 1]`` is missing on average after rounds i = 1, 2, ...

        0 where nothing is left to follow.

        Raises
        ------
        AccuracyError
            When the rows take too much memory.
        """
        if self.head is not None:
            edge = float(self.head.packets)
            first = self.head.missing(np.minimum(begin, edge), np.minimum(end, edge))
            return first + self._missing(np.maximum(begin, edge), np.maximum(end, edge))
        return self._missing(begin, end)

    def _missing(self, begin: Floats, end: Floats) -> Floats:
        """Return what is missing on this lattice alone."""
        result = np.zeros(len(end))
        record = self._made(len(end))
        n = min(len(end), record.rounds)
        missing(record.table, record.origins, record.starts, self.quantum, begin[:n], end[:n], result)
        return result

    def late(self, needed: Floats) -> Floats:
        """Return P(A_i < b) for whole b = ``needed[i - 1]`` in rounds i = 1, 2, ..."""
        Q = self.quantum
        begin = needed - 1 if Q == 1 else np.maximum(needed - (Q + 1) / 2, 0)
        chance = np.maximum(self._missing(begin, needed + (Q - 1) / 2) / Q, 0.0)
        if self.head is not None:
            chance = np.where(needed <= self.head.packets, self.head.late(needed), chance)
        return np.where(needed > 0, chance, 0.0)

    def never_late(self, needed: Floats) -> tuple[float, float]:
        """Return P(A_i >= b in every round i) for whole b = ``needed[i - 1]``, and the probability lost on the way.

        A pass of its own, in which what is late leaves the chain.
        """
        first, lost, rounds = 1.0, 0.0, 0
        if self.head is not None:  # the rounds in which only the first packets are due are judged by them
            rounds = int(np.searchsorted(needed, self.head.packets, "right"))
            first, lost = self.head.never_late(needed[:rounds])
            if rounds == len(needed):
                return first, lost
        transient = backlogged(self.chain, min(self.packets, int(needed.max(initial=1))), self.quantum)
        before = 1.0  # what is never late in those rounds, on this lattice
        for i, least in enumerate(needed, 1):
            watch.at(i - 1, len(needed), watch.SHORTER)
            transient.step(Boundary(int(least), self.safe(i)))
            if i <= rounds:
                before = transient.survivors()
            if transient.exhausted:
                break
        return transient.survivors() + (first - before), lost + transient.unaccounted

    def _made(self, rounds: int) -> Record:
        """Return the record with the rows of rounds 1 .. `rounds`, or of all in which something is left to follow."""
        record = self.record
        if record.rounds >= rounds or record.complete:
            return record
        due = np.max([one.due(0.0, rounds) for one in self.cases], axis=0)
        tops = np.ceil(np.minimum(due, self.packets) / self.quantum).astype(np.int64)
        while record.rounds < rounds and not record.complete:
            if record.full:
                raise AccuracyError(
                    f"the distribution of the arrivals takes more than {MEMORY_LIMIT / 2**30:.0f} GiB "
                    f"after {record.rounds} of {rounds} rounds: take {watch.SHORTER}"
                )
            watch.at(record.rounds, rounds, watch.SHORTER)
            with self._lock:
                if self.record is record:  # no other thread has made the next row
                    self.record = self._next(record, int(tops[record.rounds]))
                record = self.record
        return record

    def _next(self, record: Record, top: int) -> Record:
        """Return a record with one more row, up to position `top`; the lock is held.

        The transient is taken away while it moves. An interruption leaves none, and it is made again from the start.
        """
        transient, self._transient = self._transient or backlogged(self.chain, self.packets, self.quantum), None
        while transient.round <= record.rounds:
            transient.step(Boundary(safe=self.safe(transient.round + 1)))
        pmf = transient.distribution()
        i, start = record.rounds, int(record.starts[record.rounds])
        end = start + len(pmf.mass) + 2
        if 8 * end > MEMORY_LIMIT:
            return replace(record, full=True)
        table, origins, starts = _room(record.table, end), _room(record.origins, i + 2), _room(record.starts, i + 2)
        unaccounted = _room(record.unaccounted, i + 2)
        first, size = tabulate(pmf.mass, ROW_NEGLIGIBLE, top - pmf.origin, table[start:end])
        origins[i], starts[i + 1], unaccounted[i] = pmf.origin + first, start + size, transient.unaccounted
        complete = transient.exhausted
        if not complete:
            self._transient = transient
        return Record(table, origins, starts, unaccounted, i + 1, transient.cells, complete)


def delivered_quantiles(chain: Chain, packets: int, quantum: int, rounds: int, quantiles: Floats) -> Floats:
    """Return quantiles of A_i, the packets delivered by the end of rounds i = 1 .. `rounds`.

    One pass of its own, in which nothing is left out: rows hold only what can still be late.

    Parameters
    ----------
    chain : Chain
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
    if quantum > 1:  # the first packets one by one
        edge = min(HEAD * quantum, packets)
        first = delivered_quantiles(chain, edge, 1, rounds, quantiles)
        if (first < edge).all() or edge == packets:
            return first
    transient = backlogged(chain, packets, quantum)
    found = np.full((len(quantiles), rounds), float(packets))
    for i in range(rounds):
        watch.at(i, rounds, watch.SHORTER)
        transient.step()
        if transient.exhausted:
            break
        pmf = transient.distribution()
        at = np.searchsorted(np.cumsum(pmf.mass), quantiles)
        found[:, i] = np.where(at < len(pmf.mass), np.minimum(quantum * (pmf.origin + at), packets), packets)
    least = 10 * transient.unaccounted
    for u in quantiles:
        if min(u, 1 - u) < least:
            raise AccuracyError(f"quantile {u:g} is nearer to 0 or 1 than ten times the error of {least / 10:.1e}")
    return found if quantum == 1 else np.where(first < edge, first, np.maximum(found, edge))


def _outline(cases: Iterable[Timeline]) -> tuple[Timeline, ...]:
    """Return the cases without those of which, at constant rates, no more is ever due than of another."""
    cases = list(cases)
    curves = [one for one in cases if one.video.curve is not None]
    steady = [one for one in cases if one.video.curve is None]
    kept: list[Timeline] = []
    for one in sorted(steady, key=lambda one: (one.packets_due, one.video.packets), reverse=True):
        if not kept or one.video.packets > kept[-1].video.packets:
            kept.append(one)
    return (*kept, *curves)


def _room(array: NDArray[Number], size: int) -> NDArray[Number]:
    """Return an array of `size` elements at least that starts the same; what is not written takes no memory."""
    if size <= len(array):
        return array
    longer = np.empty(3 * size, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
