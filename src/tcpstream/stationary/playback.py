"""A round of playback on rows of early packets, recorded as a `Program`.

Positions are early packets below the ceiling: the last position is the ceiling itself (nothing is left to send), and
each round of playback moves everything down by m packets. A chain at the ceiling at the start of a round pauses in
that round. Rows are addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .program import Program


@dataclass(frozen=True)
class Playback:
    """A round of playback on rows of n positions.

    Parameters
    ----------
    program : Program
        Records.
    n, steps_per_packet : int
        Positions of a row, and of a packet.
    drop : int
        Positions that a round of playback moves down.
    trace : int
        Positions further that what leaves the ceiling moves down; see `tcpstream.numerics.lattices`.
    """

    program: Program
    n: int
    steps_per_packet: int
    drop: int
    trace: int = 0

    @property
    def paused(self) -> int:
        """Position after a round that begins at the ceiling."""
        return self.n - 1 - self.drop - self.trace

    def pause(self, row: int) -> None:
        """Add what pauses at the ceiling again, one round of playback lower."""
        self.program.add(row + self.paused, row + self.n - 1, 1)

    def lower(self, target: int, row: int, packets: int = 0, weight: float = 1.0, count: int | None = None) -> None:
        """Write what is below the ceiling (or `count` values), one round of playback lower, then packets higher."""
        count = self.n - 1 if count is None else count
        self.program.place(target, self.n, row + self.drop, count - self.drop, packets * self.steps_per_packet, weight)

    def circle(self, rows: Sequence[int], packets: int, weight: float) -> None:
        """Solve rows that lead to each other in turn, each a round of playback lower and then packets higher.

        A round moves up by at least `block` positions: so many are done at a time.
        """
        cap, up = self.n - 1, packets * self.steps_per_packet - self.drop
        block = max(1, up)
        sources, targets = np.asarray(rows), np.roll(rows, -1)
        first = np.arange(0, cap, block)[:, np.newaxis]
        start, end = np.maximum(first, self.drop), np.minimum(first + block, cap - max(up, 0))
        self.program.add(targets + start + up, sources + start, end - start, weight)
        last = max(cap - max(up, 0), self.drop)
        self.program.total(targets + cap, sources + last, cap - last, weight)
