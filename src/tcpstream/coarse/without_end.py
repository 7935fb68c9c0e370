"""P(no packet is late) in a video without end: the fixed point of steps back in time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, bicgstab, gmres

from ..system import watch
from .lead_waves import LongWaves
from .never_late import NeverLate
from .outlook import outlook, stationary

Floats = NDArray[np.float64]

SMALLEST = 1e-10
"""Probability of a late packet down to which relative errors count."""

WEIGHTED = 0.5
"""Part of the decay that values are freed from: all of it is too much where long waits decide."""

WANTED, ACCEPTED = 1e-8, 1e-6
"""Change by one more step, relative to what is late in a step: what is aimed at, and above which there is no answer."""

ITERATIONS = 240
"""Of BiCGSTAB, which keeps a few vectors only; each takes two steps."""

VECTORS, TIMES = 40, 9
"""Of the Krylov space of GMRES where that does not lead there, and restarts at most."""

FINEST = 12
"""Positions of the finest lattice from hat to hat, at least."""


def without_end(values: NeverLate, rate: float) -> bool:
    """Set values to those of a video without end; return whether they were found.

    The probability h = 1 - g of a late packet satisfies h = M h + b, with the moves M that are not late and the
    probability b of a late packet in a step. It decays as exp(-theta N) with the lead N, and is solved for times
    exp(theta N / 2), with a correction for long waves after each step.

    Parameters
    ----------
    values : NeverLate
    rate : float
        theta, see `lead.Decay`.
    """
    system = _System(values)
    ones = np.ones(len(system.leads))
    weight = np.minimum(np.exp(WEIGHTED * rate * system.leads), 1 / SMALLEST)
    right = weight * (ones - system.applied(ones, 1.0))

    def changed(x: Floats) -> Floats:
        return x - weight * system.applied(x / weight, 0.0)

    def solves(x: Floats) -> bool:
        return bool(np.linalg.norm(changed(x) - right) <= ACCEPTED * np.linalg.norm(right))

    waves = system.long_waves(changed)
    operator = LinearOperator((len(ones), len(ones)), matvec=lambda x: changed(waves.corrected(x)), dtype=np.float64)
    late = waves.corrected(bicgstab(operator, right, rtol=WANTED, maxiter=ITERATIONS)[0])
    if not solves(late):
        late = waves.corrected(gmres(operator, right, rtol=WANTED, restart=VECTORS, maxiter=TIMES)[0])
        if not solves(late):
            return False
    system.load(ones - late / weight, 1.0)
    values.settle()
    return True


class _System:
    """The levels of `NeverLate` as one vector, each lead of an entry once."""

    def __init__(self, values: NeverLate) -> None:
        self._values, self._entries = values, values.steps.entries
        levels = list(zip(values.levels, values.of_the_finer()))
        self._own = [slice(one.ghosts + low, one.inside.stop) for one, low in levels]
        self._all = [one.leads(low, one.points) for one, low in levels]
        self.leads = np.concatenate([one.ravel() for one in self._all])

    def load(self, vector: Floats, beyond: float) -> None:
        """Set the values, and the one at all leads beyond."""
        start = 0
        for level, own in zip(self._values.levels, self._own):
            size = self._entries * (own.stop - own.start)
            level.old[:, own] = vector[start : start + size].reshape(self._entries, -1)
            start += size
        last = self._values.levels[-1]
        last.old[:, last.inside.stop :] = beyond

    def applied(self, vector: Floats, beyond: float) -> Floats:
        """Return the values one step earlier."""
        watch.at(instead=watch.SHORTER)
        self.load(vector, beyond)
        self._values.stepped()
        return np.concatenate([level.new[:, own].ravel() for level, own in zip(self._values.levels, self._own)])

    def long_waves(self, changed: Callable[[Floats], Floats]) -> LongWaves:
        """Return the correction for long waves."""
        steps, due, levels = self._values.steps, self._values.due, self._values.levels
        drift = steps.weight * (steps.mean - due * steps.elapsed)
        change = np.bincount(steps.source, drift, steps.entries).astype(np.float64)
        visits = np.maximum(stationary(steps.source, steps.target, steps.weight, steps.entries), 0.0)
        later = outlook(steps.source, steps.target, steps.weight, change, visits, np.ones(steps.entries))
        apart = math.sqrt(float(visits @ (later - visits @ later) ** 2))
        places = [(one + later[:, np.newaxis]).ravel() for one in self._all]
        shares = [np.repeat(visits * level.quantum, one.shape[1]) for level, one in zip(levels, self._all)]
        width = max(FINEST * levels[0].quantum, apart / 2)
        return LongWaves(np.concatenate(places), np.concatenate(shares), width, changed)
