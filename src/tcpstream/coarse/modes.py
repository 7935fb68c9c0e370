"""The largest eigenvalue of a chain in steps, transformed over the packets delivered."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from .outlook import stationary
from .steps import Steps
from .transforms import Eliminated, Transforms, summed

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Ints = NDArray[np.int64]

RARE, NEVER = 1e-14, 1e-15
"""Of moves in a step, in the long run, and of visits to entries: waits that are rare, but do occur, are left out, as
they have modes of their own. One of a thousand rounds makes so many times a thousand of all packets late."""

SOON = 100
"""Steps from the start in which visits count, however rare they are later."""

NEWTON, SETTLED, AT_ONCE, SMALLEST = 16, 1e-6, 1e-8, 1e-3
"""Steps at most, the relative changes of the eigenvalue that end them (from the second on, as the next one is about its
square; and the first one, near a known mode), and what is none any more."""

NEARLY_NONE = 3e-3
"""Times the longest step, of theta where derivatives at 0 are taken."""

SMALL = 0.03
"""The same of the smallest theta of bounds."""

ROUNDING = 1e-13
"""Of the logarithm of an eigenvalue, whose second difference is the variance."""

NUDGE = 1e-14
"""Relative change of an eigenvalue whose matrix is singular to the last digit."""

LARGEST, FURTHER = 3.0, 1.5
"""theta, over one in the packets of a round, up to which there are bounds, and the ratio of neighbouring ones."""


class Mode(NamedTuple):
    """The largest eigenvalue at a theta.

    Attributes
    ----------
    value, factor, slope : complex
        lambda, c, and the slope of log lambda over theta.
    right, left : (E,) complex arrays
        Vectors.
    """

    value: complex
    factor: complex
    slope: complex
    right: Complexes
    left: Complexes


class Beginning(NamedTuple):
    """How a chain in steps may begin.

    Attributes
    ----------
    rounds, ahead : (k,) arrays
        Until when it is in an entry, and the packets that have been delivered then.
    law : (k, E) array
        Probability of each entry.
    """

    rounds: Floats
    ahead: Floats
    law: Floats


class Modes:
    """lambda(theta) and c(theta) of a chain in steps: E exp(-theta A) is about c lambda^n after n steps.

    Parameters
    ----------
    steps : Steps

    Raises
    ------
    AccuracyError
        Where no mode is found, or where next to nothing is random.

    Attributes
    ----------
    steps : Steps
        Without rare waits.
    rounds : float
        Of a step.
    longest : float
        Packets that are delivered in the time of the longest wait, on average.
    mean, variance : float
        Of the packets that a step delivers, in the long run.
    first : float
        Packets that have been delivered on average beyond the mean of all steps.
    visited : (E,) bool array
        Entries that are visited in the long run. The others, as those of a slow start without loss, have no vector to
        speak of.
    """

    def __init__(self, steps: Steps) -> None:
        visits = stationary(steps.source, steps.target, steps.weight, steps.entries)
        flow = np.maximum(visits, _soon(steps))[steps.source] * np.abs(steps.weight)
        rare = (steps.lag > 1) & (flow < RARE) & (visits[steps.source] > NEVER)
        self._usual = int(np.argmax(visits))
        self._begin: Beginning | None = None
        self._found: dict[complex, tuple[complex, Complexes, Complexes]] | None = None
        self.visited = visits > NEVER
        self.rounds = float(steps.step)
        mean = steps.chain.packets_per_round * self.rounds
        self.longest = float(steps.elapsed[flow > RARE].max()) * mean / self.rounds
        steps = steps.only(~rare)
        total = np.bincount(steps.source, steps.weight, steps.entries)[steps.source]
        self.steps = steps = replace(steps, weight=steps.weight / total)
        self._moves = Transforms(steps)
        self._matrices = Eliminated(self._moves.source, self._moves.target, steps.entries)
        self._behind = float(steps.held[:, 3].max(initial=0.0))
        h = NEARLY_NONE / self.longest
        up, down = (self.at(complex(one), complex(np.exp(-one * mean))) for one in (h, -h))
        self.mean = mean
        self.first = float(np.log(down.factor / up.factor).real) / (2 * h)
        self.variance = float(np.log(down.value * up.value).real) / h**2
        if self.variance < ROUNDING / h**2:
            raise AccuracyError("distribution of the packets delivered: they hardly vary")

    def begun(self, begin: Beginning) -> Modes:
        """Return the same with c(theta) of another beginning; all that begin from one of these solve together."""
        if self._found is None:
            self._found = {}
        found = copy.copy(self)
        found._begin = begin
        return found

    def about(self, theta: Any) -> Any:
        """Return lambda as that of a normal distribution, for complex numbers of any shape."""
        return np.exp(self.variance * theta**2 / 2 - self.mean * theta)

    @cached_property
    def bounds(self) -> list[tuple[float, float, float]]:
        """theta, and logarithms b and a: E exp(-theta A) is at most exp(a + b n) after n rounds, at some theta."""
        found = []
        theta, guess = SMALL / self.longest, 0.0
        while theta * self.mean < LARGEST * self.rounds:
            usual = theta**2 * self.variance / 2 - theta * self.mean
            try:
                mode = self.at(complex(theta), complex(math.exp(usual + guess)))
            except AccuracyError:
                break
            value, right = mode.value.real, mode.right.real
            if not (0 < value < 1 and right.min() > 0):
                break
            guess = FURTHER**3 * (math.log(value) - usual)
            apart = math.log(right[self.steps.start] / right.min())
            found.append((theta, math.log(value) / self.rounds, apart + theta * self._behind))
            theta *= FURTHER
        return found

    def at(self, theta: complex, guess: complex, near: Mode | None = None) -> Mode:
        """Return the mode at a theta, from about what lambda is, and from the mode at a theta nearby."""
        moves, E = self._moves, self.steps.entries
        moved, change = moves.moved(theta)
        solved = None if self._found is None else self._found.get(theta)
        value, right, left = self._solved(moved, guess, near) if solved is None else solved
        if self._found is not None:
            self._found[theta] = value, right, left
        z = 1 / value
        powers = z**moves.lag
        later = summed(moves.source, moved * moves.lag * powers / z * right[moves.target], E)
        share = (left @ moves.ends(theta, z, moved)) / (left @ later)
        slope = (left @ summed(moves.source, change * powers * right[moves.target], E)) / (left @ later) * value
        return Mode(value, complex(self._from_begin(theta, value, right) * share * value), complex(slope), right, left)

    def _from_begin(self, theta: complex, value: complex, right: Complexes) -> complex:
        if self._begin is None:
            return complex(right[self.steps.start])
        rounds, ahead, law = self._begin
        return complex(np.exp(-theta * ahead - rounds / self.rounds * np.log(value)) @ (law @ right))

    def _solved(self, moved: Complexes, value: complex, near: Mode | None) -> tuple[complex, Complexes, Complexes]:
        """Return the lambda for which 1 is an eigenvalue of moves that count lambda^-lag, and its vectors."""
        moves, top = self._moves, self._usual
        ones = np.ones(self.steps.entries, dtype=np.complex128)
        right, left = (ones, ones) if near is None else (near.right, near.left)
        for number in range(NEWTON):
            if not SMALLEST < abs(value) < 1 / SMALLEST:
                break
            with np.errstate(over="ignore", invalid="ignore"):
                weights = moved * value**-moves.lag
            if not np.all(np.isfinite(weights)):
                break
            try:
                matrix = self._matrices.of(weights)
            except (RuntimeError, np.linalg.LinAlgError):  # singular to the last digit: that is the value
                value *= 1 + NUDGE
                continue
            change = summed(moves.source, weights * moves.lag * right[moves.target], len(right)) / value
            new = matrix.solve(change)
            if new[top] == 0:
                break
            step = right[top] / new[top]
            value, right = value + step, new / new[top]
            if abs(step) < (SETTLED if number > 0 else AT_ONCE) * abs(value):
                left = matrix.solve_transposed(left)
                left = matrix.solve_transposed(left / np.abs(left).max())
                return value, right, left / left[top]
        raise AccuracyError("distribution of the packets delivered: no mode is found")


def _soon(steps: Steps) -> Floats:
    """Return the largest probability of each entry in the first steps."""
    now: Floats = np.eye(1, steps.entries, steps.start)[0]
    largest: Floats = now
    for _ in range(SOON):
        now = np.bincount(steps.target, now[steps.source] * steps.weight, steps.entries).astype(np.float64)
        largest = np.maximum(largest, now)
    return largest
