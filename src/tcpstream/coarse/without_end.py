"""P(no packet is late) in a video without end: the fixed point of steps back in time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, bicgstab, gmres

from ..system import watch
from .lead_turns import LeadTurns
from .never_late import NeverLate

Floats = NDArray[np.float64]

SMALLEST = 1e-10
"""Probability of a late packet down to which relative errors count."""

WEIGHTED = 0.5
"""Part of the decay that values are freed from: all of it is too much where long waits decide."""

WANTED, ACCEPTED = 1e-8, 1e-6
"""Change by one more turn, relative to what is late in a turn: what is aimed at, and above which there is no answer."""

ITERATIONS = 240
"""Of BiCGSTAB, which keeps a few vectors only; each takes two turns."""

LOOK, LOOKS = 8, 8
"""Turns between two looks at what is left, and looks in which that has to fade: else other ways are quicker."""

VECTORS, TIMES = 40, 9
"""Of the Krylov space of GMRES where that does not lead there, and restarts at most."""


def without_end(values: NeverLate, rate: float) -> bool:
    """Set values to those of a video without end; return whether they were found.

    The probability h = 1 - g of a late packet satisfies h = M h + b, with the moves M that are not late and the
    probability b of a late packet in a step. It decays as exp(-theta N) with the lead N, and is solved for times
    exp(theta N / 2), with a correction for long waves after each turn.

    Parameters
    ----------
    values : NeverLate
        Of steps in the order of `lead_turns.by_age`.
    rate : float
        theta, see `lead.Decay`.
    """
    turns = LeadTurns(values)
    ones = np.ones(len(turns.leads))
    weight = np.minimum(np.exp(WEIGHTED * rate * turns.leads), 1 / SMALLEST)
    right = weight * (ones - turns.applied(ones, 1.0))

    def changed(x: Floats) -> Floats:
        watch.at(instead=watch.SHORTER)
        return x - weight * turns.applied(x / weight, 0.0)

    def solves(x: Floats) -> bool:
        return bool(np.linalg.norm(changed(x) - right) <= ACCEPTED * np.linalg.norm(right))

    wanted = WANTED * float(np.linalg.norm(right))
    late, left = _followed(changed, right, wanted) if turns.ages > 1 else (np.zeros_like(right), right)
    if np.linalg.norm(left) > wanted:
        waves = turns.long_waves(changed)
        operator = LinearOperator(
            (len(ones), len(ones)), matvec=lambda x: changed(waves.corrected(x)), dtype=np.float64
        )
        more = waves.corrected(bicgstab(operator, left, rtol=0.0, atol=wanted, maxiter=ITERATIONS)[0])
        if not solves(late + more):
            found = gmres(operator, left, rtol=0.0, atol=wanted, restart=VECTORS, maxiter=TIMES)[0]
            more = waves.corrected(found)
            if not solves(late + more):
                return False
        late = late + more
    turns.applied(ones - late / weight, 1.0)
    values.settle()
    return True


def _followed(changed: Callable[[Floats], Floats], right: Floats, wanted: float) -> tuple[Floats, Floats]:
    """Return what some turns make of what is late in one, and what is left, as long as it fades quickly."""
    late, left, before = np.zeros_like(right), right, math.inf
    while True:
        for _ in range(LOOK):
            late, left = late + left, left - changed(left)
        size = float(np.linalg.norm(left))
        if size <= wanted or size > before * (wanted / size) ** (1 / LOOKS):
            return late, left
        before = size
