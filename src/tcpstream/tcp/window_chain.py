"""What chains of windows have in common, however their losses come."""

from __future__ import annotations

from dataclasses import dataclass

from .chain import Chain
from .silences import LEVELS, Silences
from .window_graph import WindowGraph


@dataclass(frozen=True)
class WindowChain(Chain):
    """A chain whose states are windows, and timeouts: what follows from its graph and its silences.

    Attributes
    ----------
    loss : float
        p.
    graph : WindowGraph
    silences : Silences
    """

    loss: float
    graph: WindowGraph
    silences: Silences

    @property
    def n_states(self) -> int:  # noqa: D102
        return self.graph.size + 2 * LEVELS

    @property
    def first_state(self) -> int:  # noqa: D102
        return self.graph.start

    @property
    def packets_between_losses(self) -> float:  # noqa: D102
        return 1 / (self.loss + 1 / self.graph.packets_between_overflows)

    @property
    def largest_round(self) -> int:  # noqa: D102
        return self.graph.max_window

    def longest_wait(self, levels: int = LEVELS) -> int:  # noqa: D102
        return self.silences.longest(levels)

    @property
    def total_wait(self) -> int:  # noqa: D102
        return self.silences.total

    @property
    def followed_states(self) -> float:  # noqa: D102
        return float(self.graph.size)

    def most_received(self, rounds: int) -> float:  # noqa: D102
        return self.graph.most_received(rounds)
