"""The mean number of late packets after some losses, of all rounds together: one integral over the transform."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..system import watch
from .forward import Forward, State
from .lattice_moves import offsets
from .steps import Steps
from .transforms import Eliminated, Transforms, until

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

BETWEEN = 0.5
"""Of the decay rate, where theta lies: between the poles at 0 and at the rate."""

ALIAS = 40.0
"""Logarithm by which late packets may become fewer over the startup delay until neighbouring theta confuse them."""

VANISHED, SEVERAL = 1e-7, 8
"""Of the integrand at the first theta, where it is no longer followed, and at how many theta it has to be so small."""

AT_ONCE, MOST = 32, 256
"""Values of theta that are transformed together, and of which more are not worth it."""

FASTER = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
"""Of the rate at which late packets become fewer over time, where what is delivered is normally distributed: tried in
turn."""

ROUNDING = 1e-9
"""Part of the largest number of visits that may be negative, by rounding and by weights of a grid."""


class _Start(NamedTuple):
    """What is followed in the beginning.

    Attributes
    ----------
    state : State
    leads : (n,) array
        Of its columns [packets].
    above : (E,) array
        What leads of each entry lie above those of the columns.
    """

    state: State
    leads: Floats
    above: Floats


class LateToCome:
    """Sums over n > N of E[(y_n - A_n)+] - E[(y_n - m - A_n)+] for y_n = m (n h - tau), at the ends of steps n.

    The transform of A_n is that of the state after N steps times powers of the transformed moves M, and the sum of
    exp(theta y_n) times it is a resolvent, (1 - M)^-1, where M counts exp(theta m h) times in each step. The integral
    over theta along a vertical line has no pole between 0 and the rate at which late packets become rarer. Nothing is
    followed until the end: what would be late after it is bounded, by the same sum where each step counts more.

    Parameters
    ----------
    steps : Steps
    due : float
        m, packets due per round; TCP delivers more.
    rate, safe : float
        Decay rate [1 / packet], and the lead from which nothing is late any more [packets].
    number : int
        N, from which on what has arrived varies smoothly.
    quantum : float
        Of the lattice until then [packets].

    Attributes
    ----------
    begin : float
        When it begins [rounds].

    Raises
    ------
    AccuracyError
        Where the integrand does not vanish as far as the lattice tells.
    """

    def __init__(self, steps: Steps, due: float, rate: float, safe: float, number: int, quantum: float) -> None:
        self._due, self._h, self._number = due, steps.step, number
        self.begin = float(number * steps.step)
        forward = Forward(steps, quantum, due * number * steps.step + safe)
        self._packets, self._before, self._now = _followed(forward, number, due, safe)
        state = forward.state()
        at: Floats = (state.first + np.arange(float(state.rows.shape[1]))) * quantum - due * self.begin
        start = _Start(state, at, offsets(steps, quantum))
        self._moves = Transforms(steps)
        self._matrices = Eliminated(self._moves.source, self._moves.target, steps.entries)
        self._tilt, gap = BETWEEN * rate, 2 * math.pi * BETWEEN * rate / ALIAS
        self._theta, self._values = self._along(start, gap, math.pi / quantum)
        spare = steps.chain.packets_per_round - due
        self._faster, self._left = self._after(start, spare * rate * BETWEEN * (1 - BETWEEN) * steps.step)

    def late(self, delay: float) -> float:
        """Return the late packets after `begin`, for a startup delay [rounds]."""
        m = self._due
        sums = float((np.exp(-self._theta * m * delay) @ self._values).real)
        before = self._of_a_round(self._before, m * (self.begin - self._h - delay))
        now = self._of_a_round(self._now, m * (self.begin - delay))
        return max(0.0, self._h * (sums + now / 2 + (now - before) / 12))  # an integral over time, not a sum

    def after(self, delay: float, end: float) -> float:
        """Return a bound on those after the end of the video, for a startup delay and the end [rounds]."""
        steps = max(end / self._h - self._number, 0.0)
        return self._left * math.exp(min(-self._tilt * self._due * delay - self._faster * steps, 700.0))

    def _of_a_round(self, law: Floats, y: float) -> float:
        """Return E[(y - A)+] - E[(y - m - A)+]."""
        more = np.maximum(y - self._packets, 0.0) - np.maximum(y - self._due - self._packets, 0.0)
        return float(law @ more)

    def _along(self, start: _Start, gap: float, most: float) -> tuple[Complexes, Complexes]:
        """Return theta along the line and what the integrals sum, up to `most` of the imaginary part of theta."""
        theta: list[complex] = []
        values: list[complex] = []
        small = 0
        while small < SEVERAL:
            watch.at(instead=watch.SHORTER)
            numbers = np.arange(len(theta), len(theta) + AT_ONCE, dtype=np.float64)
            some: Complexes = np.asarray(self._tilt + 1j * gap * numbers, dtype=np.complex128)
            rows, waits = _transformed(start, some)
            for one, *columns in zip(some.tolist(), rows.T, waits.T):
                begun, _ = self._sum(start, one, *columns)
                theta.append(one)
                values.append(begun * (1 - np.exp(-one * self._due)) / one**2)
                small = small + 1 if abs(values[-1]) <= VANISHED * abs(values[0]) else 0
            if small < SEVERAL and (theta[-1].imag > most or len(theta) >= MOST):
                raise AccuracyError("mean number of late packets: its transform does not vanish")
        values[0] /= 2
        return np.array(theta), np.asarray(np.array(values) * (gap / math.pi), dtype=np.complex128)

    def _after(self, start: _Start, faster: float) -> tuple[float, float]:
        """Return the rate at which late packets become fewer with each step, at least, and their number at first."""
        some: Complexes = np.array([self._tilt + 0j], dtype=np.complex128)
        rows, waits = (one[:, 0] for one in _transformed(start, some))
        m, theta = self._due, self._tilt
        largest = min(1 / (math.e * theta), m * math.exp(-theta * m)) * self._h  # of a round, over exp(theta y)
        for part in FASTER:
            found, visits = self._sum(start, complex(theta), rows, waits, part * faster)
            if visits.min() > -ROUNDING * visits.max():
                return part * faster, found.real * largest
        return 0.0, math.inf

    def _sum(
        self, start: _Start, theta: complex, rows: Complexes, waits: Complexes, faster: float = 0.0
    ) -> tuple[complex, Floats]:
        """Return the sum over n > N of exp(theta y_n) E exp(-theta A_n), each step exp(`faster`) times as much.

        The second result is what each entry counts.
        """
        moves, z = self._moves, complex(np.exp(theta * self._due * self._h + faster))
        moved, _ = moves.moved(theta)
        counts = -self._matrices.of(moved * z**moves.lag).solve(moves.ends(theta, z, moved))
        later = waits @ (z**start.state.lag * counts[start.state.target] + until(z, start.state.lag))
        return complex(rows @ counts - rows.sum() + later), counts.real


def _followed(forward: Forward, number: int, due: float, safe: float) -> tuple[Floats, Floats, Floats]:
    """Follow the first steps; return packets, and the probability of each after the last step but one and the last."""
    h = forward.steps.step
    while forward.number < number - 2:
        watch.at(forward.number, number, watch.SHORTER)
        forward.step(due * (forward.number + 1) * h + safe)
    before, now = (forward.measured(due * (number - i) * h + safe) for i in (1, 0))
    packets: Floats = (now.origin + np.arange(float(len(now.mass)))) * forward.quantum
    return packets, before.mass, now.mass


def _transformed(start: _Start, theta: Complexes) -> tuple[Complexes, Complexes]:
    """Return E exp(-theta lead) of rows and of waits, by theta."""
    leads, above = np.exp(-np.outer(start.leads, theta)), np.exp(-np.outer(start.above, theta))
    state = start.state
    return state.rows @ leads * above, state.waits @ leads * above[state.target]
