"""The backlog of a live stream without end whose sender does not open its window further than the stream fills it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, gcrotmk

from ..errors import AccuracyError
from ..kernels.limited_turn import CELLS, turn
from ..system import watch
from ..tcp.window_chain import WindowChain
from .rules import DUPLICATES, REORDERING, rules

Floats = NDArray[np.float64]

SCALE = 8.0
"""Rounds of playback up to which positions lie about evenly; further ones in the same ratio."""

DEPTH, DEEPER = 64.0, 4.0
"""Rounds of playback that are followed at first, and times as many where mass comes near the end."""

DEEPEST = 1e5
"""Rounds of playback that are followed at most."""

GONE = 1e-11
"""Mass in the last positions that is none."""

ENDS = 8
"""Last positions."""

WANTED, ACCEPTED = 1e-10, 1e-7
"""Mass that a turn still moves: where it is stationary, and above which there is no answer."""

PLAIN = 30
"""Turns that are followed one by one before the Krylov method."""

VECTORS, KEPT, TIMES = 15, 5, 40
"""Of the Krylov space: turns between restarts, directions that are kept, and restarts at most."""


@dataclass(frozen=True, eq=False)
class LimitedLaw:
    """How long the backlog lies in each cell, in the long run.

    Attributes
    ----------
    due : float
        m, packets generated per round.
    cell : float
        Cell i is around ``SCALE m sinh(i cell)`` packets.
    above : array
        Share of time in cells beyond each.
    residual : float
        Mass that one more turn moves.
    largest : float
        Share of rounds that begin at the largest window, but for those in which it is not used up.
    """

    due: float
    cell: float
    above: Floats
    residual: float
    largest: float

    def late_fraction(self, delay: float) -> float:
        """Return f for a startup delay [rounds]: the share of time in which more than m times as many packets wait."""
        x = math.asinh(delay / SCALE) / self.cell + 0.5
        i = int(x)
        if i + 1 >= len(self.above):
            return 0.0
        return float(max(0.0, self.above[i] + (1 - x + i) * (self.above[i - 1] - self.above[i] if i > 0 else 0.0)))


def long_run(
    chain: WindowChain, packets_due: float, timeout_ratio: float, initial_window: int, points: int, *, rack: bool
) -> LimitedLaw:
    """Solve for the long run.

    Parameters
    ----------
    chain : WindowChain
        What sends.
    packets_due : float
        m, packets generated per round, fewer than the chain delivers.
    timeout_ratio : float
        T_O [rounds].
    initial_window : int
        What counts as used at least [packets].
    points : int
        Positions in the backlog of a round.
    rack : bool
        Whether losses are seen as RACK sees them.

    Raises
    ------
    AccuracyError
        Where the solve does not converge, or the backlog is too deep to follow.
    """
    known = rules(chain, packets_due, initial_window)
    timer, scale, step = math.ceil(timeout_ratio), SCALE * packets_due, 1 / (SCALE * points)
    n, first = len(known.windows), chain.first_state
    depth, x = DEPTH, np.zeros((n, 0))
    none = np.zeros(0)

    def turned(flat: Floats) -> Floats:
        watch.at(instead=watch.SHORTER)
        found, _, _ = turn(
            flat.reshape(n, -1), known, packets_due, timer, rack, REORDERING, DUPLICATES, scale, step, none
        )  # fmt: skip
        return np.asarray(found.ravel())

    while True:
        size = math.ceil(math.asinh(depth / SCALE) / step) + ENDS
        wider = np.zeros((n, size))
        wider[:, : x.shape[1]] = x
        if not x.size:
            wider[first, 0] = 1.0
        x = _stationary(turned, wider.ravel()).reshape(n, size)
        if np.abs(x[:, -ENDS:]).sum() <= GONE:
            break
        depth *= DEEPER
        if depth > DEEPEST:
            raise AccuracyError(
                f"a live stream falls more than {DEEPEST:g} round trips behind: take a lower playback rate"
            )
    law = np.zeros(CELLS * (size + ENDS))
    after, rounds, largest = turn(
        x, known, packets_due, timer, rack, REORDERING, DUPLICATES, scale, step, law
    )  # fmt: skip
    residual = float(np.abs(after - x).sum())
    if not residual <= ACCEPTED:
        raise AccuracyError(f"a live stream's backlog: a turn moves {residual:.1e}, above {ACCEPTED:.0e}")
    above = np.cumsum(law[::-1])[::-1] / rounds
    return LimitedLaw(packets_due, step / CELLS, np.append(above[1:], 0.0), residual, largest / rounds)


def _stationary(turned: object, x: Floats) -> Floats:
    """Return the stationary vector of a turn, from one of the same mass."""
    assert callable(turned)
    for _ in range(PLAIN):
        after = turned(x)
        moved = float(np.abs(after - x).sum())
        x = after / after.sum()
        if moved <= WANTED:
            return x
    right = turned(x) - x
    operator = LinearOperator((len(x), len(x)), matvec=lambda u: u - turned(u), dtype=np.float64)
    more, _ = gcrotmk(operator, right, rtol=0.0, atol=WANTED, m=VECTORS, k=KEPT, maxiter=TIMES)
    x = x + more
    return np.asarray(x / x.sum())
