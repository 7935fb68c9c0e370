"""What passes over a video say together of what viewers see: answers, and how far they are off."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.polynomial.laguerre import laggauss
from numpy.typing import NDArray
from scipy.special import entr

from ..coarse.resolution import FACTOR
from ..errors import AccuracyError
from ..playout.fineness import RATIOS, Fineness
from ..playout.sessions import Sessions
from ..tcp import Chain
from ..tcp.idle_restart import GUESSED
from .held_at_most import HeldAtMost
from .quadrature import NODES, between_points, quadrature_error
from .seen_by_viewers import Seen

Floats = NDArray[np.float64]

RISK, FEW = 1e-10, 2e-6
"""What is stated to be off at least; and what larger leads may still change on lattices, which is stated, too: of P(any
stall), and of stalled seconds."""

LEAST = 1e-3
"""Part of an answer that is stated to be off at least, where quanta are not whole packets."""

FEW_LINES = 0.04
"""Part of the stalls that lines of CUBIC a ratio of 1.3 apart may miss, which is stated: 1 to 3% were seen, of P(any
stall), of either sign."""


class ComparedPasses(ABC):
    """A path and a video, and the passes over it at some finenesses; `_counts` numbers of stalls are told apart."""

    _chain: Chain
    _rtt: float
    _due: float
    _length: float
    _counts: int
    _held: HeldAtMost | None
    _lines_apart: bool

    @property
    @abstractmethod
    def _fine(self) -> Fineness:
        """The finer one."""

    def _compared(self, b: int, found: Sessions, rough: Sessions, later: Sessions) -> Seen:
        """Return what is seen with a start buffer, and how far it is off: a coarser pass, and one of later packets."""
        seen, other = self._seen(found, b), self._seen(rough, b)
        off = FACTOR * np.abs(seen - other) + self._answers(found.slack[b]) + np.abs(self._seen(later, b) - other)
        off += self._answers(found.of_the_end[b])
        if not (np.isfinite(seen).all() and -off[0] - RISK <= seen[0] <= 1 + off[0] + RISK):
            raise AccuracyError(
                f"the pass over the video did not converge: P(any stall) {seen[0]:.3g} within {off[0]:.1g}; give a "
                f"rate or a round trip time that is a little different"
            )
        stalls, either = float(seen[self._counts]), float(off[self._counts])
        if either > max(1.0, stalls):
            raise AccuracyError(
                f"the number of stalls is not known: {stalls:.3g} within {either:.2g}; TCP delivers "
                f"{self._chain.packets_per_round / self._due:.2g} of what is played: give a lower rate"
            )
        off[-1] += seen[0] * quadrature_error(4 * seen[-2] / max(seen[0], 1e-300) / (self._length * self._rtt))
        guessed = GUESSED if self._held is not None and self._held.restarting is not None else 0.0
        few = FEW_LINES if self._lines_apart and self._fine.ratio > RATIOS[0] else 0.0
        off[1:] += few * np.abs(seen[1:])
        off[0] += few * entr(np.clip(1 - seen[0], 0.0, 1.0))  # as the rate of stalls may be off by so much
        off += (guessed + (0.0 if self._fine.exact else LEAST)) * np.abs(seen) + RISK
        most = seen[-2] / (seen[-2] + self._length * self._rtt)  # of x / (1 + x), which is concave
        seen[-1] = min(seen[-1], most)
        (lengths, unstalled), *others = (_unstalled(one, b) for one in (found, rough, later))
        coarse, late = (np.interp(lengths, *one) for one in others)
        apart = few * entr(np.clip(unstalled, 0.0, 1.0))
        between = float((FACTOR * np.abs(unstalled - coarse) + np.abs(late - coarse) + apart).max())
        between = max(between, float(off[0])) + between_points(lengths, unstalled)
        grown, grown_apart = found.grown, FACTOR * (found.grown - rough.grown)
        grown_apart += (guessed + few) * grown * np.where(grown_apart[-1:] < 0, -1.0, 1.0)  # further, where they are
        return Seen(seen, off, lengths * self._rtt, unstalled, between, grown, grown_apart)

    def _seen(self, found: Sessions, b: int) -> Floats:
        """Return the answers for the whole video, by the number of the start buffer."""
        row = found.seen[-1, b].copy()
        row[0] = 1 - row[0]
        row[self._counts + 2 :] = 1 - row[self._counts + 2 :]
        return self._answers(row)

    def _answers(self, row: Floats) -> Floats:
        ratio = float(laggauss(NODES)[1] @ row[self._counts + 2 :])
        return np.concatenate([row[: self._counts + 1], [row[self._counts + 1] * self._rtt, ratio]])


def _unstalled(found: Sessions, b: int) -> tuple[Floats, Floats]:
    """Return lengths of the video [rounds], from 0 on, and the probability that nothing stalls in them."""
    return np.append(0.0, found.lengths), np.append(1.0, found.seen[:, b, 0])
