"""The distribution of the packets delivered after many losses: its transform has one mode."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from .outlook import stationary
from .steps import Steps

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Ints = NDArray[np.int64]

TILT, PERIOD = 1.5, 24.0
"""Of the transform, one over and in the largest distance below the mean that matters: their product is 36."""

VANISHED = 1e-14
"""Of the transform, where it is no longer followed."""

RARE, NEVER = 1e-11, 1e-15
"""Of moves in a step, in the long run, and of visits to entries: waits that are rare, but do occur, are left out, as
they have modes of their own."""

TOGETHER, KNOWN = 4, 12
"""Frequencies that are solved for at a time, and from how many before it is known about where their modes are."""

ITERATIONS, NEWTON, SETTLED = 500, 12, 1e-12
"""Steps of the power method and of Newton's at most, and the relative change that ends them."""

AT_ONCE = 1 << 21
"""Values of a transform."""


class LongLaw:
    """E[(y - A)+] after so many steps that they have one mode: E exp(-theta A) = c(theta) lambda(theta)^n.

    All cumulants are those of the chain in steps. The integral over theta along a vertical line is a sum without error
    to speak of, as the integrand is smooth and falls like a normal distribution.

    Parameters
    ----------
    steps : Steps
    begin : float
        Rounds from which it is asked for.
    spread : float
        The largest standard deviation of A that it is asked for [packets].
    variance : float
        Of A per round, about.
    sampled, quantum : float
        Rounds between times at which a sum over time is known well enough, and packets between which a slope is.

    Raises
    ------
    AccuracyError
        Where the mode is not found.
    """

    def __init__(
        self, steps: Steps, begin: float, spread: float, variance: float, sampled: float, quantum: float
    ) -> None:
        self.step, self.quantum = sampled, quantum
        self._rounds = steps.step
        modes, mean = _Modes(steps), steps.chain.packets_per_round
        below = spread + modes.longest
        tilt, gap = TILT / below, 2 * math.pi / (PERIOD * below)
        found: list[tuple[Complexes, Complexes, Complexes]] = []
        wrong: Complexes = np.zeros(0, dtype=np.complex128)
        sizes = np.ones(1)
        while (sizes[-1] / sizes[0]) ** (begin / self._rounds) >= VANISHED:
            number = np.arange(len(wrong), len(wrong) + TOGETHER)
            theta = (tilt + 1j * gap * number).astype(np.complex128)
            usual = steps.step * (variance * theta**2 / 2 - mean * theta)
            mode, factor = modes.at(theta, np.exp(usual + _continued(wrong, TOGETHER)))
            found.append((theta, mode, factor))
            wrong = np.append(wrong, np.log(mode * np.exp(-usual)))
            sizes = np.abs(np.concatenate([one for _, one, _ in found]))
        largest = float(sizes[0])
        self._theta, self._mode, factor = (np.concatenate(one) for one in zip(*found))
        used = (np.abs(self._mode) / largest) ** (begin / self._rounds) >= VANISHED
        self._theta, self._mode = self._theta[used], np.log(self._mode[used])
        self._factor = factor[used] * (gap / math.pi) / self._theta**2
        self._factor[0] /= 2

    def until(self, rounds: float) -> int:  # noqa: ARG002
        """Nothing has to be made."""
        return 0

    def missing(self, rounds: Floats, packets: Floats) -> Floats:
        """Return E[(y - A)+] for y = `packets` at the ends of `rounds`."""
        total = np.empty(len(rounds))
        size = max(1, AT_ONCE // len(self._theta))
        for i in range(0, len(rounds), size):
            n, y = rounds[i : i + size, np.newaxis] / self._rounds, packets[i : i + size, np.newaxis]
            total[i : i + size] = (np.exp(n * self._mode + y * self._theta) @ self._factor).real
        return np.where(packets > 0, np.maximum(total, 0.0), 0.0)


def _continued(values: Complexes, count: int) -> Complexes:
    """Return a smooth sequence some values further."""
    last = values[-KNOWN:]
    if not len(last):
        return np.zeros(count, dtype=np.complex128)
    places = np.arange(len(last) + count) - len(last)
    line = np.polynomial.polynomial.polyfit(places[: len(last)], last, min(3, len(last) - 1))
    return np.asarray(np.polynomial.polynomial.polyval(places[len(last) :], line))


class _Modes:
    """The largest eigenvalue of a chain in steps, and how much of it there is, over theta."""

    def __init__(self, steps: Steps) -> None:
        visits = stationary(steps.source, steps.target, steps.weight, steps.entries)
        flow = np.abs(visits[steps.source] * steps.weight)
        rare = (steps.lag > 1) & (flow < RARE) & (visits[steps.source] > NEVER)
        self.longest = float(steps.elapsed[flow > RARE].max()) * steps.chain.packets_per_round
        steps = steps.only(~rare)
        total = np.bincount(steps.source, steps.weight, steps.entries)[steps.source]
        self._steps = steps = replace(steps, weight=steps.weight / total)
        E, lags = steps.entries, int(steps.lag.max()) + 1
        keys, self._group = np.unique((steps.source * E + steps.target) * lags + steps.lag, return_inverse=True)
        self._lag = (keys % lags).astype(np.float64)
        self._source, self._target = keys // lags // E, keys // lags % E
        self._order = np.argsort(self._target, kind="stable")

    def at(self, theta: Complexes, guess: Complexes) -> tuple[Complexes, Complexes]:
        """Return lambda and c for some theta, from about what lambda is."""
        steps, E = self._steps, self._steps.entries
        moved = np.empty((len(theta), len(self._lag)), dtype=np.complex128)
        for i, one in enumerate(theta):
            each = steps.weight * np.exp(-one * steps.mean + one**2 * steps.variance / 2)
            moved[i] = np.bincount(self._group.ravel(), each.real) + 1j * np.bincount(self._group.ravel(), each.imag)
        value, right, left = self._solved(moved, guess)
        z = 1 / value[:, np.newaxis]
        powers = z**self._lag
        with np.errstate(divide="ignore", invalid="ignore"):
            pending = np.where(np.abs(z - 1) < 1e-12, self._lag - 1, (powers - z) / (z - 1))
        ends = np.ones((len(theta), E), dtype=np.complex128)
        np.add.at(ends.T, self._source, (moved * pending).T)
        for i, one in enumerate(theta):
            chance, packets, variance, missing = steps.held.T
            change = chance * np.exp(-one * packets + one**2 * variance / 2) * (np.exp(one * missing) - 1)
            np.add.at(ends[i], steps.holding, z[i] * change)
        later = np.zeros_like(ends)
        np.add.at(later.T, self._source, (moved * self._lag * powers / z * right[:, self._target]).T)
        share = (left * ends).sum(axis=1) / (left * later).sum(axis=1)
        return value, right[:, steps.start] * share * value

    def _solved(self, moved: Complexes, value: Complexes) -> tuple[Complexes, Complexes, Complexes]:
        """Return the lambda for which 1 is an eigenvalue of moves that count lambda^-lag, and its vectors."""
        order = self._order
        right = left = np.ones((len(moved), self._steps.entries), dtype=np.complex128)
        for _ in range(NEWTON):
            weights = moved * value[:, np.newaxis] ** -self._lag
            one, right = _eigen(weights, self._source, self._target, right)
            _, left = _eigen(weights[:, order], self._target[order], self._source[order], left)
            slope = (left[:, self._source] * weights * self._lag * right[:, self._target]).sum(axis=1)
            change = (one - 1) * (left * right).sum(axis=1) / slope
            value = value * (1 + change)
            if float(np.abs(change).max()) < SETTLED:
                return value, right, left
        raise AccuracyError("distribution of the packets delivered: no mode is found")


def _eigen(weights: Complexes, rows: Ints, columns: Ints, vector: Complexes) -> tuple[Complexes, Complexes]:
    """Return the largest eigenvalues of some matrices, by the power method from about their vectors."""
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
    for _ in range(ITERATIONS):
        new = np.zeros_like(vector)
        new[:, rows[starts]] = np.add.reduceat(weights * vector[:, columns], starts, axis=1)
        value = (np.conj(vector) * new).sum(axis=1) / (np.abs(vector) ** 2).sum(axis=1)
        change = np.abs(new - value[:, np.newaxis] * vector).max(axis=1) / np.abs(new).max(axis=1)
        vector = new / np.abs(new).max(axis=1)[:, np.newaxis]
        if float(change.max()) < SETTLED:
            break
    return value, vector
