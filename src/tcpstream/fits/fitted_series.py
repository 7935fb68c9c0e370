"""The throughput of equal intervals, and the hidden Markov chain that was fitted to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class FittedSeries:
    """A series and its fit.

    Attributes
    ----------
    source : str
        Where it comes from.
    interval : float
        Length of an interval [s].
    throughput : (n,) array
        [bit/s]
    packet : float
        Bits of a packet.
    means, deviations : (k,) arrays
        Of the logarithm of the packets of an interval, one more at most, in each regime.
    transitions : (k, k) array
        From one interval to the next.
    weights : (n, k) array
        Probability of each regime in each interval, given the whole series.
    """

    source: str
    interval: float
    throughput: Floats
    packet: float
    means: Floats
    deviations: Floats
    transitions: Floats
    weights: Floats

    def draw(self, count: int, series: int, rng: np.random.Generator) -> Floats:
        """Return the throughput of intervals drawn from the fit [bit/s], a series a row.

        What is drawn are packets and a part of one more; the part is half a packet on average, and taken away.
        """
        k = len(self.means)
        sums = np.cumsum(self.transitions, axis=1)[:, :-1]
        values, vectors = np.linalg.eig(self.transitions.T)
        begins = np.abs(np.real(vectors[:, np.argmin(np.abs(values - 1))]))
        states = np.zeros((count, series), dtype=np.int64)
        states[0] = rng.choice(k, size=series, p=begins / begins.sum())
        for i in range(1, count):
            states[i] = (sums[states[i - 1]] <= rng.random(series)[:, np.newaxis]).sum(axis=1)
        packets = np.exp(self.means[states] + self.deviations[states] * rng.standard_normal((count, series)))
        return np.asarray(np.maximum(packets - 0.5, 0.0).T * self.packet / self.interval)

    def levels(self, throughput: Sequence[float]) -> Floats:
        """Return the mean throughput [bit/s] of the likeliest regime of each interval."""
        return np.asarray(np.asarray(throughput, dtype=np.float64)[np.argmax(self.weights, axis=1)])
