"""The backlog of a live stream in the long run, and on the way there, in steps of several rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, gcrotmk

from ..errors import AccuracyError
from ..system import watch
from .backlog import Backlog
from .backlog_law import BacklogLaw, law
from .hats import Hats
from .ways import Ways

Floats = NDArray[np.float64]

WANTED, WANTED_START = 1e-12, 1e-8
"""Mass that a step still moves, in the Euclidean norm: in the long run, and in all that the start adds to it."""

WANTED_VARYING = 1e-10
"""The same in the long run of a path that varies, whose regimes last: rounding leaves more."""

ACCEPTED = 1e-8
"""The same, above which there is no answer."""

SILENT = 1
"""Rounds at the start in which nothing is sent: what is sent is generated before."""

PLAIN, SLOW = 12, 1e-3
"""Turns that are followed one by one; where more than such a part is left, long waves are corrected from there on."""

VECTORS, KEPT, TIMES = 15, 10, 60
"""Of the Krylov space: turns between two restarts, directions that are kept, and restarts at most."""


@dataclass(frozen=True, eq=False)
class LongRun:
    """Late packets of a live stream from an empty backlog on, once what was at its start is forgotten.

    Attributes
    ----------
    stationary : BacklogLaw
    start : BacklogLaw or None
        Of all steps from the start, less as many of the long run.
    residual : float
        Mass that one more step moves.
    settling : float
        Rounds in which what is left of the start falls by e, on average; 0 without a start.
    """

    stationary: BacklogLaw
    start: BacklogLaw | None
    residual: float
    settling: float

    def late_fraction(self, delay: float, length: float = math.inf) -> float:
        """Return f for a startup delay and a length [rounds], which is without end where there is no start."""
        one = self.stationary
        endless = one.late_packets(delay) / one.rounds
        if self.start is None or math.isinf(length):
            return max(0.0, endless / one.due)
        late = self.start.late_packets(delay) + endless * (length + delay - SILENT - self.start.rounds)
        late -= one.late_packets_to_come(delay) / one.rounds - endless * one.rounds_to_come
        return max(0.0, late / (one.due * length))


def long_run(ways: Ways, quantum: float, depth: float, *, from_start: bool) -> LongRun:
    """Solve for the long run of a live stream.

    Parameters
    ----------
    ways : Ways
    quantum, depth : float
        Of the finest lattice, and backlog that is followed [packets].
    from_start : bool
        Whether to solve for the start as well.

    Raises
    ------
    AccuracyError
        Where the solve does not converge, or the depth is infinite.
    """
    if math.isinf(depth):
        raise AccuracyError("backlog on a coarse lattice: no depth is known from which nothing is late")
    watch.at(instead=watch.SHORTER)
    backlog = Backlog(ways, quantum, depth)
    turned = backlog.turned(backlog.ladder.one_round(backlog.entries.stationary, ways.due))
    wanted = WANTED_VARYING if ways.steps.chain.varies else WANTED
    turned += _solved(backlog, backlog.turn(turned) - turned, wanted)
    watch.at(instead=watch.SHORTER)
    x = backlog.all_steps(turned)
    x /= x.sum()
    residual = float(np.abs(backlog.step(x) - x).sum())
    if not residual <= ACCEPTED:
        raise AccuracyError(f"backlog on a coarse lattice: a step moves {residual:.1e}, above {ACCEPTED:.0e}")
    stationary = law(backlog, x)
    if not from_start:
        return LongRun(stationary, None, residual, 0.0)
    start = backlog.ladder.one_round(np.eye(1, len(x), ways.steps.start)[0], ways.due)
    right = start - backlog.at_any_time(x)  # as a stream finds the long run when it ends
    turned = _solved(backlog, backlog.until_turns(right)[1], WANTED_START)
    excess = backlog.all_steps(turned, right)
    excess -= x * excess.sum()
    steps = float(np.abs(excess).sum() / np.abs(right).sum())
    return LongRun(stationary, law(backlog, excess), residual, steps * stationary.rounds)


def _solved(backlog: Backlog, right: Floats, wanted: float) -> Floats:
    """Return u with u - G u = `right`, where G is a turn."""
    first = float(np.linalg.norm(right))
    found = np.zeros_like(right)
    for _ in range(PLAIN):
        if np.linalg.norm(right) <= wanted:
            return found
        watch.at(instead=watch.SHORTER)
        found, right = found + right, backlog.turn(right)
    hats = Hats(backlog) if np.linalg.norm(right) > SLOW * first else None

    def corrected(u: Floats) -> Floats:
        return u if hats is None else hats.corrected(u)

    def left(u: Floats) -> Floats:
        watch.at(instead=watch.SHORTER)
        return corrected(u - backlog.turn(u))

    operator = LinearOperator((len(right), len(right)), matvec=left, dtype=np.float64)
    rest, _ = gcrotmk(operator, corrected(right), rtol=0.0, atol=wanted, m=VECTORS, k=KEPT, maxiter=TIMES)
    return np.asarray(found + rest)
