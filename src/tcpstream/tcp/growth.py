"""Where states go after a round that was delivered whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Growth:
    """Moves from `source` to `target` with probability `share`, given that the round is delivered whole.

    Attributes
    ----------
    source, target : (k,) int arrays
        States.
    share : (k,) array
        Those of a source sum to 1.
    """

    source: Ints
    target: Ints
    share: Floats

    @classmethod
    def none(cls) -> Growth:
        """Return no moves."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))

    def joined(self, others: Growth) -> Growth:
        """Return these moves and others."""
        source = np.concatenate([self.source, others.source])
        target = np.concatenate([self.target, others.target])
        return Growth(source, target, np.concatenate([self.share, others.share]))

    def lists(self) -> tuple[list[int], list[int], list[float]]:
        """Return sources, targets and shares as lists."""
        return self.source.tolist(), self.target.tolist(), self.share.tolist()

    def of(self, state: int) -> list[tuple[int, float]]:
        """Return the targets of a state, with their shares."""
        mine = self.source == state
        return list(zip(self.target[mine].tolist(), self.share[mine].tolist()))

    def between(self, order: Ints, place: Ints) -> Growth:
        """Return the moves from the states of `order`, all states known by their `place` in it, sorted by target."""
        kept = np.isin(self.source, order)
        source, target, share = place[self.source[kept]], place[self.target[kept]], self.share[kept]
        by_target = np.lexsort((source, target))
        return Growth(source[by_target], target[by_target], share[by_target])
