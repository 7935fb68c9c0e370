"""The distribution of the packets delivered after many losses: its transform has one mode."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .along import along
from .modes import Modes

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

TILT, PERIOD = 3.0, 12.0
"""Of the transform, one over and in the largest standard deviation that matters: their product is 36."""

VANISHED = 1e-12
"""Of the transform, where it is no longer followed."""

FAR = 4.0
"""Standard deviations above the mean, from where on nothing lies beyond; up to there sums cancel to 1e-5 at worst."""

AT_ONCE = 1 << 21
"""Values of a transform."""


class LongLaw:
    """E[(y - A)+] after so many steps that they have one mode: E exp(-theta A) = c(theta) lambda(theta)^n.

    All cumulants are those of the chain in steps. The integral over theta along a vertical line is a sum without error
    to speak of, as the integrand is smooth and falls like a normal distribution. The line lies where the integrand is
    least, of several right of 0: on its left a slow start without loss would weigh more than all else.

    Parameters
    ----------
    modes : Modes
    begin, end : float
        Rounds from which on, and up to which, it is asked for.
    decay : float
        Rate at which late packets become rarer with the lead, 0 where they do not [1 / packet].
    sampled, quantum : float
        Rounds between times at which a sum over time is known well enough, and packets between which a slope is.

    Raises
    ------
    AccuracyError
        Where the mode is not found.
    """

    def __init__(self, modes: Modes, begin: float, end: float, decay: float, sampled: float, quantum: float) -> None:
        self.step, self.quantum = sampled, quantum
        spread = math.sqrt(modes.variance * end / modes.rounds) + modes.longest
        tilts = [TILT / spread, *([decay / 2] if decay > 4 * TILT / spread else [])]
        gap = 2 * math.pi / (PERIOD * spread)
        self._right = [_Line(modes, one, gap, begin) for one in tilts]
        self._modes, self._far = modes, FAR * spread

    def until(self, rounds: float) -> int:  # noqa: ARG002
        """Nothing has to be made."""
        return 0

    def below(self, rounds: float) -> float:  # noqa: ARG002
        """Return a bound on the probability that A is below the edge: 1."""
        return 1.0

    def missing(self, rounds: Floats, packets: Floats) -> Floats:
        """Return E[(y - A)+] for y = `packets` at the ends of `rounds`."""
        modes = self._modes
        n = rounds / modes.rounds
        more = packets - (modes.first + modes.mean * n)
        found = np.maximum(more, 0.0)
        line = np.argmin([one.largest(n, packets) for one in self._right], axis=0)
        for i, one in enumerate(self._right):
            mine = (line == i) & (more < self._far)
            found[mine] = one.sums(n[mine], packets[mine])
        return np.where(packets > 0, np.maximum(found, 0.0), 0.0)


class _Line:
    """Values of the transform along a vertical line."""

    def __init__(self, modes: Modes, tilt: float, gap: float, begin: float) -> None:
        line = along(modes, tilt, gap, begin, VANISHED)
        self._theta, self._mode = line.theta, np.log(line.value)
        self._factor: Complexes = line.factor * (gap / math.pi) / line.theta**2
        self._factor[0] /= 2

    def largest(self, n: Floats, y: Floats) -> Floats:
        """Return the logarithm of the integrand where it is largest."""
        return np.asarray(n * self._mode[0].real + y * self._theta[0].real + math.log(abs(self._factor[0])))

    def sums(self, n: Floats, y: Floats) -> Floats:
        """Return the integrals after n steps for some y."""
        total = np.empty(len(n))
        size = max(1, AT_ONCE // len(self._theta))
        for i in range(0, len(n), size):
            steps, packets = n[i : i + size, np.newaxis], y[i : i + size, np.newaxis]
            total[i : i + size] = (np.exp(steps * self._mode + packets * self._theta) @ self._factor).real
        return total
