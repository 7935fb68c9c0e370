"""Where states go after a round that was delivered whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Growth:
    """Moves from `from_state` to `to_state` with probability `share`, given that the round is delivered whole.

    Attributes
    ----------
    from_state, to_state : (k,) int arrays
        States.
    share : (k,) array
        Those of a from_state sum to 1.
    """

    from_state: Ints
    to_state: Ints
    share: Floats

    @classmethod
    def none(cls) -> Growth:
        """Return no moves."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))

    def joined(self, others: Growth) -> Growth:
        """Return these moves and others."""
        from_state = np.concatenate([self.from_state, others.from_state])
        to_state = np.concatenate([self.to_state, others.to_state])
        return Growth(from_state, to_state, np.concatenate([self.share, others.share]))

    def lists(self) -> tuple[list[int], list[int], list[float]]:
        """Return sources, targets and shares as lists."""
        return self.from_state.tolist(), self.to_state.tolist(), self.share.tolist()

    def of(self, state: int) -> list[tuple[int, float]]:
        """Return the targets of a state, with their shares."""
        mine = self.from_state == state
        return list(zip(self.to_state[mine].tolist(), self.share[mine].tolist()))

    def between(self, order: Ints, place: Ints) -> Growth:
        """Return the moves from the states of `order`, all states known by their `place` in it, sorted by to_state."""
        kept = np.isin(self.from_state, order)
        from_state, to_state, share = place[self.from_state[kept]], place[self.to_state[kept]], self.share[kept]
        by_target = np.lexsort((from_state, to_state))
        return Growth(from_state[by_target], to_state[by_target], share[by_target])
