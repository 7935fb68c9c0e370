"""Windows that share a drop-tail queue: their sum is a sawtooth below what the pipe and the buffer hold.

Between overflows n windows grow by g packets a round each, on average. An overflow lasts a round, in which what has
been added finds no place: n g packets are lost. A flow that adds a packet or more loses one and is reduced; of flows
that add less the share g is. So the sum, not one window, decides how full the queue is, and how much a window varies
on its own does not matter: losses at a full queue come to most flows at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .independent import IndependentChain


class Windows(NamedTuple):
    """What the chain of one flow says of its window.

    Attributes
    ----------
    mean : float
        Packets received in a round.
    growth : float
        g, packets by which the window grows in a round.
    """

    mean: float
    growth: float


def windows_of(chain: IndependentChain) -> Windows:
    """Return the means of a chain over its rounds, silences included."""
    graph, pi = chain.graph, chain.stationary
    assert graph.places is not None
    moves, window = graph.growth, graph.places.window
    added = np.maximum(window[moves.to_state] - window[moves.from_state], 0) * moves.share
    whole = (1 - chain.loss) ** graph.windows[moves.from_state].astype(np.float64)
    rounds = float(pi @ chain.per_transition[1])
    return Windows(chain.packets_per_round, float((pi[moves.from_state] * whole) @ added) / rounds)


class Sawtooth(NamedTuple):
    """The sum of the windows of flows, by rounds: uniform between two overflows, and the largest in an overflow.

    Attributes
    ----------
    low, high : float
        The sum after and before an overflow [packets].
    overflowing : float
        Share of the rounds that overflow the buffer.
    pipe : float
        What the bottleneck carries in a round trip with an empty queue [packets].
    """

    low: float
    high: float
    overflowing: float
    pipe: float

    @classmethod
    def of(cls, flows: int, loss: float, windows: Windows, pipe: float, buffer: float) -> Sawtooth:
        """Return the sawtooth of flows that lose packets at a rate.

        A flow loses p W packets a round and grows by g: a lost packet takes g / (p W) off the window. In an overflow
        min(g, 1) packets of each flow do so.
        """
        full, growth = pipe + buffer, windows.growth
        drop = flows * min(growth, 1.0) * growth / (loss * windows.mean)
        overflowing = loss * full / (flows * growth)
        return cls(max(full - drop, 0.0), full, min(overflowing, 1.0), pipe)

    @property
    def in_flight(self) -> float:
        """Mean of the sum over rounds [packets]."""
        return self._mean((self.low + self.high) / 2, self.high)

    @property
    def idle(self) -> float:
        """Mean of what is missing of a full pipe [packets]."""
        a, m, b = self.low, self._filling, self.high
        return self._mean((self.pipe * (m - a) - (m**2 - a**2) / 2) / (b - a), 0.0)

    @property
    def utilization(self) -> float:
        """Share of its rate that the bottleneck carries: a round lasts as long as the sum takes, or a full pipe."""
        return self.in_flight / (self.in_flight + self.idle)

    @property
    def round_trip(self) -> float:
        """Mean round trip time of packets [transmission times]: a round has as many packets as are in flight."""
        a, m, b = self.low, self._filling, self.high
        between = (self.pipe * (m**2 - a**2) / 2 + (b**3 - m**3) / 3) / (b - a)
        return self._mean(between, b**2) / self.in_flight

    @property
    def _filling(self) -> float:
        """The sum from which on there is a queue, within the sawtooth."""
        return min(max(self.pipe, self.low), self.high)

    def _mean(self, between: float, full: float) -> float:
        return (1 - self.overflowing) * between + self.overflowing * full
