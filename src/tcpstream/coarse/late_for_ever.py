"""The mean number of late packets from some time on, in a video without end: the sum over all steps is one solve."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..system import watch
from .forward import Forward
from .lattice_moves import offsets
from .transforms import Factored, Transforms, until

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

BETWEEN = 0.5
"""Of the decay rate, where theta lies: between the poles at 0 and at the rate."""

ALIAS = 28.0
"""Logarithm of what frequencies next to each other confuse, of the late packets at the longest delay."""

BLUR = 0.3
"""Of the standard deviation of what has arrived, or of one over the decay rate where that is less: what has arrived is
blurred by so much. Terms up to the fourth are corrected."""

VANISHED, SEVERAL = 1e-12, 4
"""Of what is integrated, where it is no longer followed, and at how many frequencies it has to be so small."""

MOST, AT_ONCE = 4000, 32
"""Frequencies, and how many of them are transformed together."""


class LateForEver:
    """Sums over n > N of E[(y_n - A_n)+] - E[(y_n - m - A_n)+] for y_n = m (n h - tau), at the ends of steps n.

    The transform of A_n over packets is that of the state after N steps times powers of the transformed moves M, and
    the sum of exp(theta y_n) times it is a resolvent, (1 - M)^-1 with M counted exp(theta m h) times in each step. The
    integral over theta along a vertical line has no pole between 0 and the rate at which late packets become rarer.

    Parameters
    ----------
    forward : Forward
        After N steps, with all that may ever be late.
    due, rate, spread : float
        m [packets], the decay rate [1 / packet], and about the standard deviation of A_N [packets].
    longest : float
        Startup delay up to which it is asked for [rounds].

    Attributes
    ----------
    tilt, gap : float
        Where the line is, and from one frequency on it to the next.

    Raises
    ------
    AccuracyError
        Where the integrand does not vanish.
    """

    def __init__(self, forward: Forward, due: float, rate: float, spread: float, longest: float) -> None:
        self._due = due
        self.tilt, self.gap = BETWEEN * rate, math.pi * rate / (ALIAS + rate * due * longest)
        blur = BLUR * min(spread, 1 / rate)
        theta: list[complex] = []
        values: list[complex] = []
        small = 0
        for one, value in _Resolvent(forward, due).along(self.tilt, self.gap):
            width = (one * blur) ** 2 / 2
            theta.append(one)
            values.append(value * np.exp(width) * (1 - width + width**2 / 2) * of_a_round(one, due))
            small = small + 1 if abs(values[-1]) <= VANISHED * abs(values[0]) else 0
            if small == SEVERAL:
                break
        else:
            raise AccuracyError("mean number of late packets: its transform does not vanish")
        values[0] /= 2
        self._theta: Complexes = np.array(theta)
        self._values: Complexes = np.array(values, dtype=np.complex128) * (self.gap / math.pi)

    def late(self, delay: float) -> float:
        """Return the sum for a startup delay [rounds]."""
        return float((np.exp(-self._theta * self._due * delay) @ self._values).real)


def of_a_round(theta: complex, due: float) -> complex:
    """Return the transform of (y)+ - (y - m)+."""
    return complex((1 - np.exp(-theta * due)) / theta**2)


class _Resolvent:
    """Sums over n > N of the transform of A_n - m n h."""

    def __init__(self, forward: Forward, due: float) -> None:
        steps, Q = forward.steps, forward.quantum
        self._moves, self._entries = Transforms(steps), steps.entries
        self._played = due * steps.step
        self._rows, first, self._waits, self._target, self._lag = forward.state()
        self._at = (first + np.arange(self._rows.shape[1])) * Q - self._played * forward.number
        self._above = offsets(steps, Q)

    def along(self, tilt: float, gap: float) -> Iterator[tuple[complex, complex]]:
        """Give theta along a line, and the sums."""
        for first in range(0, MOST, AT_ONCE):
            watch.at(instead=watch.SHORTER)
            theta = tilt + 1j * gap * np.arange(first, first + AT_ONCE)
            powers, above = np.exp(-np.outer(self._at, theta)), np.exp(-np.outer(self._above, theta))
            now, waits = self._rows @ powers * above, self._waits @ powers * above[self._target]
            for one, *columns in zip(theta.tolist(), now.T, waits.T):
                yield one, self._sum(one, *columns)

    def _sum(self, theta: complex, now: Complexes, waits: Complexes) -> complex:
        moves, z = self._moves, complex(np.exp(theta * self._played))
        moved, _ = moves.moved(theta)
        begin = now.copy()
        np.add.at(begin, self._target, waits * z**self._lag)
        matrix = Factored(moves.source, moves.target, moved * z**moves.lag, self._entries)
        visits = -matrix.solve(begin, "T")
        return complex(visits @ moves.ends(theta, z, moved) - now.sum() + waits @ until(z, self._lag))
