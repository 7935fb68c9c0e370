"""How far the latency of a live stream drifts whose player waits: the law of the largest backlog."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..coarse.resolution import FACTOR
from ..errors import AccuracyError
from ..system.threads import on_cores
from .latency_lattices import Followed

Floats = NDArray[np.float64]


class FirstPassage(Protocol):
    """What is followed of a video, on a lattice."""

    @property
    def due(self) -> int:
        """Quanta that play in a round."""

    @property
    def certain(self) -> float:
        """Quanta of startup delay below which every video stalls."""

    def ended(self, level: Any, length: float) -> tuple[float, float]:
        """Return minus the logarithm of P(no packet is late) for quanta of startup delay, and its error."""


LEAST = 5e-3
"""Relative error of a hazard that is stated at least, on a lattice that is not exact."""

SURE = 40.0
"""A hazard that is certain: 1 less its probability is below what a float tells from 1."""

RISK = 1e-10
"""Probability that is stated to be off at least."""

BEYOND = 2e-3
"""Part of the mean that may come from beyond the largest level that is followed."""

TOLERANCE = 0.01
"""Of the mean, that interpolation may be off."""

DOUBLINGS, MOST = 4, 40
"""Levels that are followed at first, each twice as far from the startup delay as the one before; and at most."""

LARGE = 0.4
"""Of the widest bracket, from which on a level in between is followed."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Hazards over levels [quanta], their logarithms linear in between: minus log P(the level is never passed)."""

    known: dict[int, tuple[float, float]] = field(default_factory=dict)

    def at(self, places: Floats, every: int = 1) -> Floats:
        """Return hazards at some places, from all levels that are known, or every second one and so on."""
        levels = sorted(self.known)
        kept = sorted({*levels[::every], levels[-1]})
        logs = np.log([min(max(self.known[k][0], 1e-300), SURE) for k in kept])
        found = np.interp(places, kept, logs)
        if len(kept) > 1:  # beyond the last one it falls on
            slope = (logs[-1] - logs[-2]) / (kept[-1] - kept[-2])
            found = np.where(places > kept[-1], logs[-1] + slope * (places - kept[-1]), found)
        return np.asarray(np.exp(found))


class Drift:
    """P(S > x): the latency drifts by more than x, in all of a stream.

    Parameters
    ----------
    fine : Followed
    coarse : Followed or None
        To compare with; None where the other is exact.
    rate, start, length : float
        mu [packets/s], the startup delay [s], and the stream's length [rounds].
    means : bool
        Whether more is asked than P(S > 0): levels are followed until means are known.
    """

    def __init__(
        self,
        fine: Followed[FirstPassage],
        coarse: Followed[FirstPassage] | None,
        rate: float,
        start: float,
        length: float,
        *,
        means: bool = True,
    ) -> None:
        self._fine, self._rate, self._length = fine, rate, length
        self.level = self._no_higher(rate * start)
        self._fine = fine = fine.counted_from(self.level)
        self._coarse = None if coarse is None else coarse.counted_from(self.level)
        levels = fine.place(np.array([self.level, fine.latency.certain * fine.quantum]))
        self._first = max(math.floor(levels[0] + 1e-9), math.ceil(levels[1] - 1e-9))
        if not fine.exact:
            self._first -= self._first % 2  # the coarser lattice has it, too
        self._curve, self._other = Curve(), Curve()
        if means:
            self._follow()
        else:
            self._know([self._first] if fine.exact else [self._first, self._first + 2, self._first + self._step])
        self._compare()

    def _no_higher(self, level: float) -> float:
        """Return a level, or that of the whole stream, where it is lower and next to never passed: so are all above."""
        latency, quantum = self._fine.latency, self._fine.quantum
        generated = math.ceil(self._length * latency.due)
        most = (generated + 2) * quantum
        return most if level > most and latency.ended(generated, self._length)[0] <= RISK else level

    def longer_than(self, x: Floats) -> tuple[Floats, Floats]:
        """Return P(S > x) for some x [s], and how far each is off."""
        x = np.asarray(x, dtype=np.float64)
        chance, packets = self._chances(x), self.level + self._rate * x
        places = np.maximum(self._fine.place(packets), self._first)
        hazards, apart = self._curve.at(places), np.exp(self._relative(places))
        less, more = (np.abs(np.exp(-hazards) - np.exp(-hazards * factor)) for factor in (1 / apart, apart))
        off = np.maximum(less, more) + RISK
        if self._fine.stepped:
            ends = (-np.expm1(-self._curve.at(one)) for one in (np.floor(places + 1e-9), np.ceil(places - 1e-9)))
            off = off + np.max([np.abs(chance - end) for end in ends], axis=0)
        return chance, np.where(self._surely(packets), 0.0, off)

    def mean(self, worth: Callable[[Floats], Floats]) -> tuple[float, float]:
        """Return E[h(S)] for h that grows from h(0) = 0, and its error."""
        x = self._times()
        gain, (p, off) = np.diff(worth(x)), self.longer_than((x[1:] + x[:-1]) / 2)
        mean, half = float(p @ gain), float(self._chances((x[1:] + x[:-1]) / 2, 2) @ gain)
        last = float(p[-1] * gain[-1]) / max(1 - p[-1] / p[-2], 1e-9) if p[-1] > 0 else 0.0
        return mean, float(off @ gain) + abs(mean - half) + last

    def quantile(self, u: float) -> float:
        """Return the least x [s] with P(S <= x) >= u.

        Raises
        ------
        AccuracyError
            Where it lies beyond what is followed.
        """
        if self.longer_than(np.zeros(1))[0][0] <= 1 - u:
            return 0.0
        x = self._times()
        enough = np.flatnonzero(self._chances(x[:-1] if self._fine.stepped else (x[1:] + x[:-1]) / 2) <= 1 - u)
        if not len(enough):
            raise AccuracyError(f"the quantile {u:g} of the drift lies beyond {x[-1]:.3g} s, which is not followed")
        return float(x[enough[0]])

    def _times(self) -> Floats:
        """Return times from 0 on [s] between which P(S > x) is a step, or next to it."""
        begin = self._fine.begin(self.level)
        edges = np.append(begin, np.arange(math.floor(begin + 1e-9) + 1, max(self._curve.known) + 2))
        return np.maximum(edges - begin, 0.0) * self._fine.quantum / self._rate

    def _chances(self, x: Floats, every: int = 1) -> Floats:
        """Return P(S > x), from every level or fewer."""
        packets = self.level + self._rate * x
        hazards = self._curve.at(np.maximum(self._fine.place(packets), self._first), every)
        return np.where(self._surely(packets), 1.0, -np.expm1(-hazards))

    def _surely(self, packets: Floats) -> NDArray[np.bool_]:
        """Return whether a level is passed in any case: nothing is there after one round."""
        return np.asarray(packets < self._fine.latency.certain * self._fine.quantum * (1 - 1e-9))

    @property
    def _step(self) -> int:
        """Quanta of the first step between levels."""
        return 2 * max(1, self._fine.latency.due // 2)

    def _follow(self) -> None:
        """Follow levels until the mean is known."""
        first, step = self._first, self._step
        self._know([first, first + 2, *(first + step * 2**i for i in range(DOUBLINGS))])
        while len(self._curve.known) < MOST:
            levels = np.array(sorted(self._curve.known))
            p = -np.expm1(-self._curve.at(levels.astype(np.float64)))
            if p[0] <= RISK:
                return
            areas = np.diff(levels) * (p[1:] + p[:-1]) / 2
            if p[-1] * (levels[-1] - levels[-2]) > BEYOND * areas.sum():
                self._know([first + 2 * (int(levels[-1]) - first), first + 4 * (int(levels[-1]) - first)])
                continue
            if self._fine.exact and levels[-1] - levels[0] <= MOST:
                self._know(sorted(set(range(levels[0], levels[-1])) - set(levels.tolist())))
                return
            x = self._times()
            gain, middle = np.diff(x), (x[1:] + x[:-1]) / 2
            every = self._chances(middle)
            wrong = np.abs(every - self._chances(middle, 2)) @ gain
            bracket = np.where(
                np.diff(levels) > (1 if self._fine.exact else 2), np.abs(np.diff(p)) * np.diff(levels), 0.0
            )
            if wrong <= TOLERANCE * (every @ gain) or not bracket.any():
                return
            wide = np.flatnonzero(bracket >= LARGE * bracket.max())
            self._know([self._between(*levels[i : i + 2].tolist()) for i in wide])

    def _between(self, low: int, high: int) -> int:
        """Return a level between two: one that the coarser lattice has, too."""
        return (low + high) // 2 if self._fine.exact else low + 2 * ((high - low) // 4)

    def _know(self, levels: list[int]) -> None:
        found = on_cores(lambda level: self._fine.latency.ended(self._fine.at_level(level), self._length), levels)
        self._curve.known.update(zip(levels, found))

    def _compare(self) -> None:
        """Follow some levels on the other lattice: the first, the last, and one in the middle of the mean."""
        if self._coarse is None:
            return
        ratio = self._coarse.quantum / self._fine.quantum
        levels = sorted(self._curve.known)
        kept, other = sorted({levels[0], levels[len(levels) // 2], levels[-1]}), self._coarse
        found = on_cores(lambda k: other.latency.ended(other.at_level(round(k / ratio)), self._length), kept)
        self._other.known.update(zip(kept, found))

    def _relative(self, places: Floats) -> Floats:
        """Return the relative error of hazards."""
        levels = sorted(self._curve.known)
        settled = [off / max(hazard, RISK) for hazard, off in (self._curve.known[k] for k in levels)]
        error = np.interp(places, levels, np.minimum(settled, 1.0))
        between = np.abs(np.log(_told(self._curve.at(places)) / _told(self._curve.at(places, 2))))
        error += np.where(np.isin(places, levels), 0.0, FACTOR * between)
        if self._coarse is None:
            return error
        kept = sorted(self._other.known)
        shift = 0.0 if self._fine.exact else 0.5  # the middle of a coarser quantum
        here = self._curve.at(np.array(kept) + shift)
        there = np.array([self._other.known[k][0] for k in kept])
        apart = np.abs(np.log(_told(there)) - np.log(_told(here)))
        error = error + FACTOR * np.interp(places, kept, apart)
        return np.asarray(error if self._fine.exact else error + LEAST)


def _told(hazards: Floats) -> Floats:
    """Return hazards, those of next to nothing and of next to certainty as the least and the largest that are told."""
    return np.clip(hazards, RISK, SURE)
