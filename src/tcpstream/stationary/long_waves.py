"""The long waves of the backlog: what loss epochs leave of it, seen from far, is a random walk.

An epoch mixes the windows, but moves the backlog only by some windows: what is slow, near T/mu = 1, are long waves of
the backlog. Seen from far they are those of a random walk, one for all windows together, whose distribution is known
from what an epoch does to each wave. That walk is solved directly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.shifts import gather, scatter
from .operator import Complexes, EpochOperator
from .random_walk import HalfLine, next_fast

Floats = NDArray[np.float64]

APART = 30.0
"""Exponent of the tilted wave over which windows may lie apart: further, nothing is long but the losses themselves."""

NEGLIGIBLE = 1e-22
"""Share of the backlog's distribution that is never looked at."""

TILT = 0.5
"""Share of the decay rate that the walk is tilted by: the more, the better its tail is known."""

RARE = 1e-8
"""Chance of a run of timeouts below which it need not be seen how far it leads in one epoch."""

DEEPEST = 2**21
"""Largest depth that is looked at [lattice steps]."""

LARGEST = 2**26
"""Largest state, in mass values, that is tried."""


class LongWaves:
    """The random walk that the backlog makes seen from far, and what it says about the epochs.

    Mass m at backlog D and window w is, for long waves, as good as m at D + `_ahead[w]`; and mass u of the walk at D
    is spread over the windows by `_weights`, at D + `_behind[w]`. These distances make waves right to first order.
    On a lattice finer than packets the waves that alternate within a packet can be as slow, and are included.

    Parameters
    ----------
    operator : EpochOperator

    Attributes
    ----------
    beyond : int
        Deepest positions that are kept empty: they only show what an epoch moves there.
    apt : bool
        Whether there are long waves. Where there are not, an epoch empties almost every operator.

    Raises
    ------
    AccuracyError
        When the backlog's distribution does not become negligible above `DEEPEST`.
    """

    def __init__(self, operator: EpochOperator[Any]) -> None:
        self._stride = operator.steps_per_packet
        decay = _decay(operator)
        tilt = TILT * decay
        _, left, right = operator.waves(np.array([0.0, tilt / 2, tilt], dtype=complex))
        self._weights = np.ascontiguousarray(left[:, 0].real)
        self._ahead = np.log(right[:, 2].real / right[:, 0].real) / tilt
        tilted = left[:, 2].real
        reached = (self._weights > 0) & (tilted > 0)  # others underflow: no mass of any weight is there
        self._behind = np.log(np.where(reached, tilted, 1.0) / np.where(reached, self._weights, 1.0)) / tilt
        spread = math.sqrt(float((self._weights * self._behind**2).sum()))
        self.apt = spread * tilt < APART
        self.beyond = (math.ceil(5 * spread) if self.apt else 0) + operator.fall(RARE)
        points = 2 * next_fast(math.ceil(-math.log(NEGLIGIBLE) / decay))
        self._walk = HalfLine(_kappa(operator, tilt, points), tilt)

    def depth(self, negligible: float, further: float) -> int:
        """Return the depth D beyond which (D + `further`) times the mass there is negligible [lattice steps]."""
        mass = np.abs(self._walk.stationary())
        beyond = np.cumsum(mass[::-1])[::-1]
        levels = np.arange(len(beyond))
        return int(np.count_nonzero(beyond * (levels + further) > negligible)) + self.beyond

    def start(self, depth: int) -> Floats:
        """Return entries that the walk alone predicts, and correct entries as deep as these from now on."""
        n = depth + 1
        entries = np.zeros((len(self._weights), n))
        if not self.apt:
            entries[:, depth] = self._weights
            return entries
        self._walk.cut(n)
        mass = np.zeros(n)
        known = self._walk.stationary()[:n]
        mass[: len(known)] = np.maximum(known, 0.0)
        scatter(mass[::-1].copy(), self._weights, -self._behind, self._stride, entries)
        return self._normalised(entries)

    def corrected(self, entries: Floats, change: Floats) -> Floats:
        """Return the entries moved as far as all later epochs will move them, to judge from the change in one.

        The deepest are emptied after that, not before: the walk would take mass that an epoch loses for mass that
        never comes back, all the way down.
        """
        start = np.empty(change.shape[1])
        gather(change, -self._ahead, self._stride, start)
        later = self._walk.visits(start[::-1])[::-1] - start
        moved = entries + change
        scatter(later, self._weights, -self._behind, self._stride, moved)
        return self._normalised(moved)

    def _normalised(self, entries: Floats) -> Floats:
        entries[:, : self.beyond] = 0.0
        entries /= entries.sum()
        return entries


def _decay(operator: EpochOperator[Any]) -> float:
    """Return the decay rate of the backlog's distribution [1/lattice step], or up to a tenth less."""
    slowest = -math.log(NEGLIGIBLE) / DEEPEST
    rates = slowest * 1.1 ** np.arange(math.ceil(math.log(50 / slowest, 1.1)))
    values, _, _ = operator.waves(rates.astype(complex))
    decaying = np.append(np.abs(values) < 1, False)  # the last one where nothing ever makes a backlog grow
    growing = int(np.argmin(decaying))
    if growing == 0:
        raise too_large(operator, DEEPEST)
    return float(rates[growing - 1])


def _kappa(operator: EpochOperator[Any], tilt: float, points: int) -> Complexes:
    """Return what an epoch leaves of waves, at the frequencies of a transform of that many points; short ones as 0."""
    steps_per_packet, half = operator.steps_per_packet, points // 2
    step = 2j * math.pi / points
    trial = np.unique(np.append(0, 1.2 ** np.arange(math.ceil(math.log(half / steps_per_packet, 1.2))))).astype(int)
    values, _, _ = operator.waves(np.asarray(tilt + step * trial, dtype=np.complex128))
    short = np.flatnonzero(~(np.abs(values) > operator.long))
    edge = half if not operator.blurs or not len(short) else int(trial[short[0]]) + 1
    from_band = np.abs((np.arange(half + 1) * steps_per_packet / points + 0.5) % 1 - 0.5) * points / steps_per_packet
    band = np.flatnonzero(from_band < 2 * edge)
    kappa = np.zeros(half + 1, dtype=np.complex128)
    taken, _, _ = operator.waves(np.asarray(tilt + step * band, dtype=np.complex128))
    taken *= [math.erfc(11 * (place / edge - 1.5)) / 2 for place in from_band[band]]
    kappa[band] = np.where(np.abs(taken) <= abs(taken[0]), taken, 0.0)
    return kappa


def too_large(operator: EpochOperator[Any], depth: int) -> AccuracyError:
    """Return what to raise for a backlog that is too deep to follow."""
    cells = operator.rows * (depth + 1)
    return AccuracyError(
        f"the backlog needs {operator.rows} TCP states x {depth + 1} levels = {cells:.2g} values or more, over "
        f"{LARGEST:.2g}: T/mu is too near 1, the timeouts are too long, the largest window is too large, or the "
        f"playback rate is too far below a packet a round trip"
    )
