"""The largest eigenvalue of a chain in steps, transformed over the packets delivered."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.transformed import transformed
from .merged import Merged
from .outlook import stationary
from .steps import Steps

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Ints = NDArray[np.int64]

RARE, NEVER = 1e-11, 1e-15
"""Of moves in a step, in the long run, and of visits to entries: waits that are rare, but do occur, are left out, as
they have modes of their own."""

SOON = 100
"""Steps from the start in which visits count, however rare they are later."""

NEWTON, SETTLED, SMALLEST = 16, 1e-6, 1e-3
"""Steps at most, the relative change of the eigenvalue that ends them (from the second on; the next one is about its
square), and what is none any more."""

NEARLY_NONE = 3e-3
"""Times the longest step, of theta where derivatives at 0 are taken."""

SMALL = 0.03
"""The same of the smallest theta of bounds."""

NUDGE = 1e-14
"""Relative change of an eigenvalue whose matrix is singular to the last digit."""

LARGEST, FURTHER = 3.0, 1.5
"""theta, over one in the packets of a round, up to which there are bounds, and the ratio of neighbouring ones."""

APART = 64.0
"""Of the packets from loss to loss: moves between the same entries are told apart if they deliver so much more."""

DENSE = 100
"""Entries up to which matrices are dense."""


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


class Modes:
    """lambda(theta) and c(theta) of a chain in steps: E exp(-theta A) is about c lambda^n after n steps.

    Parameters
    ----------
    steps : Steps

    Attributes
    ----------
    rounds : float
        Of a step.
    longest : float
        Packets that are delivered in the time of the longest wait, on average.
    mean, variance : float
        Of the packets that a step delivers, in the long run.
    first : float
        Packets that have been delivered on average beyond the mean of all steps.
    """

    def __init__(self, steps: Steps) -> None:
        visits = stationary(steps.source, steps.target, steps.weight, steps.entries)
        flow = np.maximum(visits, _soon(steps))[steps.source] * np.abs(steps.weight)
        rare = (steps.lag > 1) & (flow < RARE) & (visits[steps.source] > NEVER)
        self.rounds = float(steps.step)
        mean = steps.chain.packets_per_round * self.rounds
        self.longest = float(steps.elapsed[flow > RARE].max()) * mean / self.rounds
        steps = steps.only(~rare)
        total = np.bincount(steps.source, steps.weight, steps.entries)[steps.source]
        self._steps = steps = replace(steps, weight=steps.weight / total)
        size = steps.chain.packets_between_losses / APART
        place = np.rint(steps.mean / size).astype(np.int64)
        merged = Merged(np.column_stack([steps.source, steps.target, steps.lag, steps.weight > 0, place]), steps.weight)
        each = merged.keys[:, :3]
        self._moves = merged.weight, merged.mean(steps.mean), merged.variance(steps.mean, steps.variance)
        new = np.append(True, np.any(each[1:] != each[:-1], axis=1))
        self._group = np.cumsum(new) - 1
        self._source, self._target, lag = np.ascontiguousarray(each[new].T)
        self._lag = lag.astype(np.float64)
        self._behind = float(steps.held[:, 3].max(initial=0.0))
        h = NEARLY_NONE / self.longest
        up, down = (self.at(complex(one), complex(np.exp(-one * mean))) for one in (h, -h))
        self.mean = mean
        self.first = float(np.log(down.factor / up.factor).real) / (2 * h)
        self.variance = float(np.log(down.value * up.value).real) / h**2

    def about(self, theta: complex) -> complex:
        """Return lambda as that of a normal distribution."""
        return complex(np.exp(self.variance * theta**2 / 2 - self.mean * theta))

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
            apart = math.log(right[self._steps.start] / right.min())
            found.append((theta, math.log(value) / self.rounds, apart + theta * self._behind))
            theta *= FURTHER
        return found

    def at(self, theta: complex, guess: complex, near: Mode | None = None) -> Mode:
        """Return the mode at a theta, from about what lambda is, and from the mode at a theta nearby."""
        steps, E = self._steps, self._steps.entries
        moved, change = self._moved(theta)
        value, right, left = self._solved(moved, guess, near)
        z = 1 / value
        powers = z**self._lag
        pending = (powers - z) / (z - 1) if abs(z - 1) > 1e-12 else self._lag - 1
        ends = 1 + _summed(self._source, moved * pending, E)
        chance, packets, variance, missing = steps.held.T
        kept = chance * np.exp(-theta * packets + theta**2 * variance / 2) * (np.exp(theta * missing) - 1)
        ends += z * _summed(steps.holding, kept, E)
        later = _summed(self._source, moved * self._lag * powers / z * right[self._target], E)
        share = (left @ ends) / (left @ later)
        slope = (left @ _summed(self._source, change * powers * right[self._target], E)) / (left @ later) * value
        return Mode(value, complex(right[steps.start] * share * value), complex(slope), right, left)

    def _moved(self, theta: complex) -> tuple[Complexes, Complexes]:
        """Return what each move counts, and how this changes with theta."""
        return transformed(theta, self._group, *self._moves, len(self._lag))

    def _solved(self, moved: Complexes, value: complex, near: Mode | None) -> tuple[complex, Complexes, Complexes]:
        """Return the lambda for which 1 is an eigenvalue of moves that count lambda^-lag, and its vectors."""
        ones = np.ones(self._steps.entries, dtype=np.complex128)
        right, left = (ones, ones) if near is None else (near.right, near.left)
        for number in range(NEWTON):
            if not SMALLEST < abs(value) < 1 / SMALLEST:
                break
            try:
                weights = moved * value**-self._lag
                matrix = _Factored(self._source, self._target, weights, len(right))
            except (RuntimeError, np.linalg.LinAlgError):  # singular to the last digit: that is the value
                value *= 1 + NUDGE
                continue
            change = _summed(self._source, weights * self._lag * right[self._target], len(right)) / value
            new = matrix.solve(change, "N")
            top = int(np.argmax(np.abs(new)))
            step = right[top] / new[top]
            value, right = value + step, new / new[top]
            if number > 0 and abs(step) < SETTLED * abs(value):
                left = matrix.solve(left, "T")
                left = matrix.solve(left / np.abs(left).max(), "T")
                return value, right, left / left[np.argmax(np.abs(left))]
        raise AccuracyError("distribution of the packets delivered: no mode is found")


def _soon(steps: Steps) -> Floats:
    """Return the largest probability of each entry in the first steps."""
    now: Floats = np.eye(1, steps.entries, steps.start)[0]
    largest: Floats = now
    for _ in range(SOON):
        now = np.bincount(steps.target, now[steps.source] * steps.weight, steps.entries).astype(np.float64)
        largest = np.maximum(largest, now)
    return largest


class _Factored:
    """M - 1, for a matrix M."""

    def __init__(self, rows: Ints, columns: Ints, values: Complexes, n: int) -> None:
        rows, columns = np.append(rows, np.arange(n)), np.append(columns, np.arange(n))
        values = np.append(values, np.full(n, -1.0))
        self._inverse: Complexes | None = None
        if n <= DENSE:
            self._inverse = np.asarray(np.linalg.inv(_summed(rows * n + columns, values, n * n).reshape(n, n)))
        else:
            from scipy import sparse
            from scipy.sparse.linalg import splu

            self._factors: Any = splu(sparse.coo_array((values, (rows, columns)), shape=(n, n)).tocsc())

    def solve(self, right: Complexes, transposed: str) -> Complexes:
        """Solve with the matrix or its transpose."""
        if self._inverse is not None:
            return self._inverse @ right if transposed == "N" else right @ self._inverse
        return np.asarray(self._factors.solve(right, transposed))


def _summed(where: Ints, values: NDArray[np.number], n: int) -> Complexes:
    return np.bincount(where, values.real, n) + 1j * np.bincount(where, values.imag, n)
